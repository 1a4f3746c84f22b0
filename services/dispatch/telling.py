"""What a dispatcher says about itself: the snapshot that `/v1/status`, the metrics and the dashboard read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from services.browsers.pool import WorkerStats
from services.dispatch.board import Board
from services.dispatch.clock import loop_time
from services.dispatch.committer import Uncommitted
from services.dispatch.model_bound import ModelBound
from services.dispatch.sizing import Size
from services.inference.watch import Admission
from services.store.records import FREE_SLOT, Lane

Json = Any

_SMOOTHING = 0.3
"""Share of the newest look in the rate."""
_TOLD_LANES = 200
"""Lanes of one cause that the snapshot names, so that their sessions can be counted and told; every status call reads
it."""


class Telling:
    """Makes the snapshots of one dispatcher; it remembers the last look, for rates."""

    def __init__(self, board: Board, model_bound: ModelBound | None, admission: Admission | None) -> None:
        self._board = board
        self._model_bound = model_bound
        self._admission = admission
        self._looked = loop_time()
        self._ended = 0
        self._rate = 0.0

    def snapshot(
        self, stats: Sequence[WorkerStats], uncommitted: Uncommitted, size: Size | None, room: int
    ) -> dict[str, Json]:
        """How this dispatcher and its workers stand; `room`: slots that it may still fill."""
        board, now = self._board, loop_time()
        self._look(now)
        waiting, held = self._waiting(now)
        lanes = {why: [(lane.job, lane.domain) for lane in some] for why, some in held.items()}
        return {
            "workers": [_worker(one) for one in stats],
            "slots": sum(one.slots for one in stats),
            "busy": sum(one.busy for one in stats),
            "leases": len(board.leases),
            "uncommitted": uncommitted.reports,
            "uncommitted_bytes": uncommitted.bytes,
            "lanes_waiting": dict(waiting),
            "lanes_held": lanes,
            "held": self._by_job(held, now),
            "tenants": board.lanes.tenants(),
            "weights": dict(board.config.tenant_weights),
            "rate": round(self._rate, 3),
            "room": room,
            "size": None if size is None else {"workers": size.workers, "why": size.why},
            "model": self._admission.snapshot() if self._admission else None,
            "queue_age_s": board.unserved.longest_s(now),
            "figures": board.counting.tally.figures(),
            "ended": board.ended,
            "failed": board.failed,
        }

    def _waiting(self, now: float) -> tuple[Counter[str], dict[str, list[Lane]]]:
        """Lanes by what they wait for; and some of those that no free slot would help."""
        counts: Counter[str] = Counter()
        held: dict[str, list[Lane]] = {}
        for lane in self._board.lanes:
            why = self._board.domains.why(lane.domain, lane.job, lane.politeness, now)
            why = why or (self._model_bound and self._model_bound.why(lane)) or FREE_SLOT
            counts[why] += 1
            if why != FREE_SLOT and counts[why] <= _TOLD_LANES:
                held.setdefault(why, []).append(lane)
        return counts, held

    def _look(self, now: float) -> None:
        seconds = max(now - self._looked, 0.001)
        newest = (self._board.ended - self._ended) / seconds
        self._rate += (newest - self._rate) * _SMOOTHING
        self._looked, self._ended = now, self._board.ended

    def _by_job(self, held: Mapping[str, Sequence[Lane]], now: float) -> dict[str, dict[str, tuple[str, float]]]:
        """By job and host what its sessions there wait for, and the seconds that are left where that is known."""
        found: dict[str, dict[str, tuple[str, float]]] = {}
        for why, lanes in held.items():
            for lane in lanes:
                left_s = round(self._board.domains.blocked_s(lane.domain, lane.job, now), 1)
                found.setdefault(str(lane.job), {})[lane.host] = (why, left_s)
        return found


def _worker(one: WorkerStats) -> dict[str, Json]:
    names = ("name", "slots", "busy", "waiting", "browsers", "browser_restarts", "rss_bytes")
    return {name: getattr(one, name) for name in names}
