"""Long loops for benchmarks: their items come one by one, as a worker finds them, and go to the store in pieces."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence

from shoal.agent.compressed_items import LoopPiece, compress_items
from shoal.agent.sessions.loops.loop_items import gather
from shoal.agent.status import Status
from shoal.agent.types import Checkpoint, FanOut, LoopItem, Outcome
from shoal.agent.worker_messages import Work
from shoal.services.store.records import Finish
from shoal.services.store.store import Store


class Staging:
    """A journal straight into the store."""

    def __init__(self, store: Store, root: Work) -> None:
        self._store = store
        self._root = root

    async def checkpoint(self, checkpoint: Checkpoint, *, durable: bool) -> None:
        await self._store.checkpoint(self._root.session, self._root.fence, checkpoint)

    async def items(self, at: int, items: Sequence[LoopItem]) -> None:
        piece = LoopPiece(at, tuple(compress_items(items)))
        assert await self._store.stage(self._root.session, self._root.fence, piece)


async def fan_out(store: Store, root: Work, items: Iterable[LoopItem]) -> None:
    """The root's loop is durable; `unfold` stores the rest."""
    first, later = await gather(_as_async(items), Staging(store, root))
    loop = FanOut(first, Checkpoint(url="https://start.example/"), later=later)
    await store.finish([Finish(root.session, root.fence, Outcome(Status.WAITING, fan_out=loop))])


async def _as_async(items: Iterable[LoopItem]) -> AsyncIterator[LoopItem]:
    for item in items:
        yield item


def in_a_process_of_its_own(script: str, url: str, n: int) -> dict[str, float]:
    """The figures of one loop of `n` items: none finds what the one before has left in memory."""
    command = [sys.executable, script, "--one", url, str(n)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def tell_of_one(one_loop: Callable[[str, int], Awaitable[dict[str, float]]]) -> bool:
    """Return whether this process was started for one loop; then its figures are printed."""
    if sys.argv[1:2] != ["--one"]:
        return False

    async def figures() -> dict[str, float]:
        return await one_loop(sys.argv[2], int(sys.argv[3]))

    print(json.dumps(asyncio.run(figures())))
    return True
