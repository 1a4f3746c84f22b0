"""Which lanes' sessions ask the model server, and how many of them may start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from services.dispatch.lanes import Scarce
from services.errors import NotFound
from services.inference.watch import ModelGate
from services.store.records import Lane
from services.store.store import Store

_REMEMBERED_JOBS = 10_000
_LEARNED_AT_ONCE = 64
"""Jobs that are looked up before one claim; the lanes of others wait for a later one."""

_WITHOUT_MODEL = ("rules", "workflow:")


def asks_model(policy: str) -> bool:
    """Whether a job with this policy asks the model, where one is configured."""
    return not policy.startswith(_WITHOUT_MODEL)


class ModelBound:
    """What the dispatcher knows of its jobs' policies. Lanes do not carry them: they are looked up once per job."""

    def __init__(self, gate: ModelGate, store: Store) -> None:
        self._gate = gate
        self._store = store
        self._known: dict[int, bool] = {}
        self._full = False

    async def scarce(self, lanes: Iterable[Lane], running: Mapping[int, int]) -> Scarce | None:
        """The room that model-bound lanes share; None where they need not wait.

        Args:
            lanes: the lanes that may be claimed from.
            running: leased sessions by their job.
        """
        if self._gate.limit is None:
            return None
        await self._learn([*running, *(lane.job for lane in lanes)])
        active = sum(n for job, n in running.items() if self._known.get(job, True))
        room = self._gate.room(active)
        self._full = room == 0
        return None if room is None else Scarce(self._needs, room)

    def why(self, lane: Lane) -> str | None:
        """What keeps this lane waiting, if it is the model server."""
        return "the model server" if self._full and self._needs(lane) else None

    def _needs(self, lane: Lane) -> bool:
        return self._known.get(lane.job, True)

    async def _learn(self, jobs: Iterable[int]) -> None:
        unknown = [job for job in dict.fromkeys(jobs) if job not in self._known]
        for job in unknown[:_LEARNED_AT_ONCE]:
            try:
                self._known[job] = asks_model((await self._store.job(job)).spec.policy)
            except NotFound:
                self._known[job] = False  # deleted meanwhile: nothing of it will be claimed
        while len(self._known) > _REMEMBERED_JOBS:
            self._known.pop(next(iter(self._known)))
