"""The agent as a library: one page in a browser of its own, without Ray, database or gateway.

The parts are those of a browser worker (`shoal.services.browsers.session_parts.real_parts`), so that the same settings
and the same rules hold: which addresses may be reached, robots.txt, time limits, which model is asked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from shoal.agent.actions.dialects.notations import Dialect, read_reply_on
from shoal.agent.actions.primitives.navigation import web_address
from shoal.agent.browser import Browser, Context, ObserveOptions, Shot
from shoal.agent.errors import ActionInvalid
from shoal.agent.hooks import Hooks
from shoal.agent.models.decisions.extract import check_records
from shoal.agent.policies.extraction import extract_records
from shoal.agent.policies.policy import SessionState
from shoal.agent.redaction.redactor import Redactor
from shoal.agent.sessions import session
from shoal.agent.sessions.attended.human_help import Helper, helping
from shoal.agent.sessions.dependencies import NavigationGuard
from shoal.agent.spec import JobSpec, PolitenessSpec
from shoal.agent.support.json_value import Json
from shoal.agent.support.loop_thread import LoopThread
from shoal.agent.types import Action, ActionResult, Box, Observation, Outcome, Record
from shoal.agent.worker_messages import Work
from shoal.local import LocalJournal
from shoal.services import logs
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.configs import of_tenant, worker_config
from shoal.services.browsers.reports.artifact_sink import StoredArtifactSink
from shoal.services.browsers.session_parts.real_parts import RealParts
from shoal.services.browsers.session_parts.secrets import FolderSecrets
from shoal.services.browsers.worker import dependencies_of
from shoal.services.settings import load_settings

_SEND = "Send the form with these details."
"""The goal of a call that gives details alone."""
_TENANT = "default"
"""Whose secrets are used: those of a gateway without keys."""


class Page:
    """One open page. `open_page` makes it.

    An element is named by its `bid`, which an observation shows, such as "12" or "a46".

    Attributes:
        context: the browser context below it (`shoal.agent.browser.Context`), for what is not here.
        status: HTTP status of the answer that the page came with; 0 where it came without HTTP.
    """

    def __init__(self, parts: _Parts, context: Context, status: int) -> None:
        self.context = context
        self.status = status
        self._parts = parts
        self._seen: Observation | None = None
        self._hidden = parts.hidden()

    @property
    def url(self) -> str:
        """Address of the active tab."""
        return self.context.url

    async def goto(self, url: str) -> None:
        """Opens another address, with http or https, and waits until the page is quiet. `status` is that of its answer.

        Raises:
            AddressForbidden: it is a private address, and private ones are not allowed.
            NavigationTimeout, HostUnreachable, NavigationError: it cannot be opened.
        """
        await self._open(web_address(url))

    async def _open(self, address: str) -> None:
        await self._parts.navigation_guard(address)
        self.status = (await self.context.goto(address)).status
        await self.context.settle()  # what scripts write comes after the document

    async def observe(self, options: ObserveOptions = ObserveOptions()) -> Observation:
        """The page as a model sees it: `elements` is a tree in which each element that can be acted on has a `bid`.

        `shoal.agent.observe.renderings.render(observation, "text")` is the text of a prompt.

        Raises:
            PageCrashed, BrowserGone: the page is lost.
        """
        self._seen = self._hidden.observation(await self.context.observe(options))
        return self._seen

    async def act(self, call: str | Action, *, dialect: Dialect = "browsergym") -> ActionResult:
        """Takes an action: `await page.act("click('12')")`.

        Args:
            call: an action, or a text in the notation `dialect`; docs/actions.md lists all actions. A text may hold
                several; they are taken in order until one fails.

        Returns:
            The result of the last action that was taken. A failed action is no exception: its `error` is set.

        Raises:
            ReplyUnparsable: the text is not in the notation.
            PageCrashed, BrowserGone: the page is lost.
        """
        if isinstance(call, Action):
            return await self.context.act(call)
        seen = self._seen or await self.observe()
        result: ActionResult | None = None
        for action in await read_reply_on(dialect, call, seen.elements, self.context):
            result = await self.context.act(action)
            if result.error is not None:
                break
        if result is None:
            raise ActionInvalid(f"{call!r} holds no action")
        return result

    async def extract(
        self, schema: Mapping[str, Json] | None = None, *, goal: str | None = None, **places: Json
    ) -> list[Record]:
        """Reads records from the page as it is.

        Args:
            schema: JSON Schema of one record, or of an array of records. It may be left out where `fields` is given.
            goal: what to read, in words.
            places: further fields of a job's `extract`: `fields` (where fields are), `records` (what one record is),
                `next` (the way to further pages), `wait_for`. The guide docs/extracting.md has a recipe for each.

        Returns:
            The records, each valid against the schema; `value` of a record is its JSON, `sources` says where each
            field was found.

        Raises:
            BadSelector: a selector is no CSS.
            FieldsMissing: the page does not show what the schema requires, or not at the place that was given.
            PlaceAmbiguous: a place that was given is several elements that differ.
            RecordInvalid: what the page shows does not fit the schema.
            GoalNeedsModel: the schema names no properties, and no model is configured.
            ModelError: the model server cannot be asked.
        """
        asked = {"schema": dict(schema) if schema is not None else None, "goal": goal, **places}
        spec = self._parts.spec_for(self.url, extract=asked)
        state = SessionState(spec=spec, loop=None, item=None, page=self.context, hidden=self._hidden)
        extracted = await extract_records(self._parts.policy(spec), state)
        assert spec.extract is not None
        checked = await check_records(
            extracted.records, spec.extract, url=self.url, missing=extracted.missing, awaited=extracted.awaited
        )
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        return [
            self._hidden.record(replace(record, url=record.url or self.url, at=record.at or now))
            for record in checked.records
        ]

    async def run(
        self, goal: str | None = None, *, data: Json = None, schema: Mapping[str, Json] | None = None, **fields: Json
    ) -> Outcome:
        """Lets the agent work on this page until the goal is reached or given up; it stays open where the agent ended.

        Args:
            goal: what is wanted, in words. It needs a model (SHOAL_MODEL_URL, SHOAL_MODEL), unless `data` (a form to
                send) or `schema` (records to read) says it.
            data: details for forms.
            schema: JSON Schema of the records to read at the end.
            fields: further fields of a job spec, such as `max_steps=20`.

        Returns:
            How it ended. `status` is `Status.COMPLETED`, `TERMINATED` (the agent gave up: `reason`), `FAILED` (`error`)
            or `UNSURE`; `records` and `answer` are what it gave, `tasks` what it did.

        Raises:
            ValidationError: a field is not one of a job spec.
            ValueError: the job has a loop, whose items need sessions of their own: `shoal.run` has them.
        """
        extract = {} if schema is None else {"extract": {"schema": dict(schema)}}
        spec = self._parts.spec_for(self.url, goal=goal, data=data, **extract, **fields)
        if spec.loop is not None:
            raise ValueError("a loop needs sessions of its own: shoal.run has them")
        self._seen = None
        return await self._parts.run(spec, self.context, self._hidden)

    async def screenshot(self, *, full_page: bool = False, bid: str | None = None, region: Box | None = None) -> Shot:
        """A picture of the window, of the whole page, of one element, or of a region in CSS pixels: `data`, and its
        `content_type`.

        Raises:
            ElementMissing: there is no element with this `bid`.
        """
        return await self.context.screenshot(full_page=full_page, bid=bid, region=region)


@asynccontextmanager
async def open_page(
    url: str,
    *,
    headed: bool = False,
    downloads: str | Path | None = None,
    artifacts: str | Path | None = None,
    helper: Helper | None = None,
    job: Mapping[str, Json] | None = None,
    **settings: object,
) -> AsyncIterator[Page]:
    """A page in a browser of its own, which ends with the context.

        async with shoal.open_page("https://shop.example/") as page:
            print(render(await page.observe(), "text"))
            await page.act("click('12')")

    Private, loopback and link-local addresses are not reached unless `allow_private` or `allow_hosts` says so, by
    whatever way a page leads there. Files of the current folder, and of SHOAL_UPLOAD_DIRS, may be uploaded.

    Args:
        url: address, with http or https; "shop.example" gets https.
        headed: shows the browser's window.
        downloads: folder for files that the page gives. None: they go with the browser.
        artifacts: folder for screenshots, prompts and downloads of `run`. None: they are not kept.
        helper: is asked what only people know: verification codes, captchas, questions.
        job: fields of a job spec that hold for this page: `browser`, `policy`, `politeness`, `secrets`, `totp`, ….
        settings: settings by their name in small letters without `SHOAL_`, such as `allow_private=True` or
            `model_url="http://127.0.0.1:8000/v1"`; they go before the environment.

    Raises:
        BadSetting: a setting is unknown or wrong.
        BrowserNotFound: there is no Chromium.
        AddressForbidden: `url` is a private address, and private ones are not allowed.
        NavigationTimeout, HostUnreachable, NavigationError: it cannot be opened. An HTTP error is none of these: see
            `Page.status`.
    """
    chosen = load_settings(**settings)
    where = replace(
        worker_config(chosen),
        headless=not headed,
        artifacts_url=str(artifacts) if artifacts else "memory:",
    )
    own = of_tenant(where.context, _TENANT)
    limits = replace(
        own,
        downloads_dir=str(downloads) if downloads else None,
        upload_dirs=(*(own.upload_dirs or ()), str(Path.cwd())),
    )
    fields = {"artifacts": {"screenshots": "all" if artifacts else "none"}, **(job or {})}
    async with opened(web_address(url), replace(where, context=limits), job=fields, helper=helper) as page:
        yield page


@asynccontextmanager
async def opened(
    address: str, config: WorkerConfig, *, job: Mapping[str, Json] | None = None, helper: Helper | None = None
) -> AsyncIterator[Page]:
    """`address` in a browser as `config` says; what `open_page` and the command line's `observe` and `act` share."""
    logs.set_up_as_library()
    real = RealParts("local", config)
    try:
        await real.open()
        async with real.owner.lend() as browser:
            parts = _Parts(real, config, browser, dict(job or {}), helper)
            page = Page(parts, await parts.new_context(address), 0)
            await page._open(address)
            yield page
    finally:
        await real.close()


