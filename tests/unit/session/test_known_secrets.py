"""A session knows all secrets that its job grants from its beginning, and gives none of them away."""

from __future__ import annotations

import base64
import gzip
import traceback
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, quote_plus

from shoal.agent.errors import SecretRefused
from shoal.agent.redaction.hidden_values import HiddenValues
from shoal.agent.redaction.redactor import Redactor
from shoal.agent.sessions import session
from shoal.agent.sessions.attended.human_help import Question, redacted
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import Action, Checkpoint, DialogSeen, Download, Element, LoopItem, Observation, TabInfo, Task
from shoal.services.browsers.session_parts.secrets import FolderSecrets
from tests.doubles import FakeBrowser, FakePage
from tests.unit.session.test_session import URL, Notes, deps, run, work
from tests.worker_world import EXTRACT, LOOP

VALUE = "hunter2/&hunter2"
REFERENCE = "secret:SHOP"
ANY = {"schema": {"type": "object"}}
SPELLED = [VALUE, quote(VALUE, safe=""), VALUE.encode().hex(), base64.b64encode(b"-" + VALUE.encode()).decode()]


class Knowing(Notes):
    """A keeper whose job is granted a secret for one site."""

    def granted(self) -> Mapping[str, str]:
        return {REFERENCE: VALUE}

    def resolve(self, value: object, url: str) -> object:
        if value == REFERENCE and not url.startswith(URL):
            raise SecretRefused(url)
        return VALUE if value == REFERENCE else value


def gives_away(*things: object) -> bool:
    """Return whether one of these holds the secret in any spelling."""
    return HiddenValues({VALUE: "-"}).occur_in([repr(thing) for thing in things])


async def test_a_page_behind_the_login_that_shows_the_secret_is_read_without_it() -> None:
    """The item's own session fills nothing in: the job's root did."""
    notes, shown = Knowing(), f"{URL}item?pw={quote_plus(VALUE)}&q={quote_plus(VALUE)}"
    page = FakePage(title=VALUE, read={"n": SPELLED, VALUE: 1, "at": {"deep": f"it is {VALUE}!"}})
    one = replace(work(depth=1, extract=ANY), item=LoopItem(0, shown, True, VALUE))
    outcome = await session.run(one, deps(FakeBrowser({shown: page}), notes))
    assert outcome.status is Status.COMPLETED
    (record,) = outcome.records
    assert record.value["at"] == {"deep": f"it is {REFERENCE}!"}
    assert record.url == outcome.url == f"{URL}item?pw=(hidden)&q={REFERENCE}"
    assert not gives_away(outcome, *notes.bytes_kept)


async def test_links_of_a_list_that_hold_the_secret_are_stored_without_it_and_opened_with_it() -> None:
    notes, link = Knowing(), f"{URL}item?pw={quote_plus(VALUE)}&n=1"
    browser = FakeBrowser({URL: FakePage(read=[link, "http://other.example/?pw=" + quote_plus(VALUE)])})
    outcome = await session.run(work(loop=LOOP, extract=EXTRACT), deps(browser, notes))
    assert outcome.fan_out is not None
    own, others = outcome.fan_out.items
    assert own.value == f"{URL}item?pw={REFERENCE}&n=1"
    assert not gives_away(outcome, *notes.checkpoints, *notes.pieces)
    browser = FakeBrowser({link: FakePage(read={"n": 1})})
    one = replace(work(depth=1, extract=EXTRACT), item=own)
    assert (await session.run(one, deps(browser, notes))).status is Status.COMPLETED
    assert browser.visits == [f"{URL}item?pw={quote(VALUE, safe='')}&n=1"] == [link.replace("+", "%20")]
    browser = FakeBrowser({others.value: FakePage(read={"n": 1})})
    one = replace(work(depth=1, extract=EXTRACT), item=others)
    assert (await session.run(one, deps(browser, notes))).status is Status.COMPLETED
    assert not gives_away(browser.visits), "another site is not told the secret"


