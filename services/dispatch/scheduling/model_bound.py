"""Which partitions' sessions ask the model server, and how many of them may start."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from itertools import islice

from shoal.services.dispatch.dispatch_state import asks_model
from shoal.services.dispatch.scheduling.fair_queue import Scarce
from shoal.services.inference.watch import ModelAdmission
from shoal.services.store.records import Partition
from shoal.services.store.store import Store
from shoal.services.store.waiting_causes import WaitingCause

_REMEMBERED_JOBS = 10_000
"""Jobs that are remembered before it is looked which of them still have ready sessions."""
_LEARNED_AT_ONCE = 500
"""Jobs that are looked up by one query."""


class ModelBound:
    """The dispatcher's knowledge of its jobs' policies. Partitions do not carry them: they are looked up
    once per job.
    """

    def __init__(self, admission: ModelAdmission, store: Store) -> None:
        self._admission = admission
        self._store = store
        self._known: dict[int, bool] = {}
        self._learning: set[int] = set()  # jobs with a loop that learns: whether it needs the model changes
        self._full = False

    async def scarce(self, jobs: Set[int], active: int) -> Scarce | None:
        """The room that model-bound partitions share; None where they need not wait.

        Args:
            jobs: those whose partitions may be claimed from.
            active: leased sessions that ask the model.
        """
        if self._admission.limit is None:
            return None
        await self._learn(jobs)
        room = self._admission.room(active)
        self._full = room == 0
        return None if room is None else Scarce(self._needs, room)

    def why(self, partition: Partition) -> WaitingCause | None:
        """MODEL where the model server keeps this partition waiting, else None."""
        return WaitingCause.MODEL if self._full and self._needs(partition) else None

    def _needs(self, partition: Partition) -> bool:
        return self._known.get(partition.job, True)

    async def _learn(self, jobs: Set[int]) -> None:
        if len(self._known) > max(_REMEMBERED_JOBS, 2 * len(jobs)):
            self._known = {job: asks for job, asks in self._known.items() if job in jobs}
        unknown = iter((jobs - self._known.keys()) | (jobs & self._learning))
        while some := list(islice(unknown, _LEARNED_AT_ONCE)):
            policies = await self._store.policies(some)
            self._note(some, policies, await self._store.learning.replays(some))

    def _note(self, jobs: Collection[int], policies: Mapping[int, str], replays: Mapping[int, bool]) -> None:
        for job in jobs:  # of one that was deleted meanwhile nothing will be claimed
            self._known[job] = job in policies and asks_model(policies[job]) and not replays.get(job, False)
        self._learning = (self._learning - set(jobs)) | replays.keys()

    def __len__(self) -> int:
        return len(self._known)
