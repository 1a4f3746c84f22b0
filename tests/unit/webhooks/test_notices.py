"""Notices reach people: letters by a real mail server, chats by their own formats; the operator's rules hold."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shoal.services.addresses import Reach
from shoal.services.errors import BadSetting
from shoal.services.secrets.folder import SecretFolder
from shoal.services.store.records import DeliveryFilter, DeliveryState
from shoal.services.web.specs.specs import SpecRules
from shoal.services.webhooks.deliverer import Deliverer
from shoal.services.webhooks.mail import MailServer
from shoal.services.webhooks.notice_text import chat_body, notice_text
from shoal.services.webhooks.notifier import Notifier
from shoal.services.webhooks.sender import Sender
from tests.gateway_world import FixedNames, World, completed, world
from tests.mail_server import mail_server
from tests.patience import soon
from tests.unit.webhooks.test_sending import NAMES, receiving

HERE = Reach(exceptions=("127.0.0.0/8",))
RULES = SpecRules(HERE, mail=True)
EVERY_END = {"every_s": 0, "events": ["job.finished"]}
EVENT: dict[str, Any] = {
    **{
        "type": "job.failed",
        "at": "2026-11-28T07:00:00Z",
        "job": "j7",
        "about": "Read <all> lamps\r\nBcc: x@y.example",
    },
    **{"counts": {"completed": 1200, "failed": 3}, "error": {"message": "the site is away"}},
}


async def _ended(w: World, *people: dict[str, Any], reach: Reach = HERE, **parts: Any) -> list[tuple[str, str]]:
    """State and error of each notice about a job that has ended, once all have ended."""
    await w.submit(notify=list(people))
    await w.run(lambda work: completed({"n": 1}))
    for row in await w.store.deliveries(DeliveryFilter()):
        await w.store.resend(row.id)  # due now
    sender = Sender(reach, FixedNames(NAMES))
    task = asyncio.create_task(Deliverer(w.store, Notifier(sender, **parts), ("m" * 32,), seed=1).run())
    try:
        async with soon(28):
            while True:
                rows = await w.store.deliveries(DeliveryFilter())
                if all(row.state is not DeliveryState.WAITING or row.error for row in rows):
                    return [(row.state.value, row.error) for row in rows]
                await asyncio.sleep(0.01)
    finally:
        task.cancel()
        await asyncio.wait([task])
        await sender.close()


async def test_a_letter_reaches_a_mail_server_once() -> None:
    with mail_server() as (letters, mail):
        async with world(names=NAMES, rules=RULES) as w:
            people = {"by": "email", "to": "ops@example.com, ada@example.com", **EVERY_END}
            ended = await _ended(w, people, mail=mail, public_url="https://shoal.example/")
    assert ended == [("delivered", "")]
    (letter,) = letters.got
    assert letters.to == ["ops@example.com", "ada@example.com"]
    assert letter["From"] == "Shoal <shoal@example.com>" and letter["Subject"].endswith(" ended")
    assert letter["Message-ID"].startswith("<w") and letter["Message-ID"].endswith("@example.com>")
    assert "https://shoal.example/jobs/j" in letter.get_content() and "1 completed" in letter.get_content()


def test_a_notice_names_the_sinks_that_a_degraded_run_is_kept_from() -> None:
    event = {**EVENT, "type": "job.degraded", "schedule": "prices", "reasons": [{"text": "0 records; 9 were usual"}]}
    held = [{"sink": 0, "place": "postgres: products of shop"}, {"sink": 2, "place": "http: https://in.example/a"}]
    told = notice_text({"events": [{**event, "held": held}], "more": 0}, "").text
    assert (
        "- 0 records; 9 were usual" in told
        and "Held back from: postgres: products of shop, http: https://in.example/a." in told
    )
    for sink in (0, 2):
        assert f"`shoal sinks again {EVENT['job']} {sink}`" in told, "which works once there is a newer run, too"
    assert "Held back" not in notice_text({"events": [{**event, "held": []}], "more": 0}, "").text


async def test_no_password_goes_to_a_mail_server_that_offers_no_encryption() -> None:
    with mail_server() as (letters, mail):
        how = replace(mail, user="shoal", password="s3cret-word")
        answer = await how.send(["ops@example.com"], "Ended", "It ended.", "w1")
    assert "offers no STARTTLS" in answer.error and not answer.refused
    assert letters.got == []


async def test_a_letter_that_one_of_its_addresses_did_not_get_is_not_called_delivered() -> None:
    with mail_server() as (letters, mail):
        async with world(names=NAMES, rules=RULES) as w:
            people = {"by": "email", "to": "ops@example.com, unknown@example.com", **EVERY_END}
            ended = await _ended(w, people, mail=mail)
    assert ended == [("dead", "the others have it; unknown@example.com: SMTP 550: no such person")]
    assert letters.to == ["ops@example.com"]


async def test_a_tenant_tells_people_of_jobs_that_do_not_say_whom() -> None:
    default = [{"by": "email", "to": "all@example.com", "events": ["job.finished"]}]
    with mail_server() as (_letters, mail):
        async with world(names=NAMES, rules=replace(RULES, mail=True)) as w:
            assert (await w.client.get("/v1/notify")).json() == {"tenant": "default", "notify": []}
            put = await w.client.put("/v1/notify", json={"notify": default})
            assert put.status_code == 200 and put.json()["notify"][0]["to"] == "all@example.com"
            await w.submit(notify=[])
            assert await _ended(w, {"by": "email", "to": "own@example.com", **EVERY_END}, mail=mail)
            await w.submit(labels={"team": "a"})
            await w.run(lambda work: completed({"n": 1}))
            told = {row.url: json.loads(row.body) for row in await w.store.deliveries(DeliveryFilter())}
            assert sorted(told) == ["all@example.com", "own@example.com"]
            (entry,) = told["all@example.com"]["events"]
            assert entry["labels"] == {"team": "a"}
            assert (await w.client.put("/v1/notify", json={"notify": []})).json()["notify"] == []
            await w.submit()
            await w.run(lambda work: completed({"n": 1}))
            assert len(await w.store.deliveries(DeliveryFilter())) == 2


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"notify": [{"by": "email", "to": "nonsense"}]}, "notify[0].to"),
        ({"notify": [{"by": "slack", "to": "http://10.0.0.1/x"}]}, "notify[0].to"),
        ({"notify": [{"by": "fax", "to": "1"}]}, "notify[0].by"),
        ({"notify": [], "tell": 1}, "tell"),
    ],
)
async def test_people_whom_a_tenant_could_not_tell_are_refused(body: dict[str, Any], field: str) -> None:
    async with world(names=NAMES, rules=replace(RULES, reach=Reach(), mail=True)) as w:
        answer = await w.client.put("/v1/notify", json=body)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)


async def test_what_no_mail_server_takes_is_told_and_given_up() -> None:
    with mail_server() as (letters, mail):
        async with world(names=NAMES, rules=RULES) as w:
            unknown = await _ended(w, {"by": "email", "to": "unknown@example.com", **EVERY_END}, mail=mail)
    async with world(names=NAMES, rules=RULES) as w:
        unset = await _ended(w, {"by": "email", "to": "ops@example.com", **EVERY_END})
    assert unknown == [("dead", "SMTP 550: no such person")] and letters.got == []
    assert unset == [("dead", "no mail server is configured (SHOAL_SMTP_URL)")]
    async with world(names=NAMES, rules=RULES) as w:  # nothing listens there any more: it may again
        ((state, error),) = await _ended(w, {"by": "email", "to": "ops@example.com", **EVERY_END}, mail=mail)
    assert state == "waiting" and "127.0.0.1" in error


async def test_a_chat_is_told_by_an_address_that_is_a_stored_secret(tmp_path: Path) -> None:
    async with receiving() as receiver, world(names=NAMES, rules=RULES) as w:
        secrets = SecretFolder(tmp_path)
        for name, sites in (("hook", [receiver.url]), ("loose", ["other.example"])):
            secrets.put("default", name, f"{receiver.url}/T0/B0/key", sites)
        people = [{"by": "slack", "to": f"secret:{name}", **EVERY_END} for name in ("hook", "loose", "missing")]
        ended = await _ended(w, *people, secrets_dir=tmp_path)
    assert [state for state, _ in ended].count("delivered") == 1
    errors = sorted(error for _, error in ended if error)
    assert errors == [
        "no secret named 'missing' is stored",
        "secret 'loose' is not bound to the site of the address that it holds",
    ]
    ((_, body),) = receiver.got
    assert "ended" in json.loads(body)["text"]


async def test_a_gateway_without_stored_secrets_says_so() -> None:
    async with world(names=NAMES, rules=RULES) as w:
        ended = await _ended(w, {"by": "slack", "to": "secret:hook", **EVERY_END})
    assert ended == [("dead", "no folder of secrets is configured (SHOAL_SECRETS_DIR)")]


async def test_no_notice_goes_where_the_operator_does_not_want_it() -> None:
    async with receiving() as receiver, world(names=NAMES, rules=RULES) as w:
        people = {"by": "discord", "to": f"{receiver.url}/hook", **EVERY_END}
        ((state, error),) = await _ended(w, people, reach=Reach())
    assert state == "dead" and "is not allowed" in error and receiver.got == []


def test_a_notice_says_what_happened_and_where_to_look() -> None:
    one = notice_text({"events": [EVENT], "more": 0}, "https://shoal.example")
    assert one.subject == "Job j7 (Read <all> lamps Bcc: x@y.example) failed, whole or in part"
    assert one.text.splitlines()[1:] == [
        "Items: 1,200 completed, 3 failed.",
        "Reason: the site is away",
        "https://shoal.example/jobs/j7",
    ]
    reasons = [{"kind": "items", "field": "", "text": "3 items instead of some 200"}]
    degraded = {**EVENT, "type": "job.degraded", "schedule": "Every morning", "error": None, "reasons": reasons}
    run = notice_text({"events": [degraded], "more": 0}, "")
    assert run.subject == "Job j7 (Every morning) is unlike its earlier runs"
    assert run.text.splitlines()[-1] == "- 3 items instead of some 200"
    asked = {**EVENT, "type": "session.waiting", "session": "s3", "counts": None, "error": None}
    many = notice_text({"events": [EVENT] * 49 + [asked], "more": 100}, "")
    assert many.subject.endswith("waits for a person (and 149 more)")
    assert many.text.startswith("150 events; the last 20:") and "http" not in many.text


def _message_text(channel: str, body: dict[str, Any]) -> str:
    """The text of a chat's message as it is sent."""
    if channel == "teams":
        lines = body["attachments"][0]["content"]["body"]
        assert {line["type"] for line in lines} == {"RichTextBlock"}, "no Markdown"
        return "\n".join(run["text"] for line in lines for run in line["inlines"])
    return str(body["content"] if channel == "discord" else body["text"])


