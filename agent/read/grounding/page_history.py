"""The pages that a model was shown in a session, for jobs that want more than the last one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShownPage:
    """One page as a model saw it."""

    step: int  # which step of the mini goal was decided on it, from 0
    url: str
    text: str  # as it was rendered
    images: tuple[bytes, ...] = ()
