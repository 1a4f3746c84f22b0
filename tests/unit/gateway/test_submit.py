"""Submissions: what is taken, and every way to be refused, with the exact field."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
import pytest_asyncio

from shoal.services.addresses import Reach
from shoal.services.errors import BadInput
from shoal.services.store.records import JobFilter
from shoal.services.web.specs.specs import MOST_MEMBERS, SpecRules, parse_json, parse_spec
from tests.gateway_world import World, api_world, world

SPEC = {"url": "https://shop.example/", "goal": "read the prices"}


DEEP: dict[str, Any] = {}
for _ in range(180):
    DEEP = {"not": DEEP}


NAMES = {"inner.example": ("10.0.0.9",)}


@pytest.fixture
async def here() -> AsyncIterator[World]:
    async with api_world(names=NAMES) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def strict() -> AsyncIterator[World]:
    """One gateway for all that is refused: nothing of that is stored, so no test leaves another one anything."""
    async with api_world(names=NAMES) as made:
        yield made


refused = pytest.mark.asyncio(loop_scope="module")
"""A test in the event loop of `strict`."""


async def test_a_job_is_stored_and_answered_with_its_place(here: World) -> None:
    answer = await here.client.post("/v1/jobs", json={**SPEC, "labels": {"team": "a"}, "priority": 3})
    body = answer.json()
    assert answer.status_code == 201
    assert answer.headers["location"] == f"/v1/jobs/{body['id']}"
    assert body == {"id": body["id"], "status": "queued", "created": True}
    job = (await here.client.get(answer.headers["location"])).json()
    assert (job["id"], job["status"]) == (body["id"], "queued")
    assert job["spec"] == {**SPEC, "labels": {"team": "a"}, "priority": 3}
    assert job["counts"]["expected"] == 1


async def test_a_job_keeps_the_name_of_the_key_that_it_was_handed_in_with() -> None:
    async with world(auth=True) as locked:
        ada, ben = [await locked.key("submit", "read", name=name) for name in ("Ada", "<b>Ben</b>")]
        one = await locked.client.post("/v1/jobs", json=SPEC, headers={"Authorization": f"Bearer {ada}"})
        lines = "\n".join(json.dumps({**SPEC, "goal": goal}) for goal in ("a", "b"))
        headers = {"Authorization": f"Bearer {ben}", "Content-Type": "application/x-ndjson", "Idempotency-Key": "k"}
        many = await locked.client.post("/v1/jobs:batch", content=lines, headers=headers)
        jobs = [one.json()["id"], *(json.loads(line)["job"] for line in many.text.splitlines())]
        seen = [(await locked.client.get(f"/v1/jobs/{job}", headers=headers)).json()["submitted_by"] for job in jobs]
        assert seen == ["Ada", "<b>Ben</b>", "<b>Ben</b>"]
        await locked.client.post("/login", data={"key": ada})
        assert '<dd class="name" title="Ada">Ada</dd>' in (await locked.client.get(f"/jobs/{jobs[0]}")).text
        page = (await locked.client.get(f"/jobs/{jobs[1]}")).text
        assert "&lt;b&gt;Ben&lt;/b&gt;" in page and "<b>Ben</b>" not in page


async def test_the_same_idempotency_key_gives_the_same_job(here: World) -> None:
    first = await here.client.post("/v1/jobs", json=SPEC, headers={"Idempotency-Key": "k1"})
    again = await here.client.post("/v1/jobs", json={**SPEC, "idempotency_key": "k1"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    other = await here.client.post("/v1/jobs", json={**SPEC, "goal": "other"}, headers={"Idempotency-Key": "k1"})
    assert other.status_code == 409
    assert other.json()["code"] == "idempotency_key_reused"


def faults(answer: httpx.Response) -> dict[str, str]:
    body = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert body["status"] == answer.status_code
    assert body["request_id"] == answer.headers["x-request-id"]
    return {fault["field"]: fault["reason"] for fault in body.get("errors", [])}


@refused
@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        ({"colour": 1}, "colour", "is not a field of a job"),
        ({"urls": 1}, "urls", "is not a field of a job; did you mean 'url'?"),
        ({"browser": {"viewprt": {}}}, "browser.viewprt", "is not a field of a job; did you mean 'viewport'?"),
        (
            {"loop": {"from": {"select": "a", "max_page": 3}}},
            "loop.from.max_page",
            "is not a field of a job; did you mean 'max_pages'?",
        ),
        ({"loop": {"values": ["a"], "loop": {"valeus": ["b"]}}}, "loop.loop.valeus", None),
        ({"url": None}, "url", "must be a string"),
        ({"url": "ftp://shop.example/"}, "url", "must start with http:// or https://, not with ftp:"),
        ({"url": "shop.example"}, "url", "must start with http:// or https://"),
        ({"url": "https:///x"}, "url", "has no host name"),
        ({"url": "https://u:p@shop.example/"}, "url", "must not carry a user name or password; use `secrets`"),
        ({"max_steps": "5"}, "max_steps", "must be a whole number"),
        ({"max_steps": 5.5}, "max_steps", "must be a whole number"),
        ({"max_steps": True}, "max_steps", "must be a whole number"),
        ({"max_steps": 0}, "max_steps", "must be at least 1"),
        ({"deadline_s": "soon"}, "deadline_s", "must be a number"),
        ({"allow_terminate": "yes"}, "allow_terminate", "must be true or false"),
        ({"labels": {"a": 1}}, "labels.a", "must be a string"),
        ({"labels": ["a"]}, "labels", "must be an object"),
        ({"grounding": "guess"}, "grounding", "must be 'bid', 'mark', 'attributes', 'choice' or 'coordinates'"),
        ({"loop": {}}, "loop", "needs exactly one of `values`, `from` and `sitemap`"),
        (
            {
                "loop": {"sitemap": {"url": "https://shop.example/sitemap.xml"}},
                "browser": {"proxy": {"server": "http://proxy.example:8080"}},
            },
            "loop.sitemap",
            "is not read through `browser.proxy`: leave one of them out",
        ),
        ({"loop": {"values": []}}, "loop", "`values` is empty: the loop has nothing to do"),
        ({"loop": {"values": ["a", 2]}}, "loop.values[1]", "must be a string"),
        ({"loop": {"values": "a"}}, "loop.values", "must be an array"),
        ({"loop": {"from": {"select": "a", "max_pages": 0}}}, "loop.from.max_pages", None),
        ({"extract": {}}, "extract", "needs `goal`, `schema`, `fields` or several of these"),
        ({"extract": {"schema": {"type": "objekt"}}}, "extract.schema", None),
        ({"extract": {"schema": {"properties": {"a": 5}}}}, "extract.schema", None),
        (
            {"extract": {"schema": {"name": "string", "price": {"type": "number"}}}},
            "extract.schema",
            'maps names to types, and is no JSON Schema; write {"type": "object", "properties": {"name": {"type": '
            '"string"}, "price": {"type": "number"}}}',
        ),
        (
            {"extract": {"schema": {"type": "object", "proprties": {"a": {"type": "string"}}}}},
            "extract.schema.proprties",
            "is no keyword of JSON Schema; 'properties' is one",
        ),
        (
            {"extract": {"schema": {"type": "object", "properties": {"a": {"type": "string", "fromat": "date"}}}}},
            "extract.schema.properties.a.fromat",
            "is no keyword of JSON Schema; 'format' is one",
        ),
        (
            {"extract": {"schema": {"properties": {"a": {"type": "number"}}, "x-glossary": {"b": {"labels": ["B"]}}}}},
            "extract.schema.x-glossary.b",
            "is no field of the schema",
        ),
        (
            {"extract": {"schema": {"type": "array", "items": {"type": "object"}, "x-glossary": {}}}},
            "extract.schema.x-glossary",
            "belongs into the schema of one record: extract.schema.items.x-glossary",
        ),
        (
            {"extract": {"schema": {"type": "object", "properties": {"a": {"type": "number", "x-unit": "kgg"}}}}},
            "extract.schema.properties.a.x-unit",
            "is no unit that is known; write it as in `kg`, `cm`, `minutes` or `kWh`",
        ),
        (
            {"extract": {"schema": {"type": "object", "properties": {"a": {"anyOf": [{}, {"fromat": "date"}]}}}}},
            "extract.schema.properties.a.anyOf[1].fromat",
            "is no keyword of JSON Schema; 'format' is one",
        ),
        (
            {"extract": {"schema": {"$schema": {}}}},
            "extract.schema",
            "is not a valid JSON Schema at $schema: it must be a string",
        ),
        ({"extract": {"schema": {"$schema": []}}}, "extract.schema", None),
        ({"extract": {"schema": {"$schema": 5}}}, "extract.schema", None),
        ({"extract": {"schema": DEEP}}, "extract.schema", "is nested too deeply: more than 64 levels"),
        ({"action_sets": ["nav", "fly"]}, "action_sets[1]", None),
        (
            {"browser": {"timezone": "Mars/Olympus"}},
            "browser.timezone",
            "must be a time zone's IANA name, such as Europe/Berlin",
        ),
        ({"browser": {"locale": "de_DE"}}, "browser.locale", "must be a BCP 47 tag, such as de-DE"),
        ({"browser": {"headers": {"X Y": "1"}}}, "browser.headers.X Y", "is no name of a header"),
        ({"browser": {"headers": {"Host": "a"}}}, "browser.headers.Host", "is set by the browser alone"),
        ({"browser": {"headers": {"X-A": "1\r\nX-B: 2"}}}, "browser.headers.X-A", None),
        ({"browser": {"user_agent": "a\nb"}}, "browser.user_agent", None),
        ({"secrets": {"login": {"domains": []}}}, "secrets.login.domains", "needs at least 1"),
        ({"policy": "guess"}, "policy", "must be auto, model, rules, person or workflow:NAME"),
        ({"goal": ""}, "goal", "must not be empty"),
        ({"data": {"n": 2**70}}, "data.n", "is a number of more than 64 bits; send it as a string"),
        ({"data": ["a\0b"]}, "data[0]", "must not contain the character U+0000"),
        ({"max_attempts": 50}, "max_attempts", "this cluster allows at most 10"),
        ({"policy": "workflow:w1"}, "policy", "there is no workflow 'w1'"),
        ({"policy": "workflow:W 1"}, "policy", "must be auto, model, rules, person or workflow:NAME"),
        ({"workflow": {"name": "books"}}, "workflow", "goes with `policy`: workflow:NAME"),
        ({"policy": "workflow:books", "workflow": {"name": "books"}}, "workflow", None),
        ({"browser": {"attach": "http://127.0.0.1:9222"}}, "browser.attach", "not available in this version"),
        ({"webhook": {"url": "http://10.0.0.7/hook"}}, "webhook.url", None),
        ({"help": {"person": True}}, "help.person", "workers of this cluster reach no person (SHOAL_HELP_URL)"),
        ({"help": {"webhook": "http://10.0.0.7/answer"}}, "help.webhook", None),
    ],
)
async def test_a_bad_field_is_refused_by_name(
    strict: World, change: dict[str, Any], field: str, reason: str | None
) -> None:
    answer = await strict.client.post("/v1/jobs", json={**SPEC, **change})
    assert answer.status_code == 400, answer.text
    told = faults(answer)
    assert field in told
    assert reason is None or told[field] == reason
    assert await strict.store.jobs(JobFilter()) == [], "nothing may be stored of a job that was refused"


@refused
@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        ({"deadline_s": 1e300}, "deadline_s", "must be at most 1000000000"),
        ({"artifacts": {"retention_days": 10**9}}, "artifacts.retention_days", "must be at most 36500"),
        ({"politeness": {"per_domain": 2**40}}, "politeness.per_domain", "must be at most 2147483647"),
        ({"budget": {"job_tokens": 2**60}}, "budget.job_tokens", "must be at most 9007199254740992"),
        ({"loop": {"values": ["a"], "concurrency": 2**40}}, "loop.concurrency", "must be at most 2147483647"),
        (
            {"loop": {"values": ["a"], "loop": {"from": {"select": "p"}, "max_items": 2**40}}},
            "loop.loop.max_items",
            "must be at most 2147483647",
        ),
        ({"goal": " \t"}, "goal", "must not be blank"),
        ({"name": "  "}, "name", "must not be blank"),
        ({"name": "Prices\nj1 failed"}, "name", "must not contain line breaks or other control characters"),
        ({"name": "x" * 201}, "name", None),
        ({"extract": {"goal": ""}}, "extract.goal", "must not be blank"),
        ({"extract": {"fields": {"a": {"label": " "}}}}, "extract.fields.a.label", "must not be blank"),
        ({"extract": {"fields": {"a": {"select": "b"}}, "wait_for": " "}}, "extract.wait_for", "must not be blank"),
        ({"loop": {"from": {"select": "  "}}}, "loop.from.select", "must not be blank"),
        ({"loop": {"from": {"select": "a", "next": ""}}}, "loop.from.next", "must not be blank"),
        ({"loop": {"values": ["a", " "]}}, "loop.values[1]", "must not be blank"),
        (
            {"loop": {"values": ["https://a.example/", "/p/2"], "is_link": True}},
            "loop.values[1]",
            "must be an http:// or https:// address, since `is_link` is true",
        ),
        ({"loop": {"values": ["ftp://a.example/"], "is_link": True}}, "loop.values[0]", None),
        ({"loop": {"values": ["https://a b.example/x"]}}, "loop.values[0]", "'a b.example' is no host name"),
        ({"webhook": {"url": "https://a.example/", "events": []}}, "webhook.events", None),
        ({"webhook": {"url": "https://a..example/"}}, "webhook.url", "'a..example' is no host name"),
        ({"url": "http://a b.example/"}, "url", "'a b.example' is no host name"),
        ({"url": "http://./"}, "url", "'.' is no host name"),
        ({"url": "http://shop.example|x/"}, "url", "'shop.example|x' is no host name"),
        ({"url": "http://a.example/\nx"}, "url", "must not contain line breaks or other control characters"),
        ({"url": f"http://{'a' * 64}.example/"}, "url", None),
        ({"url": f"http://{'a.' * 124}example/"}, "url", "has a host name of 255 characters; none has more than 253"),
    ],
)
async def test_what_nobody_could_do_is_refused_by_name(
    strict: World, change: dict[str, Any], field: str, reason: str | None
) -> None:
    """A deadline beyond the calendar was stored, and broke every list of jobs from then on."""
    answer = await strict.client.post("/v1/jobs", json={**SPEC, **change})
    assert answer.status_code == 400, answer.text
    told = faults(answer)
    assert list(told) == [field]
    assert reason is None or told[field] == reason
    assert (await strict.client.get("/v1/jobs")).json()["jobs"] == []


REFERS_OUT = "which is not in it; nothing is fetched from elsewhere"


@refused
@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"$ref": "#/$defs/none"}, f"refers to #/$defs/none, {REFERS_OUT}"),
        ({"properties": {"a": {"$ref": "#/$defs/none"}}}, f"refers to #/$defs/none, {REFERS_OUT}"),
        (
            {"properties": {"a": {"items": {"$ref": "https://a.example/s.json"}}}},
            f"refers to https://a.example/s.json, {REFERS_OUT}",
        ),
        (
            {"$schema": "https://a.example/draft"},
            "names a $schema that is not known: https://a.example/draft; leave it out for draft 2020-12",
        ),
        (
            {"type": "array", "items": {"type": "string"}},
            "must describe an array of objects: its `items` are something else",
        ),
    ],
)
async def test_a_schema_that_no_record_could_be_checked_against_is_refused(
    strict: World, schema: Any, reason: str
) -> None:
    answer = await strict.client.post("/v1/jobs", json={**SPEC, "extract": {"schema": schema}})
    assert faults(answer) == {"extract.schema": reason}


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"p": {"type": "object"}}, "type": "array", "items": {"$ref": "#/$defs/p"}},
        {"definitions": {"t": {"$id": "t", "type": "string"}}, "properties": {"a": {"$ref": "#/definitions/t"}}},
        {"$id": "https://a.example/s", "$defs": {"t": {"$anchor": "t"}}, "properties": {"a": {"$ref": "#t"}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"$ref": "#"}}},
        {"properties": {"$ref": {"type": "string"}}},
        {"properties": {"a": {"enum": [{"$ref": "#/none"}]}}},
    ],
)
async def test_a_schema_may_refer_to_itself(here: World, schema: Any) -> None:
    answer = await here.client.post("/v1/jobs", json={**SPEC, "extract": {"schema": schema}})
    assert answer.status_code == 201, answer.text


@pytest.mark.parametrize(
    "url",
    ["http://bücher.example/", "http://a_b.example./", "http://[2606:4700::1111]/", "http://93.184.216.34:8/a b?c=ü"],
)
async def test_odd_addresses_that_browsers_open_are_taken(here: World, url: str) -> None:
    answer = await here.client.post("/v1/jobs", json={**SPEC, "url": url})
    assert answer.status_code == 201, answer.text


async def test_every_fault_is_told_at_once(here: World) -> None:
    answer = await here.client.post("/v1/jobs", json={"goal": 5, "foo": 1, "max_steps": "x"})
    assert faults(answer) == {
        "url": "is required",
        "goal": "must be a string",
        "max_steps": "must be a whole number",
        "foo": "is not a field of a job",
    }


async def test_a_job_that_wants_nothing_is_refused(here: World) -> None:
    answer = await here.client.post("/v1/jobs", json={"url": "https://shop.example/"})
    assert faults(answer) == {"body": "needs at least one of `goal`, `extract` and `loop`"}


@refused
@pytest.mark.parametrize(
    ("body", "place"),
    [
        (b'{"url":\n  "https://a.example",}', "line 2"),
        (b"", "line 1 column 0"),
        (b'{"url": NaN}', "line 1"),
        (b'{"url": "\xff"}', "line 1"),
        (b"[" * 5000, "recursion limit"),
    ],
)
async def test_broken_json_is_refused_with_its_place(strict: World, body: bytes, place: str) -> None:
    answer = await strict.client.post("/v1/jobs", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert place in faults(answer)["body"]


async def test_json_that_is_no_object_is_refused(here: World) -> None:
    assert faults(await here.client.post("/v1/jobs", json=["x"])) == {"body": "must be an object"}


@refused
@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://127.0.0.1/", "loopback"),
        ("http://0x7f.1:8080/x", "loopback"),
        ("http://[::ffff:10.0.0.1]/", "private"),
        ("http://169.254.169.254/latest/meta-data", "a metadata service"),
        ("http://localhost:8700/v1/jobs", "loopback"),
        ("https://inner.example/", "private (10.0.0.9)"),
    ],
)
async def test_inner_addresses_are_refused_in_every_field_that_holds_a_url(
    strict: World, url: str, reason: str
) -> None:
    host = httpx.URL(url).host
    told = faults(await strict.client.post("/v1/jobs", json={**SPEC, "url": url}))
    assert f"the address is {reason};" in told["url"]
    assert host.strip("[]") in told["url"] or "0x7f" in told["url"]
    told = faults(await strict.client.post("/v1/jobs", json={**SPEC, "loop": {"values": ["https://ok.example", url]}}))
    assert list(told) == ["loop.values[1]"]


async def test_the_operator_can_allow_inner_addresses() -> None:
    spec = {**SPEC, "url": "http://127.0.0.1:9999/"}
    async with api_world(rules=SpecRules(reach=Reach(allow_private=True))) as open_world:
        assert (await open_world.client.post("/v1/jobs", json=spec)).status_code == 201
        assert open_world.names.asked == [], "nothing is looked up when everything is allowed"
    async with api_world(rules=SpecRules(reach=Reach(exceptions=("127.0.0.1:9999",)))) as narrow:
        assert (await narrow.client.post("/v1/jobs", json=spec)).status_code == 201
        spec["url"] = "http://127.0.0.1:9998/"
        assert (await narrow.client.post("/v1/jobs", json=spec)).status_code == 400


async def test_two_different_keys_are_refused(here: World) -> None:
    answer = await here.client.post("/v1/jobs", json={**SPEC, "idempotency_key": "a"}, headers={"Idempotency-Key": "b"})
    assert faults(answer) == {"idempotency_key": "differs from the Idempotency-Key header"}
    answer = await here.client.post("/v1/jobs", json=SPEC, headers={"Idempotency-Key": "x" * 201})
    assert faults(answer) == {"Idempotency-Key": "must have 1 to 200 characters"}


async def test_a_body_over_the_limit_is_refused_announced_or_not() -> None:
    async with api_world(body_limit=300) as small:
        spec = {**SPEC, "data": "x" * 400}
        assert (await small.client.post("/v1/jobs", json=spec)).status_code == 413

        async def chunks() -> AsyncIterator[bytes]:
            for _ in range(40):
                yield b" " * 10

        answer = await small.client.post("/v1/jobs", content=chunks(), headers={"Content-Type": "application/json"})
        assert answer.status_code == 413
        assert answer.json()["code"] == "too_large"


async def test_a_body_that_is_not_json_by_its_type_is_refused(here: World) -> None:
    answer = await here.client.post("/v1/jobs", content=b"{}", headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415
    assert answer.json()["code"] == "not_json"


async def test_request_ids_are_given_and_taken(here: World) -> None:
    answer = await here.client.get("/healthz", headers={"X-Request-ID": "abc-1"})
    assert answer.headers["x-request-id"] == "abc-1"
    answer = await here.client.get("/healthz", headers={"X-Request-ID": "bad id\x7f"})
    other = await here.client.get("/healthz")
    assert len({"bad id\x7f", answer.headers["x-request-id"], other.headers["x-request-id"]}) == 3


async def test_what_is_not_there_is_a_problem_too(here: World) -> None:
    for method, path, status, code in (
        ("GET", "/nowhere", 404, "not_found"),
        ("GET", "/v1/jobs/j999", 404, "not_found"),
        ("GET", "/v1/jobs/x", 404, "not_found"),
        ("GET", "/v1/sessions/s999", 404, "not_found"),
        ("GET", "/v1/artifacts/zz%00", 404, "not_found"),
        ("PUT", "/v1/jobs", 405, "method_not_allowed"),
        ("GET", "/v1/jobs?limit=0", 400, "bad_input"),
        ("GET", "/v1/jobs?status=done", 400, "bad_input"),
        ("GET", "/v1/jobs?cursor=zz", 400, "bad_input"),
        ("GET", "/v1/jobs?label=zz", 400, "bad_input"),
    ):
        answer = await here.client.request(method, path)
        assert (answer.status_code, answer.json()["code"]) == (status, code), path
        assert answer.headers["content-type"] == "application/problem+json"
    assert (await here.client.get("/v1/jobs?limit=0")).json()["errors"][0]["field"] == "limit"


@pytest.mark.parametrize(
    ("job", "field"),
    [
        ({"goal": "find the price"}, "goal"),
        ({"goal": "find the price", "policy": "model", "extract": {"schema": {"type": "object"}}}, "policy"),
        ({"extract": {"goal": "the price"}}, "extract.schema"),
    ],
)
async def test_what_only_a_model_could_do_is_refused_where_no_worker_asks_one(job: dict[str, Any], field: str) -> None:
    job = {"url": "https://shop.example/", **job}
    async with api_world() as w:
        assert (await w.client.post("/v1/jobs", json=job)).status_code == 201, "nothing is known of the workers"
        await w.store.put_state("dispatcher/one", {"has_model": False})
        answer = (await w.client.post("/v1/jobs", json=job)).json()
        assert answer["errors"][0]["field"] == field and "SHOAL_MODEL_URL" in answer["errors"][0]["reason"]
        await w.store.put_state("dispatcher/two", {"has_model": True})
        assert (await w.client.post("/v1/jobs", json=job)).status_code == 201
        rules = {**job, "policy": "rules", "goal": "x"}
        if field == "goal":
            refused = (await w.client.post("/v1/jobs", json=rules)).json()
            assert refused["errors"][0]["field"] == "goal" and "rules ask none" in refused["errors"][0]["reason"]


@pytest.mark.parametrize("read", [parse_json, parse_spec])
@pytest.mark.parametrize("member", ['"label%d": "a:b"', '"same%.0s": "\\\\"', r'"%d \": ": "\":\":"'])
def test_members_of_a_body_are_counted_as_they_are_written(member: str, read: Callable[[bytes], Any]) -> None:
    """Readers of JSON look at each member, those that a later one of their name replaces among them."""
    for n, many in ((MOST_MEMBERS - 3, False), (MOST_MEMBERS - 2, True)):
        members = ", ".join(member % place for place in range(n))
        body = f'{{"url": "https://shop.example/", "goal": "look", "labels": {{{members}}}}}'.encode()
        if not many:
            read(body)
            continue
        with pytest.raises(BadInput, match=f"its objects have {MOST_MEMBERS + 1:,} members; at most 20,000 are read"):
            read(body)


def test_a_text_that_does_not_end_is_looked_at_once() -> None:
    began = time.process_time()
    with pytest.raises(BadInput):
        parse_json(b'{"a": "' + b'\\":' * 300_000)
    assert time.process_time() - began < 5.0
