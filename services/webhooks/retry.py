"""When a message that could not be delivered is sent again. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.services.store.records import Delivered, DeliveryState

PAUSES_S = (5.0, 30.0, 120.0, 600.0, 1800.0, 7200.0, 18_000.0, 36_000.0)
"""Pauses behind each failed attempt; together some 18 hours, so that a receiver may be down overnight."""
_LONGEST_WISH_S = 3600.0
"""A receiver may ask for a longer pause than ours, up to this one."""
_GONE = 410
"""The receiver says that it wants no more of these."""


@dataclass(frozen=True, slots=True)
class DeliveryAnswer:
    """The outcome of one attempt."""

    status_code: int | None = None  # None: no answer
    error: str = ""  # "": it was taken
    retry_after_s: float = 0.0  # what the receiver asked for
    refused: bool = False  # it may not be sent there at all: another attempt would end the same


def delivery_after(delivery: int, attempts: int, answer: DeliveryAnswer, dice: float) -> Delivered:
    """Return what becomes of a message after its attempt number `attempts`; `dice` in [0, 1) spreads the next ones."""
    state, again_in_s = DeliveryState.DELIVERED, 0.0
    if answer.error:
        state = DeliveryState.DEAD
        if not answer.refused and answer.status_code != _GONE and attempts <= len(PAUSES_S):
            state = DeliveryState.WAITING
            pause_s = PAUSES_S[attempts - 1] * (0.8 + 0.4 * dice)
            again_in_s = max(pause_s, min(answer.retry_after_s, _LONGEST_WISH_S))
    return Delivered(delivery, attempts, state, again_in_s, answer.status_code, answer.error)
