"""The common base of all views of the API, and the small parts that several of them have."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from shoal.services.store import ids

JobId = Annotated[str, BeforeValidator(lambda value: ids.job_id(value) if isinstance(value, int) else value)]
DeliveryId = Annotated[str, BeforeValidator(lambda value: ids.delivery_id(value) if isinstance(value, int) else value)]
SessionId = Annotated[str, BeforeValidator(lambda value: ids.session_id(value) if isinstance(value, int) else value)]
Time = Annotated[datetime, PlainSerializer(lambda at: time_text(at), return_type=str, when_used="json")]


def time_text(at: datetime) -> str:
    """`at` in ISO 8601, UTC, with milliseconds."""
    utc = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class View(BaseModel):
    """Base of all views: filled from records by attribute, written by field name or alias."""

    model_config = ConfigDict(from_attributes=True, frozen=True)

    def json_bytes(self) -> bytes:
        """The JSON text of this view."""
        return self.model_dump_json(by_alias=True).encode()


class ErrorView(View):
    """Why something failed."""

    cls: str = Field(serialization_alias="class", description="class of the error")
    code: str = Field(description="stable code, such as `navigation_timeout`")
    message: str
    retryable: bool


class CountsView(View):
    """Counts of a job's items by state."""

    expected: int
    completed: int
    terminated: int
    failed: int
    unsure: int
    canceled: int
    running: int
    final: int = Field(description="items that are over, however they ended")


class UsageView(View):
    """The model calls, tokens and pages that were spent."""

    model_calls: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    pages: int
    carried_over: int = Field(0, description="items that were not read anew, since their page had not changed")


class ItemView(View):
    """One value of a loop."""

    index: int
    value: str
    is_link: bool
    label: str
