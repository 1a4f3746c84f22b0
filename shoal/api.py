"""The gateway's API as JSON: what `AsyncClient`, the command line and the evaluation stand on.

Methods give the gateway's answers as they come, so that a command can print fields which this version does not know.
Programs use `shoal.Client` or `shoal.AsyncClient`, whose answers are typed.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from urllib.parse import quote

import httpx
import orjson
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from shoal import bodies
from shoal.agent.support.json_value import Json
from shoal.agent.support.retry_after import retry_after_seconds
from shoal.errors import AnswerUnreadable, ApiError, GatewayUnreachable
from shoal.records import Event

TIMEOUT = httpx.Timeout(30.0, connect=5.0)
STREAM_TIMEOUT = httpx.Timeout(60.0, connect=5.0)  # the gateway pings open event streams each 15 s
CHANGES_TIMEOUT = httpx.Timeout(1800.0, connect=5.0)  # the gateway reads both runs before it answers
TRY_S = 90.0
"""Seconds that a sample of a job takes at most, where the caller says nothing else: the gateway's own default."""
TRY_MARGIN_S = 30.0
"""Beyond that, for the gateway to end what still runs."""
TRIES = 5
FIRST_PAUSE_S = 0.3
ARTIFACT_BYTES = 2 << 30
"""Of one artifact."""
REFUSAL_BYTES = 1 << 20
"""Of the document that says why a request is refused."""
_OF_PACKING = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})
PAGE_ROWS = 500
"""Jobs, sessions or deliveries of one request."""
_LONGEST_PAUSE_S = 10.0
_LONGEST_WISH_S = 30.0
"""A `Retry-After` beyond this is cut: the caller is told rather than kept waiting."""
_PASSING = frozenset({429, 502, 503, 504})
"""Statuses that another try may change."""


def passing(status: int) -> bool:
    """Return whether a request that was answered so is worth another try."""
    return status in _PASSING


def tries(most: int) -> AsyncRetrying:
    """The tries of one request: again while the gateway is away or says that it is busy, with growing pauses.

    Everything that goes through here may be sent twice.
    """
    return AsyncRetrying(
        stop=stop_after_attempt(most), wait=_pause_s, retry=retry_if_exception(_may_pass), reraise=True
    )


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, GatewayUnreachable) or (isinstance(error, ApiError) and passing(error.status))


def _pause_s(state: RetryCallState) -> float:
    growing = wait_exponential_jitter(multiplier=FIRST_PAUSE_S, max=_LONGEST_PAUSE_S, jitter=FIRST_PAUSE_S)(state)
    error = state.outcome.exception() if state.outcome else None
    wish_s = error.retry_after_s if isinstance(error, ApiError) else None
    return max(growing, min(_LONGEST_WISH_S, wish_s or 0.0))


