"""Messages between gateway and worker about a session that people watch, as JSON: orders one way, updates the other."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from shoal.agent.support.json_value import Json
from shoal.agent.types import Task

PREFIX = "live:"
"""Of the snapshots in the store by which gateways ask for a session's page."""
REQUEST_S = 15.0
"""A request that was not repeated for so long holds no longer."""
PING_S = 5.0
"""A gateway says something to a worker that often; a worker that hears nothing for three times as long is alone."""
MOST_MESSAGE_BYTES = 2 * 1024 * 1024
"""Of one message of a worker."""
_LEASE = 64


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


# --- down: what a gateway orders ---------------------------------------------------------------------


class Ping(_Message):
    """The gateway is there."""

    kind: Literal["ping"] = "ping"


class Watch(_Message):
    """A request for pictures, or for none."""

    kind: Literal["watch"] = "watch"
    on: bool


class Take(_Message):
    """A person asks for the page."""

    kind: Literal["take"] = "take"
    id: str
    lease: str = Field(max_length=_LEASE)
    name: str


class Keep(_Message):
    """The person is still there."""

    kind: Literal["keep"] = "keep"
    id: str
    lease: str = Field(max_length=_LEASE)


class Act(_Message):
    """The person acts."""

    kind: Literal["act"] = "act"
    id: str
    lease: str = Field(max_length=_LEASE)
    action: str
    args: dict[str, Json]


class DialogReply(_Message):
    """The person answers a dialog of the page."""

    kind: Literal["reply"] = "reply"
    id: str
    lease: str = Field(max_length=_LEASE)
    accept: bool
    text: str = ""


class HandBack(_Message):
    """The person is done."""

    kind: Literal["hand_back"] = "hand_back"
    id: str
    lease: str = Field(max_length=_LEASE)
    said: str = ""
    done: bool = False


class TellSteps(_Message):
    """A request for the session's steps, or for none. Workers of a version without them let it pass."""

    kind: Literal["tell_steps"] = "tell_steps"
    on: bool


Order = Take | Keep | Act | DialogReply | HandBack
"""Messages that are answered by a `Done`."""
Down = Annotated[Ping | Watch | TellSteps | Order, Field(discriminator="kind")]
DOWN: TypeAdapter[Ping | Watch | TellSteps | Order] = TypeAdapter(Down)

# --- up: what a worker tells -------------------------------------------------------------------------


class FrameUpdate(_Message):
    """A picture of the page."""

    kind: Literal["frame"] = "frame"
    jpeg: str = Field(max_length=MOST_MESSAGE_BYTES, pattern=r"^[A-Za-z0-9+/=]*$")  # base64
    width: float = Field(ge=1, le=100_000)  # of the viewport, in CSS pixels
    height: float = Field(ge=1, le=100_000)


class DialogUpdate(_Message):
    """A dialog of the page."""

    kind: str
    message: str
    default: str


class StandingUpdate(_Message):
    """The state of the session."""

    kind: Literal["standing"] = "standing"
    url: str
    control: Literal["agent", "asked", "person"]
    holder: str
    withheld: bool
    dialog: DialogUpdate | None = None


class StepsUpdate(_Message):
    """The session's steps so far."""

    kind: Literal["steps"] = "steps"
    tasks: tuple[Task, ...]  # the last one may be under way
    left_out: int = Field(ge=0)  # earlier steps that are not among them


class Done(_Message):
    """The outcome of an order."""

    kind: Literal["done"] = "done"
    id: str
    error: str = ""  # why it was not done, in words; "" when it was
    url: str = ""  # of the page afterwards, where it acted


class SessionEnded(_Message):
    """The session is over."""

    kind: Literal["ended"] = "ended"


Update = FrameUpdate | StandingUpdate | StepsUpdate | Done | SessionEnded
Up = Annotated[Update, Field(discriminator="kind")]
UP: TypeAdapter[Update] = TypeAdapter(Up)
