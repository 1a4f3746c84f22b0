"""Learning by a loop from its first items, and an item's policy in it."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.agent.policies.policy import Policy
from shoal.agent.policies.workflow import DocumentPolicy, ParallelRunPolicy, WorkflowPolicy
from shoal.agent.spec import JobSpec
from shoal.agent.support.web_addresses import address_parts
from shoal.agent.sureness import Audited
from shoal.agent.types import FieldGlossary, LearningLoop, LoopItem, Replay
from shoal.agent.worker_messages import LearnedUse, Work
from shoal.agent.workflows.format.workflow import goal_hash, schema_hash

MOST_WITHOUT = 20
"""Items of a loop that is worked out by its baseline as a whole: learning takes eight of them."""
_BY_RULES = "read by the rules"
"""Stands before the goal in the scope of what the rules have taught. What a model has taught is another workflow: where
the two read a page differently, neither must break the other's."""


def learns(
    work: Work, policy: Policy, items: Sequence[LoopItem], n: int, glossary: FieldGlossary | None = None
) -> LearningLoop | None:
    """Return what a loop of `n` items learns for;
    None where it does not learn.

    Args:
        work: of the session that opens the loop.
        policy: of that session.
        items: the first items of the loop.
        glossary: that the rules read its items by.
    """
    spec = work.spec
    named = spec.learn not in ("auto", "off")
    if spec.learn == "off" or spec.sample is not None or spec.login is not None or spec.policy.startswith("workflow:"):
        return None
    if spec.loop_at(work.depth + 1) is not None or (not named and n <= MOST_WITHOUT):
        return None
    extract = spec.extract
    if extract is not None and (extract.many or extract.fields):
        return None
    if policy.instant and (named or not _rules_teach(spec, items)):
        return None
    first = items[0]
    page = first.value if first.is_link else first.page or spec.url
    schema = extract.record_schema if extract is not None else None
    return LearningLoop(
        site=address_parts(page).netloc.rpartition("@")[2].lower(),
        goal=goal_hash(_taught_by_rules(spec, glossary) if policy.instant else spec.goal),
        record_schema=schema_hash(schema),
        workflow=spec.learn if named else "",
    )


def _rules_teach(spec: JobSpec, items: Sequence[LoopItem]) -> bool:
    """Return whether the rules can teach how to read such items from their documents.

    What they teach serves documents alone, so nothing is learned where the job wants pages to be opened.
    """
    shaped = spec.extract is not None and spec.extract.record_schema is not None
    return shaped and spec.data is None and all(item.is_link for item in items) and spec.allows_documents


def _taught_by_rules(spec: JobSpec, glossary: FieldGlossary | None) -> str:
    """The goal of what the rules teach, with all else that their readings depend on."""
    accepted = spec.extract.accept if spec.extract is not None else ""
    read_by = f", {schema_hash(glossary.entries)}" if glossary is not None and glossary.entries else ""
    return f"{_BY_RULES}, {accepted}, {spec.browser.locale or ''}{read_by}: {spec.goal or ''}"


def teaches(work: Work, policy: Policy) -> bool:
    """Return whether what happens now is kept as evidence:
    what a model does always is, what rules do where a loop learns.

    A run of which only the end is seen teaches nothing: of what a workflow did before it missed, and of what an
    attempt did that was lost, there is no evidence. The steps behind it alone would be another way to do the item.
    """
    if _goes_on(work) or (isinstance(policy, WorkflowPolicy) and policy.has_acted):
        return False
    if not policy.instant:
        return True
    if isinstance(policy, DocumentPolicy):
        return policy.missed
    return work.learned in (LearnedUse.TEACH, LearnedUse.SHADOW)


def _goes_on(work: Work) -> bool:
    """Return whether an earlier attempt has done steps already."""
    known = work.checkpoint
    return known is not None and (bool(known.steps) or any(task.steps for task in known.history))


def replayed_by(policy: Policy) -> tuple[str, Audited]:
    """The workflow that read the page, with its version ("" for none), and what an audit said of it."""
    if isinstance(policy, (WorkflowPolicy, DocumentPolicy)):
        return policy.read_by, policy.replay.audit
    return "", ""


def replay_of(policy: Policy) -> Replay | None:
    """Return what became of a workflow that was replayed or compared; None where there is none."""
    return policy.replay if isinstance(policy, (WorkflowPolicy, DocumentPolicy, ParallelRunPolicy)) else None
