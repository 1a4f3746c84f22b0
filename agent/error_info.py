"""An error as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """An error as results, events and the store hold it."""

    cls: Annotated[str, Field(alias="class")]  # class name, "class" in JSON
    code: str  # stable code, e.g. "navigation_timeout"
    message: str
    retryable: bool
