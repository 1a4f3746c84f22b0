"""What the addresses of pages carry, as the API's own records."""

from __future__ import annotations

from shoal.agent.status import Status
from shoal.services.errors import BadInput


def statuses_of(text: str, field: str) -> tuple[Status, ...]:
    """What a page is narrowed to; empty: all.

    Raises:
        BadInput: there is no such status.
    """
    if not text:
        return ()
    if text not in tuple(Status):
        reason = f"must be one of {', '.join(Status)}"
        raise BadInput(f"There is no status {text!r}: {reason}.", errors=[{"field": field, "reason": reason}])
    return (Status(text),)
