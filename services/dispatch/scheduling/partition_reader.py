"""Keeping a dispatcher's partitions in step with the store: all of them seldom, the changes of others at once."""

from __future__ import annotations

from shoal.agent.support.moments import loop_time
from shoal.services.dispatch.dispatch_state import DispatchState
from shoal.services.store.store import Store

_SHARE = 20
"""Nothing is read for so many times as long as it should take to read all partitions."""
_PARTITION_S = 30e-6
"""Seconds that reading a partition should take: ten thousand took a tenth of a second. More is not the partitions'
fault: a database that was slow once is asked again soon.
"""
_READ_S = 0.003
"""Seconds that a reading should take at most beyond that."""
_LONGEST_REST_S = 30.0
"""By then all partitions are read again, however many there are. Changes are a hint; this reading is complete."""


class PartitionReader:
    """Reads what the dispatch state says is to be read, as far as its rest is over. Claims are blocked meanwhile."""

    def __init__(self, store: Store, state: DispatchState) -> None:
        self._store = store
        self._state = state
        self._all_after = 0.0  # when all partitions may be read again
        self._news_after = 0.0
        self._seq: int | None = None  # the event up to which the dispatch state knows

    async def read(self) -> None:
        """All partitions, or what others did since; nothing where nothing changed, or it was read only just now.

        Raises:
            StoreAway: it is still to be read.
        """
        signals, now = self._state.signals, loop_time()
        if signals.all_partitions and now >= self._all_after:
            signals.all_partitions = signals.changes = False
            try:
                await self._read_all()
            except BaseException:
                signals.all_partitions = signals.changes = True
                raise
        elif signals.changes and now >= self._news_after:
            signals.changes = False
            try:
                await self._read_changes()
            except BaseException:
                signals.changes = True
                raise

    def due_s(self, now: float) -> float | None:
        """Seconds until `read` has something to do; None while nothing has changed."""
        signals = self._state.signals
        readings = ((signals.all_partitions, self._all_after), (signals.changes, self._news_after))
        return min((max(0.0, at - now) for needed, at in readings if needed), default=None)

    async def _read_all(self) -> None:
        began = loop_time()
        # Before the partitions: a change that comes in between is then told twice, and none is missed.
        self._seq = (await self._store.changed_partitions(None)).seq
        partitions = await self._store.partitions()
        self._state.add(partitions)
        self._state.note_store(away=False)
        ended = loop_time()
        self._all_after = ended + rest_s(ended - began, len(partitions))

    async def _read_changes(self) -> None:
        began = loop_time()
        changed = await self._store.changed_partitions(self._seq)
        self._seq = changed.seq
        self._state.add(changed.ready)
        self._state.note_store(away=False)
        if changed.more:
            self._state.signals.changes = True
        ended = loop_time()
        self._news_after = ended + rest_s(ended - began, len(changed.ready))


def rest_s(took_s: float, partitions: int) -> float:
    """For how long nothing is read after a reading that took so long and gave so many partitions.

    At least as long as the reading took, since claims are blocked while partitions are read.
    """
    return min(max(took_s, _SHARE * min(took_s, _READ_S + partitions * _PARTITION_S)), _LONGEST_REST_S)
