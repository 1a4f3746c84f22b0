"""The policy that replays a workflow, and hands over to the policy behind it where a page is not as it was learned."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from shoal.agent.errors import ModelError, UnsureAction, WorkflowMiss
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.models.decisions.step import StepDecision
from shoal.agent.policies.policy import Extraction, Policy, SessionState
from shoal.agent.policies.workflow.auditing import audit
from shoal.agent.replay_detail import IntendedAction, LocatorCount
from shoal.agent.support.json_value import Json
from shoal.agent.sureness import Audited
from shoal.agent.types import Action, LoopItem, Record, Replay, Step
from shoal.agent.workflows.divergences import Divergence, DivergenceReason
from shoal.agent.workflows.elements.describing import count
from shoal.agent.workflows.elements.finding import find
from shoal.agent.workflows.format.branch import ChannelFamily
from shoal.agent.workflows.format.node import ActionNode, BranchNode, ExtractNode, GuardNode, Node, WaitNode
from shoal.agent.workflows.format.target import Family, Target
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.replay.conditions import condition_miss
from shoal.agent.workflows.replay.pages import replay_page
from shoal.agent.workflows.replay.values import values_of
from shoal.agent.workflows.replay.waiting import wait_for_conditions
from shoal.agent.workflows.verdict import FieldRead, Found


def field_hits(channels: Mapping[str, tuple[ChannelFamily, ...]]) -> Iterator[tuple[str, str]]:
    """Yield what fields were read by: `field`, and each family of places that agreed."""
    for families in channels.values():
        yield from (("field", family) for family in families)


_SETTLE_S = 3.0
"""Seconds that a page may take for the effect of an earlier action, before its absence is a miss."""


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """The report of one replay: for the result, the statistics and the dashboard."""

    name: str  # of the workflow
    version: int
    done: tuple[str, ...] = ()  # nodes
    misses: tuple[Divergence, ...] = ()
    missed_at: tuple[str, ...] = ()  # the node of each miss
    handed_over: bool = False  # the policy behind went on
    branch: str = ""  # that the record was read by
    read_by: tuple[str, ...] = ()  # the branches that read the records so far, each once
    channels: Mapping[str, tuple[ChannelFamily, ...]] | None = None  # that agreed, by field
    locators: Mapping[str, tuple[Family, ...]] | None = None  # that agreed, by node
    audit: Audited = ""  # what the model's own reading said of the record
    differing: tuple[str, ...] = ()  # fields that it read otherwise
    fields: Mapping[str, FieldRead] = field(default_factory=dict)  # of the page that was read last
    intended: IntendedAction | None = None  # given to the session, and not confirmed
    counts: tuple[LocatorCount, ...] = ()  # of a sample: what the locators of its nodes found, where they were used


class WorkflowPolicy:
    """Replays `version` in one session. It keeps where it is, so each session needs its own.

    Args:
        name: of the workflow, for the history and the report.
        version: what is replayed.
        behind: who goes on after a miss; None: a miss ends the session with `WorkflowMiss`, and nothing was guessed.
    """

    def __init__(self, name: str, version: Version, behind: Policy | None = None) -> None:
        self._name = name
        self._version = version
        self._behind = behind
        self._at: str | None = version.first
        self._running: ActionNode | None = None  # whose action was given to the session
        self.has_acted = False  # an action was given to the session
        self._values: Mapping[str, Json] | None = None
        self._sent: ActionNode | None = None  # the last node that may have sent something
        self._report = ReplayReport(name, version.number)
        self._audited = False

    def to_be_audited(self) -> WorkflowPolicy:
        """Itself; from now on the policy behind reads each page again that was read without it."""
        self._audited = self._behind is not None
        return self

    @property
    def replay(self) -> Replay:
        """Return what became of the replay so far, as the store counts it."""
        report = self._report
        reasons = tuple(str(miss.reason) for miss in report.misses)
        whole = not report.handed_over and not reasons
        return Replay(
            report.name,
            report.version,
            whole,
            reasons,
            audit=report.audit,
            differing=report.differing,
            missed_at=report.missed_at,
            branches="+".join(map(self._version.branch_key, report.read_by)),
        )

    @property
    def read_by(self) -> str:
        """The workflow that read the page, with its version; "" where it did not."""
        report = self._report
        return self._title if report.branch and not report.handed_over else ""

    @property
    def hits(self) -> Iterator[tuple[str, str]]:
        """Yield what elements and fields were found by: `element` or `field`, and the family that agreed, each time."""
        for families in (self._report.locators or {}).values():
            yield from (("element", family) for family in families)
        yield from field_hits(self._report.channels or {})

    @property
    def version(self) -> Version:
        """Return what it replays."""
        return self._version

    @property
    def report(self) -> ReplayReport:
        """Return what it did so far."""
        return self._report

    @property
    def instant(self) -> bool:
        """True until a policy that asks a model has taken over."""
        return not self._report.handed_over or (self._behind is not None and self._behind.instant)

    # --- the policy ----------------------------------------------------------------------------------

    async def plan(self, state: SessionState) -> Plan:
        """The next mini goal: nodes up to the next extraction, or that extraction."""
        if self._hands_on(state):
            return await self._next(state).plan(state)
        if self._at is None and self._running is None:
            return Plan(user_goal_achieved=True, thoughts=f"replayed {self._title}")
        node = self._version.node(self._at) if self._at is not None else None
        if isinstance(node, ExtractNode) and self._running is None:
            return Plan(plan=f"read the page by {self._title}", task_type="extract")
        return Plan(plan=f"replay {self._title}", task_type="navigate")

    async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
        """The next node's action; `complete` before an extraction and at the end."""
        if self._hands_on(state):
            return await self._next(state).step(state, goal, steps)
        miss = await self._confirm(state, steps)
        while miss is None and self._at is not None:
            node = self._version.node(self._at)
            if isinstance(node, ExtractNode):
                break
            made = await self._do(state, node)
            if isinstance(made, Action):
                return StepDecision(f"{self._title}: {node.id} {node.says}".strip(), (made,))
            miss = made if made is None else self._after_miss(node, made)
        if miss is None:
            return StepDecision(f"{self._title}: done so far", (Action("complete"),))
        self._hand_over(miss)
        # The mini goal names the replay; what the policy behind has to reach from here is the job's goal.
        return await self._next(state).step(state, state.spec.goal or goal, steps)

    async def extract(self, state: SessionState) -> Extraction:
        """The record of the open page, where every guard lets it pass."""
        if self._hands_on(state):
            return await self._next(state).extract(state)
        node = self._version.node(self._at) if self._at is not None else None
        if not isinstance(node, ExtractNode):
            self._hand_over(
                Divergence(DivergenceReason.UNSUPPORTED, self._at or "end", "the workflow reads nothing here")
            )
            return await self._next(state).extract(state)
        if (early := await self._before_reading(state, node)) is not None:
            self._hand_over(self._ended(node, early))
            return await self._next(state).extract(state)
        branches = [branch for branch in self._version.branches if not node.branches or branch.id in node.branches]
        schema = state.spec.extract.record_schema if state.spec.extract is not None else self._version.record_schema
        item = state.item if not self._version.acts else None  # after actions the page is no longer the item's link
        read = await replay_page(state.page, branches, item, schema, locale=state.spec.browser.locale or "")
        self._report = replace(self._report, branch=read.branch, channels=read.hits, fields=read.fields)
        if read.record is None:
            for miss in read.misses[1:]:
                self._note(miss, node.id)
            self._hand_over(self._ended(node, read.misses[0]))
            return await self._next(state).extract(state)
        read_by = dict.fromkeys((*self._report.read_by, read.branch))
        self._report = replace(self._report, read_by=tuple(read_by))
        self._passed(node)
        return await self._audit(state, node, read.record) if self._audited else Extraction((read.record,))

    async def _before_reading(self, state: SessionState, node: ExtractNode) -> Divergence | None:
        """Which condition before the extraction does not hold."""
        if not node.pre:
            return None
        values = self._parameter_values(state)
        if isinstance(values, Divergence):
            return values
        return await wait_for_conditions(state.page, node.pre, values, where=node.id, budget_s=_SETTLE_S)

    def _ended(self, node: ExtractNode, miss: Divergence) -> Divergence:
        """The miss of an extraction.

        Raises:
            WorkflowMiss: the node says that a miss ends the item.
        """
        kept = self._after_miss(node, miss)
        assert kept is not None, "an extraction has no other way on"
        return kept

    async def _audit(self, state: SessionState, node: ExtractNode, record: Record) -> Extraction:
        """The record, where the policy behind reads the same. What it reads twice otherwise takes its place.

        Where all its readings differ nothing is known of the page, and the policy behind goes on.
        """
        behind = self._next(state)
        try:
            judged = await audit(record, await behind.extract(state), lambda: behind.extract(state))
        except ModelError:
            self._report = replace(self._report, audit="not_done")
            return Extraction((record,))
        self._report = replace(self._report, audit=judged.verdict, differing=judged.differing)
        if judged.verdict == "right":
            return Extraction((record,))
        message = f"a model reads {', '.join(judged.differing)} otherwise: {judged.verdict}"
        self._hand_over(Divergence(DivergenceReason.AUDIT, "record", message), node.id)
        return judged.reading

    async def collect(self, state: SessionState, plan: Plan) -> AsyncIterator[LoopItem]:
        """The items of a loop are found by the policy behind."""
        async for item in self._next(state).collect(state, plan):
            yield item

    # --- nodes ---------------------------------------------------------------------------------------

    async def _do(self, state: SessionState, node: Node) -> Action | Divergence | None:
        """The node's action; None where it is done without one."""
        values = self._parameter_values(state)
        if isinstance(values, Divergence):
            return values
        miss = await wait_for_conditions(state.page, node.pre, values, where=node.id, budget_s=_SETTLE_S)
        if miss is not None:
            return miss
        match node:
            case ActionNode():
                return await self._action(state, node, values)
            case WaitNode():
                miss = await wait_for_conditions(state.page, node.until, values, where=node.id, budget_s=node.timeout_s)
            case GuardNode():
                miss = await condition_miss(state.page, node.holds, values, where=node.id)
            case BranchNode():
                await state.page.settle(budget_s=_SETTLE_S)  # what a case asks for may come a moment later
                for case in node.cases:
                    if await condition_miss(state.page, case.when, values, where=node.id) is None:
                        self._passed(node, case.to)
                        return None
            case _:  # of a version that was stored before such nodes were refused
                miss = Divergence(DivergenceReason.UNSUPPORTED, node.id, f"a {node.kind} node is not run")
        if miss is None:
            self._passed(node)
        return miss

    async def _action(self, state: SessionState, node: ActionNode, values: Mapping[str, Json]) -> Action | Divergence:
        args = {name: arg.filled(dict(values)) for name, arg in node.args.items()}
        if node.submits and node.post and await condition_miss(state.page, node.post, values, where=node.id) is None:
            reason = "what says that it was taken stands on the page before it is done"
            return Divergence(DivergenceReason.CONDITION, node.id, reason)
        if node.target is not None:
            if state.spec.sample is not None:
                await self._count(state, node.id, node.target)
            located = await self._find_element(state, node)
            if located.miss is not None:
                return located.miss
            args["bid"] = located.bid
            self._report = replace(self._report, locators={**(self._report.locators or {}), node.id: located.by})
        self._running, self.has_acted = node, True
        name = node.target.name if node.target is not None else ""
        families = (self._report.locators or {}).get(node.id, ())
        shown = {key: value for key, value in args.items() if key != "bid"}
        intended = IntendedAction(node.id, node.action, shown, name or node.says, families)
        self._report = replace(self._report, intended=intended)
        # A sample ends before what may be done once only, as it does before what sends.
        submits = node.submits or (node.once and state.spec.sample is not None)
        return Action(node.action, args, f"as {self._title} says", submits=submits, target=name)

    async def _count(self, state: SessionState, node: str, target: Target) -> None:
        """Notes how many elements each locator finds on the page where the node is done."""
        url, counts = state.page.url, await count(state.page, target)
        ways = zip(target.locators, counts, strict=True)
        counted = [LocatorCount(node, way.family, way.value, number, url) for way, number in ways]
        self._report = replace(self._report, counts=(*self._report.counts, *counted))

    async def _find_element(self, state: SessionState, node: ActionNode) -> Found:
        """The node's element; where it is not there yet, the page is given time."""
        assert node.target is not None
        strict = node.once or node.submits
        located = await find(state.page, node.target, where=node.id, once=strict, posted=bool(node.post))
        if located.miss is None or located.miss.reason is DivergenceReason.UNSUPPORTED:
            return located
        await state.page.settle(budget_s=_SETTLE_S)
        return await find(state.page, node.target, where=node.id, once=strict, posted=bool(node.post))

    async def _confirm(self, state: SessionState, steps: Sequence[Step]) -> Divergence | None:
        """Return the miss where the action that was given last did not do what it does in all runs learned from.

        Raises:
            UnsureAction: it may have sent something, and the page does not say that it was taken.
        """
        node, self._running = self._running, None
        if node is None:
            return None
        self._report = replace(self._report, intended=None)
        result = steps[-1].results[-1] if steps and steps[-1].results else None
        if result is None or result.error is not None:
            reason = result.error.message if result is not None and result.error is not None else "it was not done"
            miss: Divergence | None = Divergence(DivergenceReason.ACTION, node.id, reason)
        else:
            if node.submits:
                self._sent = node
            values = self._parameter_values(state)
            miss = (
                values
                if isinstance(values, Divergence)
                else await wait_for_conditions(state.page, node.post, values, where=node.id, budget_s=_SETTLE_S)
            )
            if miss is not None and node.submits:
                raise UnsureAction(f"{self._title} did {node.id} ({node.says}), and then: {miss.detail}")
        if miss is None:
            self._passed(node)
            return None
        return self._after_miss(node, miss)

    def _after_miss(self, node: Node, miss: Divergence) -> Divergence | None:
        """The miss that ends the replay; None where the node says another way.

        Raises:
            WorkflowMiss: the node says that a miss ends the item.
        """
        if node.on_miss == "branch" and node.otherwise is not None:
            self._note(miss, node.id)
            self._at = node.otherwise
            return None
        if node.on_miss == "fail":
            self._note(miss, node.id)
            raise WorkflowMiss(f"{self._title}, {miss.where}: {miss.detail}", reason=miss.reason.value)
        return miss

    # --- where it is ---------------------------------------------------------------------------------

    @property
    def _title(self) -> str:
        return f"{self._name}@{self._version.number}"

    def _passed(self, node: Node, to: str | None = None) -> None:
        self._at = to if to is not None else node.next
        self._report = replace(self._report, done=(*self._report.done, node.id))

    def _parameter_values(self, state: SessionState) -> Mapping[str, Json] | Divergence:
        if self._values is None:
            values = values_of(self._version, state.spec.data, state.item, state.records)
            if isinstance(values, Divergence):
                return values
            self._values = values
        return self._values

    def _hands_on(self, state: SessionState) -> bool:
        """Return whether the policy behind decides:
        after a miss, and for a session that has a loop of its own to do.
        """
        return self._report.handed_over or state.loop is not None

    def _hand_over(self, miss: Divergence, node: str = "") -> None:
        self._note(miss, node or self._at or "end")
        self._report = replace(self._report, handed_over=True)

    def _note(self, miss: Divergence, node: str) -> None:
        report = self._report
        self._report = replace(report, misses=(*report.misses, miss), missed_at=(*report.missed_at, node))

    def _next(self, state: SessionState) -> Policy:
        """The policy behind.

        Raises:
            WorkflowMiss: there is none.
        """
        if self._behind is not None:
            return self._behind
        reasons_text = "; ".join(f"{miss.where}: {miss.detail}" for miss in self._report.misses)
        reasons = tuple(miss.reason.value for miss in self._report.misses)
        raise WorkflowMiss(
            f"{self._title} on {state.page.url}: {reasons_text or 'a loop is no part of it'}", reasons=reasons
        )
