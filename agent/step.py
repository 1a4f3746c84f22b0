"""One step decision: which actions to take on this page."""

from __future__ import annotations

from dataclasses import dataclass

from agent.types import Action


@dataclass(frozen=True, slots=True)
class StepDecision:
    """What a policy wants to do on the page that it has just seen.

    `actions` may end with the control primitives `complete` (the mini goal is reached) or `terminate` (it cannot be
    reached; its `errors` are the caller's codes). With no action at all the page is looked at again.
    """

    thought: str
    actions: tuple[Action, ...]
    prompt: str | None = None  # prompt and reply as text, kept as an artifact when a model was asked
