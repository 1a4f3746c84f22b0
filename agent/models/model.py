"""The model seam: one chat completion held to a JSON Schema. Implementations: `openai_compatible`,
`tests.doubles`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from shoal.agent.support.json_value import Json
from shoal.agent.types import Usage


@dataclass(frozen=True, slots=True)
class Image:
    """One image of a message."""

    data: bytes
    content_type: str = "image/jpeg"


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message; images come before the text."""

    role: Literal["system", "user", "assistant"]
    text: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """One request."""

    messages: Sequence[Message]
    schema_name: str = "reply"
    json_schema: dict[str, Json] | None = None  # None: free text
    max_tokens: int = 2048
    temperature: float = 0.0
    disabled: frozenset[str] = frozenset()  # ids that the page shows, of what takes no action now
    affinity: str = ""  # requests with the same key go to the same server, for its prefix cache


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer."""

    text: str
    usage: Usage
    finish_reason: str = "stop"  # "length" when it was cut off
    seconds: float = 0.0
    estimated: bool = False  # the server does not say what it cost: `usage` is our own estimate


class Model(Protocol):
    """A model server."""

    async def ask(self, ask: Ask) -> Reply:
        """The answer.

        Raises:
            ModelUnavailable: after retries: not reachable, overloaded, or over its time-out.
            ModelRefused: the server refuses the request itself (400, 401, 404, 422).
        """
        ...

    async def close(self) -> None:
        """Ends the connections; may be called twice."""
        ...
