"""Whether a loop learns from its first items."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.agent.policies.policy import Policy
from shoal.agent.support.web_addresses import address_parts
from shoal.agent.types import LearningLoop, LoopItem
from shoal.agent.worker_messages import Work
from shoal.agent.workflows.format.workflow import goal_hash, schema_hash

MOST_WITHOUT = 20
"""Items of a loop that is worked out by the model as a whole: learning takes eight of them."""


def learns(work: Work, policy: Policy, items: Sequence[LoopItem], n: int) -> LearningLoop | None:
    """What a loop of `n` items learns for; None where it does not learn.

    Args:
        work: of the session that opens the loop.
        policy: of that session.
        items: the first items of the loop.
    """
    spec = work.spec
    named = spec.learn not in ("auto", "off")
    if spec.learn == "off" or policy.instant or spec.sample is not None or spec.login is not None:
        return None
    if spec.loop_at(work.depth + 1) is not None or (not named and n <= MOST_WITHOUT):
        return None
    extract = spec.extract
    if extract is not None and (extract.many or extract.fields):
        return None
    first = items[0]
    page = first.value if first.is_link else first.page or spec.url
    schema = extract.record_schema if extract is not None else None
    return LearningLoop(
        site=address_parts(page).netloc.rpartition("@")[2].lower(),
        goal=goal_hash(spec.goal),
        record_schema=schema_hash(schema),
        workflow=spec.learn if named else "",
    )
