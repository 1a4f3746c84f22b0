"""The policy of an item whose loop has learned from the rules: a workflow reads documents, and the rules read pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from shoal.agent.errors import FieldsMissing
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.models.decisions.step import StepDecision
from shoal.agent.policies.policy import Extraction, Policy, SessionState
from shoal.agent.policies.workflow.auditing import Audit, audit
from shoal.agent.policies.workflow.policy import field_hits
from shoal.agent.types import LoopItem, Replay, Step
from shoal.agent.workflows.divergences import DivergenceReason
from shoal.agent.workflows.format.branch import ChannelFamily
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.replay.pages import read_document, read_rendered
from shoal.agent.workflows.verdict import PageRead


class DocumentPolicy:
    """Lets a workflow read the item's document. It holds no guess: each record is the rules', or the document's.

    The rules read every page that a browser opens: of a document that misses, of an item that is audited, and of the
    samples by which documents are held to pages. The workflow reads such a page too, and where it says something else
    than the rules, it is wrong.

    Args:
        name: of the workflow.
        version: reads pages, and does nothing on them.
        rules: the baseline.
        audited: the rules read the page, whatever the document says.
    """

    instant = True
    """Neither documents nor rules ask a model."""

    def __init__(self, name: str, version: Version, rules: Policy, *, audited: bool = False) -> None:
        self._title = f"{name}@{version.number}"
        self._version = version
        self._rules = rules
        self._audited = audited
        self._replay = Replay(name, version.number, whole=True)
        self._channels: Mapping[str, tuple[ChannelFamily, ...]] = {}
        self.read_by = ""  # the workflow that read the record, with its version; "": the rules read it

    @property
    def replay(self) -> Replay:
        """Return what became of the reading so far."""
        return self._replay

    @property
    def hits(self) -> Iterator[tuple[str, str]]:
        """Return what fields were read by, as of a `WorkflowPolicy`."""
        return field_hits(self._channels)

    @property
    def missed(self) -> bool:
        """Return whether the page teaches something: the workflow does not read it as the rules do."""
        return not self._replay.whole

    async def plan(self, state: SessionState) -> Plan:
        """The rules' plan."""
        return await self._rules.plan(state)

    async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
        """The rules' step."""
        return await self._rules.step(state, goal, steps)

    async def collect(self, state: SessionState, plan: Plan) -> AsyncIterator[LoopItem]:
        """The rules' items."""
        async for item in self._rules.collect(state, plan):
            yield item

    async def extract(self, state: SessionState) -> Extraction:
        """The document's record; what the rules read, where there is none or the item is audited."""
        extract = state.spec.extract
        schema = extract.record_schema if extract is not None else self._version.record_schema
        locale = state.spec.browser.locale or ""
        asked = (state.page, self._version.branches, state.item, schema)
        document = await read_document(*asked, locale=locale)
        enough = document is not None and document.record is not None
        if document is not None and document.record is not None and not self._audited:
            self._read(document)
            return Extraction((document.record,), valid=extract is not None and not extract.many)
        rendered = partial(read_rendered, *asked, locale=locale)
        if document is not None and not enough:
            await rendered()  # so that it is known of the site's documents that this one was not enough
        return await self._ruled(state, document if enough else None, rendered)

    async def _ruled(
        self, state: SessionState, document: PageRead | None, rendered: Callable[[], Awaitable[PageRead]]
    ) -> Extraction:
        """Return what the rules read, and whether the workflow reads the same from the document or the page.

        Args:
            document: what the workflow read from it; None: no record.
        """
        lacking: list[FieldsMissing] = []

        async def read() -> Extraction:
            try:
                return await self._rules.extract(state)
            except FieldsMissing as error:
                if error.details.get("awaited"):  # the page still loads: it says nothing of the workflow
                    self._miss(DivergenceReason.LOADING)
                    raise
                lacking.append(error)
                return Extraction(())

        ruled = await read()
        page = await rendered()  # now: the rules have waited for what they miss
        replayed = document or page
        if replayed.record is None:
            self._miss(*(miss.reason for miss in page.misses))
            judged = Audit("", ruled)
        else:
            self._channels = replayed.hits
            judged = await audit(replayed.record, ruled, read, exact=True)
            if judged.verdict != "right":
                self._miss(DivergenceReason.AUDIT)
                by = self._version.branch_key(replayed.branch)
                self._replay = replace(self._replay, audit=judged.verdict, differing=judged.differing, branches=by)
            elif self._audited:
                self._read(replayed)
                self._replay = replace(self._replay, audit=judged.verdict)
        if lacking and not judged.reading.records:
            raise lacking[-1]
        return judged.reading

    def _read(self, page: PageRead) -> None:
        """Notes that the workflow read the record."""
        self.read_by, self._channels = self._title, page.hits
        self._replay = replace(self._replay, branches=self._version.branch_key(page.branch))

    def _miss(self, *reasons: DivergenceReason) -> None:
        self._replay = replace(self._replay, whole=False, misses=tuple(map(str, reasons)))