@dataclass(slots=True)
class _Parts:
    """The common parts of the page's calls: a worker's parts, and the stand-ins for a cluster."""

    real: RealParts
    config: WorkerConfig
    browser: Browser
    job: dict[str, Json]  # fields of a job spec that hold for all calls
    helper: Helper | None
    journal: LocalJournal = field(default_factory=LocalJournal)
    numbers: count[int] = field(default_factory=lambda: count(1))
    asked: NavigationGuard | None = None  # that of the session that runs; None: none does

    def spec_for(self, url: str, **fields: Json) -> JobSpec:
        """The job spec of one call on the page at `url`.

        Raises:
            ValidationError: a field is wrong.
        """
        given = {name: value for name, value in fields.items() if value is not None}
        if not given.keys() & {"goal", "extract", "loop"}:
            given["goal"] = _SEND
        # The page is open already, whatever its address is: only the fields are checked.
        return JobSpec.model_validate({"url": "http://localhost/", **self.job, **given}).model_copy(update={"url": url})

    def policy(self, spec: JobSpec, *, leaf: bool = True) -> Any:
        """The policy that decides for this call."""
        return self.real.policy(spec, leaf=leaf)

    async def navigation_guard(self, url: str) -> None:
        """Asked before each page that is opened by address: by the session that runs, or else by the caller.

        The caller decides about robots.txt; where browsers may go holds for both.
        """
        if self.asked is not None:
            await self.asked(url)
            return
        free = self.spec_for(url, goal="-").model_copy(update={"politeness": PolitenessSpec(robots=False)})
        await self.real.navigation_guard(self._work(free), self.journal)(url)

    async def new_context(self, address: str) -> Context:
        """A context for the page, with the hooks that actions ask."""
        spec = self.spec_for(address, goal="-")
        work = self._work(spec)
        secrets = self._secrets(spec)
        hooks = Hooks(navigation_guard=self.navigation_guard, fetch=StoredArtifactSink(self.real.artifacts, work).fetch)
        options = replace(
            await self.real.context(work),
            browser=spec.browser,
            accept_dialogs=spec.browser.dialogs == "accept",
            hooks=helping(hooks, spec, lambda name, url: str(secrets.resolve(name, url)), self.helper),
        )
        return await self.browser.new_context(options)

    def hidden(self) -> Redactor:
        """Return what no call shows: the secrets that the page may be given."""
        redactor = Redactor()
        for reference, value in self._secrets(self.spec_for("http://localhost/", goal="-")).granted().items():
            redactor.learn(reference, value)
        return redactor

    def _secrets(self, spec: JobSpec) -> FolderSecrets:
        return FolderSecrets(self.config.secrets_dir, _TENANT, spec)

    async def run(self, spec: JobSpec, context: Context, hidden: Redactor) -> Outcome:
        """One session on the page that is open."""
        work = self._work(spec)
        self.asked = self.real.navigation_guard(work, self.journal)
        try:
            deps = await dependencies_of(self.real, self.config, work, self.browser, self.asked, self.journal)
            return await session.run(work, replace(deps, page=context, hidden=hidden, helper=self.helper))
        finally:
            self.asked = None
            self.real.ended(work)

    def _work(self, spec: JobSpec) -> Work:
        number = next(self.numbers)
        return Work(
            session=number,
            fence=1,
            job=number,
            tenant=_TENANT,
            attempt=1,
            depth=0,
            spec=spec,
            item=None,
            checkpoint=None,
            children=None,
            seconds_left=spec.deadline_s,
        )