@pytest.mark.parametrize("channel", ["slack", "teams", "discord"])
def test_a_chat_is_told_in_its_own_format(channel: str) -> None:
    long = notice_text({"events": [{**EVENT, "error": "[" * 9_000}], "more": 0}, "")
    text = _message_text(channel, chat_body(channel, long))
    assert len(text) < 2_000 and "j7" in text and text.rstrip().endswith("…")


@pytest.mark.parametrize(
    ("channel", "wrote", "shown"),
    [
        ("slack", "<https://evil.example|your bank>", "&lt;https://evil.example|your bank&gt;"),
        ("teams", "[your bank](https://evil.example)", "[your bank](https://evil.example)"),
        ("discord", "[your bank](https://evil.example)", "\\[your bank\\](https://evil.example)"),
        ("discord", "\\[your bank](https://evil.example)", "\\\\\\[your bank\\](https://evil.example)"),
    ],
)
def test_what_a_page_wrote_is_no_link_with_other_words(channel: str, wrote: str, shown: str) -> None:
    body = chat_body(channel, notice_text({"events": [{**EVENT, "error": {"message": wrote}}], "more": 0}, ""))
    assert f"Reason: {shown}" in _message_text(channel, body)


def test_nothing_that_is_told_calls_people_of_a_channel() -> None:
    body = chat_body("discord", notice_text({"events": [{**EVENT, "error": "@everyone look"}], "more": 0}, ""))
    assert body["allowed_mentions"] == {"parse": []}


