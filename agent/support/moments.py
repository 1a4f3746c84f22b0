"""Moments as records tell them."""

from datetime import UTC, datetime


def utc_now() -> str:
    """Now, as ISO 8601 in UTC with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