class SyncPage:
    """A `Page` whose calls block. `open_page_sync` makes it; each method is that of `Page`."""

    def __init__(self, page: Page, thread: LoopThread) -> None:
        self._page = page
        self._thread = thread

    @property
    def url(self) -> str:
        """Address of the active tab."""
        return self._page.url

    @property
    def status(self) -> int:
        """HTTP status of the answer that the page came with."""
        return self._page.status

    def goto(self, url: str) -> None:
        """See `Page.goto`."""
        self._thread.run(self._page.goto(url))

    def observe(self, options: ObserveOptions = ObserveOptions()) -> Observation:
        """See `Page.observe`."""
        return self._thread.run(self._page.observe(options))

    def act(self, call: str | Action, *, dialect: Dialect = "browsergym") -> ActionResult:
        """See `Page.act`."""
        return self._thread.run(self._page.act(call, dialect=dialect))

    def extract(
        self, schema: Mapping[str, Json] | None = None, *, goal: str | None = None, **places: Json
    ) -> list[Record]:
        """See `Page.extract`."""
        return self._thread.run(self._page.extract(schema, goal=goal, **places))

    def run(
        self, goal: str | None = None, *, data: Json = None, schema: Mapping[str, Json] | None = None, **fields: Json
    ) -> Outcome:
        """See `Page.run`."""
        return self._thread.run(self._page.run(goal, data=data, schema=schema, **fields))

    def screenshot(self, *, full_page: bool = False, bid: str | None = None, region: Box | None = None) -> Shot:
        """See `Page.screenshot`."""
        return self._thread.run(self._page.screenshot(full_page=full_page, bid=bid, region=region))


@contextmanager
def open_page_sync(
    url: str,
    *,
    headed: bool = False,
    downloads: str | Path | None = None,
    artifacts: str | Path | None = None,
    helper: Helper | None = None,
    job: Mapping[str, Json] | None = None,
    **settings: object,
) -> Iterator[SyncPage]:
    """The same as `open_page`, for programs without asyncio; it works in notebooks too."""
    thread = LoopThread("shoal-page")
    opening = open_page(
        url, headed=headed, downloads=downloads, artifacts=artifacts, helper=helper, job=job, **settings
    )
    try:
        page = thread.run(opening.__aenter__())
        try:
            yield SyncPage(page, thread)
        finally:
            thread.run(opening.__aexit__(None, None, None))
    finally:
        thread.close()