class Api:
    """Talks to one gateway. Reads, and submissions with their idempotency key, are tried again when it is away."""

    def __init__(self, url: str, api_key: str = "", *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.url = url.rstrip("/")
        headers = {"Accept-Encoding": "gzip"}
        if api_key:
            headers["Authorization"] = f"Bearer {api_key}"
        # Reading the certificates of all authorities takes 50 ms of CPU; without TLS none of them is asked.
        trusted = True if self.url.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._http = httpx.AsyncClient(
            base_url=self.url, headers=headers, timeout=TIMEOUT, transport=transport, verify=trusted
        )

    async def __aenter__(self) -> Api:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the connections."""
        await self._http.aclose()

    # --- jobs ----------------------------------------------------------------------------------------

    async def submit(self, spec: bytes | Mapping[str, Json], *, key: str | None = None) -> dict[str, Json]:
        """Hands in one job; without a key of its own it gets one, so that trying again cannot make two of it."""
        body = spec if isinstance(spec, bytes) else json.dumps(spec).encode()  # what cannot be kept, the gateway tells
        headers = {"Content-Type": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        elif not _has_key(body):
            headers["Idempotency-Key"] = uuid.uuid4().hex
        return await self._json("POST", "/v1/jobs", content=body, headers=headers)

    async def submit_lines(self, lines: AsyncIterator[bytes], *, key: str | None = None) -> AsyncIterator[Json]:
        """Hands in JSON lines as they come; gives each line's outcome."""
        headers = {"Content-Type": "application/x-ndjson", **({"Idempotency-Key": key} if key else {})}
        async with self._stream("POST", "/v1/jobs:batch", content=lines, headers=headers) as answer:
            async for line in bodies.lines(answer):
                yield orjson.loads(line)

    async def attempt(
        self, spec: bytes | Mapping[str, Json], *, items: int | None = None, timeout_s: float | None = None
    ) -> dict[str, Json]:
        """Tries a job: a sample of it runs at once, and is kept nowhere."""
        body = spec if isinstance(spec, bytes) else json.dumps(spec).encode()
        waits = httpx.Timeout((timeout_s or TRY_S) + TRY_MARGIN_S, connect=5.0)
        headers = {"Content-Type": "application/json"}
        params = _without_unset({"items": items, "timeout_s": timeout_s})
        return await self._json("POST", "/v1/jobs:try", content=body, headers=headers, params=params, timeout=waits)

    async def job(self, job: str) -> dict[str, Json]:
        """A job with its spec."""
        return await self._json("GET", f"/v1/jobs/{_part(job)}")

    async def jobs(self, **query: Json) -> dict[str, Json]:
        """One page of jobs."""
        return await self._json("GET", "/v1/jobs", params=_without_unset(query))

    async def control(self, job: str, verb: str) -> dict[str, Json]:
        """Cancels, pauses, resumes or retries a job."""
        return await self._json("POST", f"/v1/jobs/{_part(job)}/{verb}")

    async def change(self, job: str, changes: Mapping[str, Json]) -> dict[str, Json]:
        """Changes limits of a running job: concurrency, deadline_s, job_tokens, priority."""
        return await self._json("PATCH", f"/v1/jobs/{_part(job)}", json=dict(changes))

    async def settle(self, session: str, how: str) -> dict[str, Json]:
        """Says what became of an unsure session: `done` or `retry`."""
        return await self._json("POST", f"/v1/sessions/{_part(session)}/settle", json={"how": how})

    async def write_again(self, job: str, sink: int) -> dict[str, Json]:
        """Writes a job's records to one of its sinks once more."""
        return await self._json("POST", f"/v1/jobs/{_part(job)}/sinks/{sink}/again")

    async def retry_session(self, session: str) -> dict[str, Json]:
        """Queues one failed, terminated or canceled session again."""
        return await self._json("POST", f"/v1/sessions/{_part(session)}/retry")

    async def questions(self, **query: Json) -> dict[str, Json]:
        """Return what running sessions wait to be told."""
        return await self._json("GET", "/v1/questions", params=_without_unset(query))

    async def answer(self, question: str, text: str) -> None:
        """Answers a question of a running session."""
        await self._send("POST", f"/v1/questions/{_part(question)}", json={"answer": text})

    async def workers(self) -> dict[str, Json]:
        """All browser workers."""
        return await self._json("GET", "/v1/workers")

    async def drain(self, worker: str) -> None:
        """Has a browser worker replaced."""
        await self._send("POST", f"/v1/workers/{_part(worker)}/drain")

    async def sites(self, **query: Json) -> dict[str, Json]:
        """Sites that are worked on or limited."""
        return await self._json("GET", "/v1/sites", params=_without_unset(query))

    async def change_site(self, host: str, changes: Mapping[str, Json]) -> dict[str, Json]:
        """Changes limits of a site: concurrency, delay_s, paused, pause_s."""
        return await self._json("PATCH", f"/v1/sites/{quote(host, safe='')}", json=dict(changes))

    async def secrets(self) -> dict[str, Json]:
        """Stored secrets, without their values."""
        return await self._json("GET", "/v1/secrets")

    async def set_secret(self, name: str, value: str, domains: Sequence[str], *, tenant: str | None = None) -> str:
        """Sets or replaces a stored secret; why it is weak, "" where it is not."""
        body, params = {"value": value, "domains": list(domains)}, _without_unset({"tenant": tenant})
        answer = await self._send("PUT", f"/v1/secrets/{quote(name, safe='')}", json=body, params=params)
        return str(answer.headers.get("Shoal-Warning", ""))

    async def remove_secret(self, name: str, *, tenant: str | None = None) -> None:
        """Removes a stored secret."""
        await self._send("DELETE", f"/v1/secrets/{quote(name, safe='')}", params=_without_unset({"tenant": tenant}))

    async def webhooks(self, **query: Json) -> dict[str, Json]:
        """One page of webhook deliveries."""
        return await self._json("GET", "/v1/webhooks", params=_without_unset(query))

    async def resend(self, delivery: str) -> dict[str, Json]:
        """Sends one webhook again."""
        return await self._json("POST", f"/v1/webhooks/{_part(delivery)}/resend")

    async def resend_dead(self) -> dict[str, Json]:
        """Sends all dead letters again; says how many."""
        return await self._json("POST", "/v1/webhooks:resend")

    async def webhook_secret(self) -> dict[str, Json]:
        """Return what this tenant's receivers check signatures with."""
        return await self._json("GET", "/v1/webhooks/secret")

    async def workflows(self, **query: Json) -> dict[str, Json]:
        """One page of workflows."""
        return await self._json("GET", "/v1/workflows", params=_without_unset(query))

    async def workflow(self, name: str, what: str = "", **query: Json) -> dict[str, Json]:
        """A workflow with its versions; `what`: its `export`, its `diff` or `versions/2` instead."""
        path = f"/v1/workflows/{quote(name, safe='')}" + (f"/{what}" if what else "")
        return await self._json("GET", path, params=_without_unset(query))

    async def take_workflow(self, workflow: bytes) -> dict[str, Json]:
        """Imports a workflow; its versions are drafts."""
        headers = {"Content-Type": "application/json"}
        return await self._json("POST", "/v1/workflows", content=workflow, headers=headers)

    async def keep_shown(self, session: str, name: str | None = None) -> dict[str, Json]:
        """Stores the workflow that a person showed in a session, as a draft."""
        path = f"/v1/sessions/{quote(session, safe='')}/workflow"
        return await self._json("POST", path, params=_without_unset({"name": name}))

    async def try_workflow(
        self, name: str, body: Mapping[str, Json], *, timeout_s: float | None = None
    ) -> dict[str, Json]:
        """Runs a version of a workflow on given pages; nothing is kept."""
        waits = httpx.Timeout((timeout_s or TRY_S) + TRY_MARGIN_S, connect=5.0)
        path = f"/v1/workflows/{quote(name, safe='')}:try"
        params = _without_unset({"timeout_s": timeout_s})
        return await self._json("POST", path, json=_without_unset(body), params=params, timeout=waits)

    async def move_version(self, name: str, number: int, verb: str) -> dict[str, Json]:
        """Activates (`activate`) or retires (`retire`) a version of a workflow."""
        return await self._json("POST", f"/v1/workflows/{quote(name, safe='')}/versions/{number}/{verb}")

    async def drop_workflow(self, name: str) -> None:
        """Deletes a workflow with all its versions."""
        await self._send("DELETE", f"/v1/workflows/{quote(name, safe='')}")

    async def schedules(self, **query: Json) -> dict[str, Json]:
        """One page of schedules."""
        return await self._json("GET", "/v1/schedules", params=_without_unset(query))

    async def schedule(self, name: str, what: str = "", **query: Json) -> dict[str, Json]:
        """A schedule with its next times; `what`: its `runs`, `runs/latest` or `keys` instead."""
        path = f"/v1/schedules/{quote(name, safe='')}" + (f"/{what}" if what else "")
        return await self._json("GET", path, params=_without_unset(query))

    async def put_schedule(self, spec: Mapping[str, Json]) -> dict[str, Json]:
        """Makes a schedule, or changes the one of its name."""
        return await self._json("POST", "/v1/schedules", json=dict(spec))

    async def command_schedule(self, name: str, verb: str) -> dict[str, Json]:
        """`pause`, `resume`, `fire` or `accept`."""
        return await self._json("POST", f"/v1/schedules/{quote(name, safe='')}/{verb}")

    async def make_schedule_key(self, name: str, label: str, days: float | None) -> dict[str, Json]:
        """Makes a key that reads a schedule's newest results alone."""
        body = _without_unset({"name": label, "days": days})
        return await self._json("POST", f"/v1/schedules/{quote(name, safe='')}/keys", json=body)

    async def revoke_schedule_key(self, name: str, key: int) -> None:
        """Revokes a key of a schedule."""
        await self._send("DELETE", f"/v1/schedules/{quote(name, safe='')}/keys/{key}")

    async def notify(self) -> dict[str, Json]:
        """Whom the tenant tells of jobs that do not say so themselves."""
        return await self._json("GET", "/v1/notify")

    async def set_notify(self, people: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
        """Sets whom."""
        return await self._json("PUT", "/v1/notify", json={"notify": [dict(each) for each in people]})

    async def drop_schedule(self, name: str) -> None:
        """Deletes a schedule; its jobs stay."""
        await self._send("DELETE", f"/v1/schedules/{quote(name, safe='')}")

    async def sessions(self, job: str, **query: Json) -> dict[str, Json]:
        """One page of a job's sessions."""
        return await self._json("GET", f"/v1/jobs/{_part(job)}/sessions", params=_without_unset(query))

    async def session(self, session: str) -> dict[str, Json]:
        """A session with its records, tasks, steps and artifacts."""
        return await self._json("GET", f"/v1/sessions/{_part(session)}")

    async def artifact(self, artifact: str) -> tuple[bytes, str]:
        """An artifact's bytes and their content type, wherever they lie."""
        path = f"/v1/artifacts/{_part(artifact)}"
        answer = await self._send("GET", path, most_bytes=ARTIFACT_BYTES, follow_redirects=True)
        return answer.content, answer.headers.get("Content-Type", "application/octet-stream").partition(";")[0]

    async def delete(self, job: str) -> None:
        """Removes a final job with all that it gave."""
        await self._send("DELETE", f"/v1/jobs/{_part(job)}")

    async def status(self) -> dict[str, Json]:
        """Capacity, queue, and what waits for what."""
        return await self._json("GET", "/v1/status")

    # --- streams -------------------------------------------------------------------------------------

    async def results(
        self,
        job: str,
        *,
        form: str = "jsonl",
        after: str | None = None,
        formulas: bool = True,
        columns: str | None = None,
        lists: str | None = None,
    ) -> AsyncIterator[bytes]:
        """A job's results as they stand, in pieces of the wanted format; see the route for the options."""
        options = {"formulas": None if formulas else "false", "columns": columns, "lists": lists}
        params = _without_unset({"format": form, "after": after, **options})
        async with self._stream("GET", f"/v1/jobs/{_part(job)}/results", params=params) as answer:
            async for piece in bodies.pieces(answer):
                yield piece

    async def changes(
        self,
        job: str,
        *,
        since: str = "previous",
        key: Sequence[str] = (),
        form: str = "jsonl",
        formulas: bool = True,
        on_counts: Callable[[Mapping[str, Json]], None] = lambda _: None,
    ) -> AsyncIterator[bytes]:
        """Yield what changed since an earlier run, in pieces of the wanted format;
        `on_counts` gets between which runs, and how many records.
        """
        params = _without_unset(
            {"since": since, "key": list(key), "format": form, "formulas": None if formulas else "false"}
        )
        path = f"/v1/jobs/{_part(job)}/changes"
        async with self._stream("GET", path, params=params, timeout=CHANGES_TIMEOUT) as answer:
            on_counts(orjson.loads(answer.headers["Shoal-Changes"]))
            async for piece in bodies.pieces(answer):
                yield piece

    async def result_page(self, job: str, *, after: str | None, limit: int) -> tuple[list[bytes], str | None]:
        """Some result lines, and the cursor of the next ones (None: there are no more now)."""
        params = _without_unset({"after": after, "limit": limit})
        answer = await self._send("GET", f"/v1/jobs/{_part(job)}/results", params=params)
        return answer.content.splitlines(), answer.headers.get("Shoal-Next")

    async def events(self, job: str, *, after: int = 0) -> AsyncGenerator[Event]:
        """A job's events until it is final, each once; a broken stream goes on where it broke.

        Raises:
            GatewayUnreachable: the gateway was away for several tries in a row.
        """
        failures = 0
        while True:
            try:
                async with self._events(job, after) as stream:
                    if stream is None:
                        return
                    async for event in stream:
                        failures = 0
                        after = event.seq
                        yield event
            except (GatewayUnreachable, ApiError) as error:
                failures += 1
                if failures >= TRIES or not _may_pass(error):
                    raise
                await asyncio.sleep(FIRST_PAUSE_S * 2 ** (failures - 1))

    @asynccontextmanager
    async def _events(self, job: str, after: int) -> AsyncIterator[AsyncIterator[Event] | None]:
        headers = {"Last-Event-ID": str(after), "Accept": "text/event-stream"}
        path = f"/v1/jobs/{_part(job)}/events"
        async with self._stream("GET", path, headers=headers, timeout=STREAM_TIMEOUT) as answer:
            yield None if answer.status_code == 204 else _parsed(bodies.lines(answer))

    # --- transport -----------------------------------------------------------------------------------

    async def _json(self, method: str, path: str, **request: Json) -> dict[str, Json]:
        answer = await self._send(method, path, **request)
        body: dict[str, Json] = orjson.loads(answer.content)
        return body

    async def _send(
        self, method: str, path: str, *, most_bytes: int = bodies.MOST_BYTES, **request: Json
    ) -> httpx.Response:
        """One request, tried again while the gateway is away: all that we send may be sent twice."""
        answer: httpx.Response = await tries(TRIES)(self._send_once, method, path, most_bytes, **request)
        return answer

    async def _send_once(self, method: str, path: str, most_bytes: int, **request: Json) -> httpx.Response:
        async with self._stream(method, path, **request) as answer:
            body = await bodies.whole(answer, most_bytes)
            return _read(answer, body)

    @asynccontextmanager
    async def _stream(self, method: str, path: str, **request: Json) -> AsyncIterator[httpx.Response]:
        try:
            async with self._http.stream(method, path, **request) as answer:
                if answer.is_error:
                    raise _refused(_read(answer, await bodies.whole(answer, REFUSAL_BYTES)))
                yield answer
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    def _unreachable(self, error: Exception) -> GatewayUnreachable:
        why = str(error) or type(error).__name__
        return GatewayUnreachable(f"the gateway at {self.url} does not answer ({why})")


async def rows(read: Callable[..., Awaitable[Mapping[str, Json]]], name: str, most: int) -> tuple[list[Json], bool]:
    """At most `most` of what `read` gives page by page under `name`, and whether there are more."""
    gathered: list[Json] = []
    cursor: str | None = None
    while True:
        page = await read(cursor=cursor, limit=min(PAGE_ROWS, most - len(gathered)))
        gathered += page[name]
        cursor = page["next"]
        if cursor is None or len(gathered) >= most:
            return gathered, cursor is not None


def _part(text: str) -> str:
    """An id as a part of a path; whatever a person typed stays one part."""
    return "".join(letter if letter.isalnum() and letter.isascii() else f"%{ord(letter):02X}" for letter in text[:40])


def _without_unset(query: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in query.items() if value is not None and value != []}


def _has_key(body: bytes) -> bool:
    try:
        spec = orjson.loads(body)
    except orjson.JSONDecodeError:
        return False
    return isinstance(spec, dict) and spec.get("idempotency_key") is not None


def _read(answer: httpx.Response, body: bytes) -> httpx.Response:
    """The answer with its body, which is unpacked."""
    headers = [(name, value) for name, value in answer.headers.raw if name.lower() not in _OF_PACKING]
    return httpx.Response(answer.status_code, headers=headers, content=body)


def _refused(answer: httpx.Response) -> ApiError:
    try:
        problem = orjson.loads(answer.content)
    except orjson.JSONDecodeError:
        problem = {"detail": f"HTTP {answer.status_code} from something that is not a Shoal gateway"}
    problem = problem if isinstance(problem, dict) else {}
    return ApiError.of(answer.status_code, problem, retry_after_s=retry_after_seconds(answer.headers))


async def _parsed(lines: AsyncIterator[bytes]) -> AsyncIterator[Event]:
    """Server-sent events from their lines."""
    fields: dict[str, str] = {}
    async for raw in lines:
        line = raw.decode(errors="replace")
        if line == "":
            if "data" in fields and fields.get("id", "").isdigit():
                yield Event(int(fields["id"]), fields.get("event", "message"), orjson.loads(fields["data"]))
            fields = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            fields[name] = fields[name] + "\n" + value.removeprefix(" ") if name in fields else value.removeprefix(" ")
            if sum(map(len, fields.values())) > bodies.MOST_LINE_BYTES:
                raise AnswerUnreadable(f"an event of the gateway has more than {bodies.MOST_LINE_BYTES:,} bytes")
