"""A circuit breaker: leaves a failing server alone for a while, then lets one request try."""

from __future__ import annotations

import time
from collections.abc import Callable


class Breaker:
    """Closed while things work; open after `failures` in a row, for `pause_s`; then one probe decides."""

    def __init__(self, failures: int, pause_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = failures
        self._pause_s = pause_s
        self._clock = clock
        self._failed = 0
        self._probe_at: float | None = None  # when a request may try; None while closed
        self._probing = False

    def wait_s(self) -> float:
        """Seconds until a request may be sent; 0 when it may now."""
        if self._probe_at is None:
            return 0.0
        left = self._probe_at - self._clock()
        if left > 0:
            return left
        return self._pause_s if self._probing else 0.0

    def begin(self) -> None:
        """A request is being sent; while open it is the probe, and others wait for its result."""
        self._probing = self._probe_at is not None

    def succeeded(self) -> None:
        """The server answered, if only to refuse the request."""
        self._failed = 0
        self._probing = False
        self._probe_at = None

    def failed(self) -> None:
        """The server could not be used."""
        self._failed += 1
        if self._probing or self._failed >= self._limit:
            self._probe_at = self._clock() + self._pause_s
        self._probing = False

    def abandoned(self) -> None:
        """The request was canceled on this side: it says nothing about the server."""
        self._probing = False