async def test_a_long_list_goes_to_the_journal_without_the_secret() -> None:
    notes = Knowing()
    links = [f"{URL}{n}?pw={quote_plus(VALUE)}" for n in range(300)]
    outcome = await session.run(work(loop=LOOP, extract=EXTRACT), deps(FakeBrowser({URL: FakePage(read=links)}), notes))
    assert outcome.fan_out is not None and outcome.fan_out.n == 300
    assert notes.pieces and not gives_away(outcome, notes.pieces)


async def test_a_later_attempt_goes_on_where_the_first_one_was() -> None:
    """An address that holds the secret is stored with a reference, and opened with the value."""
    where, notes = f"{URL}done?pw={quote(VALUE, safe='')}", Knowing()
    pages = {
        URL: FakePage(actions={"click 1": where}),
        where: FakePage(read={"n": 1}, title=VALUE),
    }
    one = work(goal="send", data={"a": "b"}, extract=EXTRACT)
    first = await session.run(one, deps(FakeBrowser(pages), notes))
    assert first.status is Status.COMPLETED and not gives_away(first, *notes.checkpoints)
    known = next(checkpoint for checkpoint, _ in reversed(notes.checkpoints) if checkpoint.url != URL)
    assert known.url == f"{URL}done?pw={REFERENCE}"
    browser = FakeBrowser(pages)
    again = await session.run(replace(one, attempt=2, checkpoint=known), deps(browser, notes))
    assert (again.status, browser.visits) == (Status.COMPLETED, [where])
    assert not gives_away(again)


async def test_an_error_a_download_and_a_file_read_without_a_browser_hide_the_secret(tmp_path: Path) -> None:
    notes = Knowing()
    file = tmp_path / "export.csv"
    file.write_bytes(f"user,password\r\nann,{VALUE}\r\n".encode() + b"\xff")
    given = Download(f"{VALUE}.csv".replace("/", "_"), f"{URL}x?{quote(VALUE)}", 9, path=str(file))
    page = FakePage(status=404, read=f"no page for {VALUE}", gives=(given,))
    outcome = await session.run(work(extract=EXTRACT), deps(FakeBrowser({URL: page}), notes))
    assert outcome.status is Status.FAILED and outcome.error is not None
    assert REFERENCE in outcome.error.message
    assert not gives_away(outcome, *notes.bytes_kept)
    kept = notes.bytes_kept[notes.kept.index("download")]
    assert kept == f"user,password\r\nann,{REFERENCE}\r\n".encode() + b"\xff", "the rest is byte for byte the site's"


async def test_the_source_of_a_record_is_kept_without_the_secret() -> None:
    notes = Knowing()
    page = FakePage(read=lambda script, arg: f"<html>{VALUE}</html>" if "outerHTML" in script else {"n": 1})
    one = work(extract=ANY, artifacts={"evidence": "document"})
    await session.run(one, deps(FakeBrowser({URL: page}), notes))
    assert gzip.decompress(notes.bytes_kept[notes.kept.index("document")]) == f"<html>{REFERENCE}</html>".encode()


async def test_the_archive_of_a_page_is_kept_without_the_secret_beside_its_picture() -> None:
    notes = Knowing()
    page = FakePage(elements=Element("", "body", text=VALUE), read={"n": 1})
    one = work(extract=ANY, artifacts={"evidence": "mhtml"})
    await session.run(one, deps(FakeBrowser({URL: page}), notes))
    kept = notes.bytes_kept[notes.kept.index("mhtml")]
    assert REFERENCE.encode() in kept and VALUE.encode() not in kept
    assert notes.kept.count("screenshot") == 1


async def test_nothing_is_hidden_where_nothing_is_granted() -> None:
    address = f"{URL}?q=hunter2"
    page = FakePage(read={"n": "hunter2"})
    outcome, _, _ = await run(replace(work(extract=ANY), item=LoopItem(0, address, True)), {address: page})
    assert outcome.records[0].value == {"n": "hunter2"} and outcome.url == address


