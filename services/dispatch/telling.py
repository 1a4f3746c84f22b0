"""What a dispatcher says about itself: the snapshot that `/v1/status`, the metrics and the dashboard read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from services.browsers.pool import WorkerStats
from services.dispatch.board import Board
from services.dispatch.clock import loop_time
from services.dispatch.model_bound import ModelBound
from services.dispatch.sizing import Size
from services.inference.watch import Admission
from services.store.records import FREE_SLOT

Json = Any

_SMOOTHING = 0.3
"""Share of the newest look in the rate."""
_TOLD_LANES = 200
"""Lanes of one cause that the snapshot names, so that their sessions can be counted."""
_TOLD_DOMAINS = 200
"""Domains whose pauses the snapshot names; it is read by every status call."""


class Telling:
    """Makes the snapshots of one dispatcher; it remembers the last look, for rates."""

    def __init__(self, board: Board, model_bound: ModelBound | None, admission: Admission | None) -> None:
        self._board = board
        self._model_bound = model_bound
        self._admission = admission
        self._looked = loop_time()
        self._ended = 0
        self._rate = 0.0

    def snapshot(self, stats: Sequence[WorkerStats], uncommitted: int, size: Size | None, room: int) -> dict[str, Json]:
        """How this dispatcher and its workers stand; `room`: slots that it may still fill."""
        board, now = self._board, loop_time()
        self._look(now)
        waiting, held = self._waiting(now)
        return {
            "workers": [_worker(one) for one in stats],
            "slots": sum(one.slots for one in stats),
            "busy": sum(one.busy for one in stats),
            "leases": len(board.leases),
            "uncommitted": uncommitted,
            "lanes_waiting": dict(waiting),
            "lanes_held": held,
            "blocked": self._blocked(now),
            "tenants": board.lanes.tenants(),
            "weights": dict(board.config.tenant_weights),
            "rate": round(self._rate, 3),
            "room": room,
            "size": None if size is None else {"workers": size.workers, "why": size.why},
            "model": self._admission.snapshot() if self._admission else None,
            "queue_age_s": board.counting.queue_age_s(board.lanes, now),
            "figures": board.counting.tally.figures(),
            "ended": board.ended,
            "failed": board.failed,
        }

    def waiting(self) -> dict[str, int]:
        """Lanes with ready sessions, by what they wait for."""
        return dict(self._waiting(loop_time())[0])

    def _waiting(self, now: float) -> tuple[Counter[str], dict[str, list[tuple[int, int]]]]:
        """Lanes by what they wait for; and some of those that no free slot would help, as (job, domain)."""
        counts: Counter[str] = Counter()
        held: dict[str, list[tuple[int, int]]] = {}
        for lane in self._board.lanes:
            why = self._board.domains.why(lane.domain, lane.job, now)
            why = why or (self._model_bound and self._model_bound.why(lane)) or FREE_SLOT
            counts[why] += 1
            if why != FREE_SLOT and counts[why] <= _TOLD_LANES:
                held.setdefault(why, []).append((lane.job, lane.domain))
        return counts, held

    def _look(self, now: float) -> None:
        seconds = max(now - self._looked, 0.001)
        newest = (self._board.ended - self._ended) / seconds
        self._rate += (newest - self._rate) * _SMOOTHING
        self._looked, self._ended = now, self._board.ended

    def _blocked(self, now: float) -> dict[str, Json]:
        """Hosts that sessions wait for, each with the reason and the seconds that are left."""
        found: dict[str, Json] = {}
        domains = self._board.domains
        for lane in self._board.lanes:
            why = domains.why(lane.domain, lane.job, now)
            if why:
                found[lane.host] = {"why": why, "for_s": round(domains.blocked_s(lane.domain, lane.job, now), 1)}
                if len(found) == _TOLD_DOMAINS:
                    break
        return found


def _worker(one: WorkerStats) -> dict[str, Json]:
    names = ("name", "slots", "busy", "waiting", "browsers", "browser_restarts", "rss_bytes")
    return {name: getattr(one, name) for name in names}
