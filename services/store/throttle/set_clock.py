"""Seconds that the store's clock was set back since a dispatcher last looked at the leases."""

from __future__ import annotations

from shoal.services.store.database.transaction import Tx

LOOK = "leases/seen"
"""Name of the row that says when a dispatcher last looked at the leases."""
ROUND_S = 4.0
"""Twice the seconds between two looks of a dispatcher at work."""


def set_back_s(tx: Tx) -> float:
    """Seconds by which the clock was set back since the last look; 0 where it was not.

    The clocks of several machines differ by a little: that is no setting.
    """
    row = tx.run("seen_look", name=LOOK).one_or_none()
    return set_back(0.0 if row is None else row.at, tx.now)


def set_back(seen: float, now: float) -> float:
    """The same, of a last look at `seen`. Pure."""
    return seen - now if seen - now > ROUND_S else 0.0
