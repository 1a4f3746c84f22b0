"""From a session's state to the messages of one request, in the order that a prefix cache wants."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from shoal.agent.errors import PromptTooLong
from shoal.agent.models.model import Image, Message
from shoal.agent.policies.model.requests.history import task_lines
from shoal.agent.policies.model.requests.shared_frames import Framed
from shoal.agent.policies.policy import SessionState
from shoal.agent.support.json_value import Json
from shoal.agent.types import Observation
from shoal.prompts import render_parts

T = TypeVar("T")


def messages_for(prompt: str, images: Sequence[Image], variables: Mapping[str, Json]) -> tuple[Message, ...]:
    """A prompt with a head of its own as messages; images stand right before the page that they show."""
    parts = dict(render_parts(prompt, **variables))
    head = parts.pop("head")
    fixed = "\n\n".join(parts[name] for name in ("job", "task") if name in parts)
    shown = "\n\n".join(parts[name] for name in ("page", "now") if name in parts)
    return Message("system", head), Message("user", fixed), Message("user", shown, tuple(images))


def session_messages(
    prompt: str,
    variables: Mapping[str, Json],
    images: Sequence[Image] = (),
    earlier: Sequence[Message] = (),
) -> tuple[Message, ...]:
    """A decision of a browser session as messages, in the order that a prefix cache wants.

    What all sessions share, what all decisions of a job share, what all decisions on a page share, its pictures; what
    was seen before, and at last what is asked for. The last message is what differs between two decisions on one page.
    """
    parts = dict(render_parts(prompt, **variables))
    pictures = (Message("user", parts.get("pictures", ""), tuple(images)),) if images else ()
    return (
        Message("system", parts["head"]),
        Message("user", "\n\n".join(parts[name] for name in ("job", "frame") if name in parts)),
        Message("user", parts["page"]),
        *pictures,
        *earlier,
        Message("user", "\n\n".join(parts[name] for name in ("task", "now") if name in parts)),
    )


def session_variables(state: SessionState, chars: int) -> dict[str, Json]:
    """Return what a session was given and has done so far, told with some `chars` characters at most."""
    return {"item": state.item, "tasks": task_lines(state.history, chars)}


def page_variables(seen: Observation, framed: Framed, now: datetime, *, part: int = 0) -> dict[str, Json]:
    """Return what is on the page now."""
    return {
        "page": seen,
        "runs": framed.runs,
        "frame": framed.frame,
        "part": part,
        "now": f"{now:%A, %Y-%m-%d %H:%M %Z}",
    }


def content_type(data: bytes) -> str:
    """The kind of an encoded image, by its first bytes."""
    if data.startswith(b"\x89PNG"):
        return "image/png"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return "image/jpeg"


async def fitting(ask: Callable[[int], Awaitable[T]], chars: int, least: int) -> T:
    """Return what `ask` gives with a page of at most `chars` characters, or half of it, and so on,
    until the prompt fits.

    Raises:
        PromptTooLong: it does not fit with `least` characters either.
    """
    while True:
        try:
            return await ask(chars)
        except PromptTooLong:
            if chars <= least:
                raise
            chars = max(least, chars // 2)
