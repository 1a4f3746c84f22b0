"""Signals by which the loops of one dispatcher tell each other of events.

Each method that tells names what happened; this class alone knows which loops that concerns. The loops wait here:

* the claimer, until there may be a session to claim and room for it;
* the pullers, while the committer is too far behind;
* the materializer, until a long loop may have children to be stored;
* the bulk runner, until a long command may have something left to do;
* the learner, until items of a loop that learns have ended;
* the partition reader asks what it has to read (`all_partitions`, `changes`).

A signal may be given without need: each loop looks for itself. A signal may be lost: the housekeeper gives it again.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress


class Signals:
    """Events in one dispatcher, or in the store, since each loop last looked.

    At first everything is to be looked at: an earlier dispatcher may have left loops in the middle.
    """

    def __init__(self) -> None:
        self._claimable = asyncio.Event()
        self._room = asyncio.Event()
        self._children = asyncio.Event()
        self._bulk = asyncio.Event()
        self._learning = asyncio.Event()
        self._room.set()
        self._children.set()
        self._bulk.set()
        self._learning.set()
        self.all_partitions = True  # are to be read anew
        self.changes = True  # others may have made sessions ready
        self.stopping = False

    # --- what happened -------------------------------------------------------------------------------

    def sessions_ready(self) -> None:
        """Sessions of known partitions became ready."""
        self._claimable.set()

    def worker_has_room(self) -> None:
        """A worker was added, or reported that sessions have ended."""
        self._claimable.set()

    def model_has_room(self) -> None:
        """The model servers may admit more sessions, or fewer."""
        self._claimable.set()

    def store_changed(self) -> None:
        """The store may hold something new that this dispatcher did not write itself."""
        self.all_partitions = self.changes = True
        self._claimable.set()

    def too_many_reports(self) -> None:
        """The committer holds as many reports as it may: nothing is pulled and nothing is claimed."""
        self._room.clear()

    def few_reports(self) -> None:
        """The committer takes reports again."""
        if not self._room.is_set():
            self._room.set()
            self._claimable.set()

    def children_pending(self) -> None:
        """A long loop may have children that are not stored yet."""
        self._children.set()

    def bulk_operation_left(self) -> None:
        """A job or loop may have sessions left that a command is to end, to retry or to hold back."""
        self._bulk.set()

    def loop_learns(self) -> None:
        """Items of a loop that learns have ended: something may be to be decided."""
        self._learning.set()

    def stop(self) -> None:
        """The dispatcher stops: nothing is claimed any more."""
        self.stopping = True
        self._claimable.set()

    # --- what the loops ask --------------------------------------------------------------------------

    @property
    def takes_reports(self) -> bool:
        """Return whether the committer takes reports; while it does not, nothing is claimed."""
        return self._room.is_set()

    async def wait_to_claim(self, pause_s: float | None) -> None:
        """Returns when there may be something to claim, or after `pause_s` (None: no limit)."""
        with suppress(TimeoutError):
            async with asyncio.timeout(pause_s):
                await self._claimable.wait()
        self._claimable.clear()

    async def wait_to_pull(self) -> None:
        """Returns once the committer takes reports."""
        await self._room.wait()

    async def wait_for_children(self) -> None:
        """Returns when a long loop may have children to be stored."""
        await self._children.wait()
        self._children.clear()

    async def wait_for_bulk_operation(self) -> None:
        """Returns when a command may have something left to do."""
        await self._bulk.wait()
        self._bulk.clear()

    async def wait_for_learning(self) -> None:
        """Returns when something may be to be decided of a loop that learns."""
        await self._learning.wait()
        self._learning.clear()