@pytest.mark.parametrize(
    ("url", "sender", "word"),
    [
        ("http://mail.example", "a@b.example", "SHOAL_SMTP_URL"),
        ("smtp://mail.example:port", "a@b.example", "SHOAL_SMTP_URL"),
        ("smtp://mail.example", "shoal", "SHOAL_MAIL_FROM"),
    ],
)
def test_a_mail_server_that_cannot_be_used_is_refused_at_the_start(url: str, sender: str, word: str) -> None:
    with pytest.raises(BadSetting, match=word):
        MailServer.parse(url, sender)


def test_the_password_of_a_mail_server_is_in_no_message() -> None:
    mail = MailServer.parse("smtps://shoal:p%40ss-word@mail.example", "a@b.example")
    assert (mail.port, mail.user, mail.password) == (465, "shoal", "p@ss-word")
    assert "p@ss-word" not in repr(mail)


@pytest.mark.parametrize(
    ("people", "rules", "reason"),
    [
        ({"by": "email", "to": "ops at example"}, RULES, "'ops at example' is no e-mail address"),
        ({"by": "email", "to": " , "}, RULES, "is no e-mail address"),
        ({"by": "email", "to": "a@b.example"}, SpecRules(HERE), "sends no letters (SHOAL_SMTP_URL)"),
        (
            {"by": "email", "to": "a@example.com, b@other.example"},
            SpecRules(HERE, mail=True, mail_domains=("example.com",)),
            "letters go to example.com alone (SHOAL_MAIL_DOMAINS), not to b@other.example",
        ),
        ({"by": "slack", "to": "ops-channel"}, RULES, "secret:NAME"),
        ({"by": "slack", "to": "http://10.0.0.1/hook"}, SpecRules(), "is not allowed"),
    ],
)
async def test_people_who_could_not_be_told_are_refused_at_submission(
    people: dict[str, str], rules: SpecRules, reason: str
) -> None:
    async with world(names=NAMES, rules=rules) as w:
        spec = {"url": "https://shop.example/", "goal": "look", "notify": [people]}
        answer = await w.client.post("/v1/jobs", json=spec)
    assert answer.status_code == 400, answer.text
    (fault,) = answer.json()["errors"]
    assert fault["field"] == "notify[0].to" and reason in fault["reason"]
