"""Orders of a person who has taken over a session's page, and their meaning for the worker."""

from __future__ import annotations

import secrets
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from shoal.agent.actions.schema import arguments
from shoal.agent.errors import AgentError
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action
from shoal.services.errors import BadInput
from shoal.services.live_messages import Act, DialogReply, HandBack, Keep, Order, Take

Verb = Literal["take", "keep", "click", "type", "key", "scroll", "open", "back", "answer", "hand_back"]
LOGGED = frozenset({"take", "hand_back"})
"""Orders that the audit log has; the rest are steps of the session."""
_NEEDED: dict[str, tuple[str, ...]] = {
    "click": ("x", "y"),
    "type": ("text",),
    "key": ("key",),
    "scroll": ("x", "y", "dx", "dy"),
    "open": ("url",),
    "answer": ("accept",),
}


class TakeoverBody(BaseModel):
    """One thing that a person does. Coordinates are CSS pixels of the page's window."""

    model_config = ConfigDict(extra="forbid", strict=True)

    do: Verb = Field(
        description="take: ask for the page; keep: say that the person is there, every few seconds; answer: a dialog "
        "of the page; hand_back: the agent goes on"
    )
    lease: str = Field("", max_length=64, description="what `take` gave; all others need it")
    x: float | None = Field(None, ge=0, le=100_000)
    y: float | None = Field(None, ge=0, le=100_000)
    dx: float | None = Field(None, ge=-100_000, le=100_000, description="of scroll: to the right")
    dy: float | None = Field(None, ge=-100_000, le=100_000, description="of scroll: down")
    button: Literal["left", "middle", "right"] = "left"
    double: bool = Field(False, description="of click")
    text: str | None = Field(None, max_length=10_000, description="to type, or to answer a prompt with")
    key: str | None = Field(None, max_length=100, description="a key or a combination, such as `Control+a`")
    url: str | None = Field(None, max_length=10_000, description="of open")
    accept: bool | None = Field(None, description="of answer")
    said: str = Field("", max_length=2_000, description="of hand_back: a sentence that the agent reads")
    done: bool = Field(False, description="of hand_back: what the agent was about to do is done")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        missing = [name for name in _NEEDED.get(self.do, ()) if getattr(self, name) is None]
        if self.do != "take" and not self.lease:
            missing.append("lease")
        if missing:
            raise ValueError(f"{self.do} needs {', '.join(missing)}")
        return self


def order_of(body: TakeoverBody, name: str) -> Order:
    """Return what the worker is told;
    a `take` has a new lease.

    Raises:
        BadInput: the action's arguments are not valid.
    """
    number, lease = secrets.token_hex(8), body.lease
    if body.do == "take":
        return Take(id=number, lease=lease or secrets.token_urlsafe(24), name=name)
    if body.do == "keep":
        return Keep(id=number, lease=lease)
    if body.do == "answer":
        return DialogReply(id=number, lease=lease, accept=bool(body.accept), text=body.text or "")
    if body.do == "hand_back":
        return HandBack(id=number, lease=lease, said=body.said, done=body.done)
    action, args = _action(body)
    try:
        arguments(Action(action, args))
    except AgentError as error:
        raise BadInput(error.message, errors=[{"field": "body", "reason": error.message}]) from None
    return Act(id=number, lease=lease, action=action, args=args)


def _action(body: TakeoverBody) -> tuple[str, dict[str, Json]]:
    if body.do == "click":
        return "mouse_dblclick" if body.double else "mouse_click", {"x": body.x, "y": body.y, "button": body.button}
    if body.do == "type":
        return "keyboard_type", {"text": body.text}
    if body.do == "key":
        return "keyboard_press", {"key_comb": body.key}
    if body.do == "scroll":
        return "scroll_at", {"x": body.x, "y": body.y, "dx": body.dx, "dy": body.dy}
    return ("goto", {"url": body.url}) if body.do == "open" else ("go_back", {})