async def test_those_who_help_are_told_no_secret() -> None:
    asked = []

    async def helper(question: Question) -> str:
        asked.append(question)
        return "42"

    hidden = Redactor({VALUE: REFERENCE})
    assert await redacted(helper, hidden)(Question("question", f"Is it {VALUE}?", f"{URL}?q={quote(VALUE)}", 1)) == "42"
    assert asked == [Question("question", f"Is it {REFERENCE}?", f"{URL}?q={REFERENCE}", 1)]


def test_an_exception_is_logged_without_the_secret() -> None:
    try:
        try:
            raise KeyError(VALUE)
        except KeyError as cause:
            raise RuntimeError(f"at {URL}?q={quote(VALUE)}", 3) from cause
    except RuntimeError as error:
        Redactor({VALUE: REFERENCE}).hide_in(error)
        told = "".join(traceback.format_exception(error)).replace("raise KeyError(VALUE)", "")
        assert f"at {URL}?q={REFERENCE}" in told and not gives_away(told)


def test_an_address_that_is_shown_has_no_login_in_it() -> None:
    hidden = Redactor({VALUE: REFERENCE})
    assert hidden.address("https://ann:pw@shop.example/?PHPSESSID=1&page=2") == (
        "https://shop.example/?PHPSESSID=(hidden)&page=2"
    )
    said = hidden.sentence(f"https://a@shop.example/x?token=1&n=2 answered 404, see https://b.example/{quote(VALUE)}.")
    assert said == f"https://shop.example/x?token=(hidden)&n=2 answered 404, see https://b.example/{REFERENCE}."
    assert hidden.address("https://shop.example?next=a@b") == "https://shop.example?next=a@b"


def test_a_page_as_it_is_shown_has_no_secret_in_any_part() -> None:
    seen_by = Element("1", "a", text=VALUE, attributes={"href": f"/?{quote(VALUE)}"}, options=((VALUE, VALUE, True),))
    observed = replace(
        Observation(f"{URL}?q={quote(VALUE)}", VALUE, Element("", "body")),
        tabs=(TabInfo(f"{URL}?q={quote(VALUE)}", VALUE),),
        dialogs=(DialogSeen("alert", VALUE, VALUE),),
        console_errors=(VALUE,),
        elements=Element("", "body", children=(seen_by,)),
        downloads=(Download(VALUE, VALUE, 1, text=VALUE),),
    )
    hidden = Redactor({VALUE: REFERENCE})
    assert not gives_away(hidden.observation(observed))
    plain = Observation(URL, "", Element("", "body"))
    assert hidden.observation(plain) is plain


def test_counts_of_a_task_and_ids_of_elements_are_no_secrets() -> None:
    hidden = Redactor({"12": "secret:PIN"})
    task = Task("loop", "each", Status.COMPLETED, {"expected": 12, "why": "12 of 12"})
    assert hidden.tasks((task,))[0].result == {"expected": 12, "why": "secret:PIN of secret:PIN"}
    assert hidden.stored_checkpoint(Checkpoint((task,))).history[0].result == hidden.tasks((task,))[0].result
    assert hidden._args(Action("fill", {"bid": "12", "value": "12"}).args) == {"bid": "12", "value": "secret:PIN"}
    assert hidden.json({"pin": 12, "price": 13}) == {"pin": "secret:PIN", "price": 13}
    assert hidden.prompt("[12] link") == "[12] link"


def test_known_are_the_secrets_that_the_job_grants(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    folder.mkdir()
    for name, binding in (("A", "shop.example"), ("B", "other.example"), ("C", "login.shop.example"), ("D", None)):
        (folder / name).write_text(f"value of {name}\n")
        if binding:
            (folder / f"{name}.domains").write_text(binding)
    (folder / "BYTES").write_bytes(b"\xff\xfe")
    (folder / "OTHER").write_text("of no concern")
    spec = JobSpec.model_validate(
        {
            "url": URL,
            "goal": "x",
            "secrets": {
                name: {"domains": ["shop.example"]} for name in ("A", "B", "C", "D", "E", "A.domains", "BYTES")
            },
        }
    )
    assert FolderSecrets(str(tmp_path), "t", spec).granted() == {
        f"secret:{name}": f"value of {name}" for name in "ABCD"
    }
    assert FolderSecrets(None, "t", spec).granted() == {}
