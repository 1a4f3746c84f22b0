"""The words by which people look a job up: goals, address and labels, in lower case."""

from __future__ import annotations

from shoal.agent.spec import JobSpec

_MOST = 4_000
"""Characters that are kept: what a job is about stands at its beginning."""


def words_of(spec: JobSpec) -> str:
    """The words of a job."""
    goal = spec.extract.goal if spec.extract is not None else None
    parts = [part for part in (spec.goal, goal, spec.url) if part]
    parts += [f"{name}:{value}" for name, value in spec.labels.items()]
    return "\n".join(parts).lower()[:_MOST].replace("\0", " ")
