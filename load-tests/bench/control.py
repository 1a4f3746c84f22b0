"""Seconds of an owner's command to one long loop: until it answers, until all of it is done, and its longest slice.

All rows of the loop are stored. A dispatcher's sweeper does the slices; nothing else runs.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from _empty import databases, items, root_of, store_at, unfold_all
from _loops import fan_out, in_a_process_of_its_own, tell_of_one
from _report import Report, Target, arguments

from shoal.services.store.store import Store

MOST_S = 0.5
"""A slice keeps the committer of outcomes waiting, and on SQLite everybody who writes."""
DROPPED = 1_000


class Watch:
    """The figures of one loop."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.figures: dict[str, float] = {}

    async def command(self, name: str, command: Callable[[], Awaitable[object]]) -> None:
        """Times a command with the slices that are left of it."""
        began = time.perf_counter()
        await command()
        answered = time.perf_counter() - began
        await self._note(name, answered, self._swept)

    async def _swept(self) -> bool:
        return (await self._store.run_bulk_operations()).more

    async def delete(self, job: int) -> None:
        """Times a deletion with the dropping of all rows, as retention does it."""
        began = time.perf_counter()
        await self._store.delete(job)
        answered = time.perf_counter() - began

        async def dropped() -> bool:
            return await self._store.drop(job, (await self._store.droppable(job, DROPPED)).sessions)

        await self._note("delete", answered, dropped)

    async def _note(self, name: str, answered: float, more: Callable[[], Awaitable[bool]]) -> None:
        began = last = time.perf_counter()
        longest = 0.0
        going = True
        while going:
            going = await more()
            now = time.perf_counter()
            longest, last = max(longest, now - last), now
        self.figures[f"{name}: answers, s"] = answered
        self.figures[f"{name}: all is done, s"] = answered + last - began
        self.figures[f"{name}: longest slice, s"] = longest


async def one_loop(url: str, n: int) -> dict[str, float]:
    """The figures of a loop of `n` items, none of which has begun."""
    async with store_at(url) as store:
        job, root = await root_of(store, "t")
        await fan_out(store, root, items(n))
        await unfold_all(store)
        watch = Watch(store)
        await watch.command("concurrency 10", lambda: store.set_concurrency(job, 10))
        assert await store.ready_count(n) == 10
        await watch.command("concurrency none", lambda: store.set_concurrency(job, None))
        assert await store.ready_count(n + 1) == n
        await watch.command("cancel", lambda: store.cancel(job))
        assert (await store.job(job)).counts.canceled == n
        await watch.command("retry", lambda: store.retry(job))
        assert await store.ready_count(n + 1) == n
        await watch.command("cancel again", lambda: store.cancel(job))
        await watch.delete(job)
        assert await store.deleted() == []
    return watch.figures


def main() -> None:
    if tell_of_one(one_loop):
        return
    parser = arguments(__doc__ or "")
    parser.add_argument("--sizes", default="100000", help="items, comma separated")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--databases", default="sqlite,postgresql")
    options = parser.parse_args()
    sizes = [10_000] if options.quick else [int(size) for size in options.sizes.split(",")]
    report = Report("control")
    for kind in options.databases.split(","):
        with databases(kind) as new:
            for n in sizes * options.rounds:
                for name, value in in_a_process_of_its_own(__file__, new(), n).items():
                    figure = f"{kind}, {n} items, {name}"
                    report.add(figure, value)
                    if "slice" in name or "answers" in name:
                        report.targets[figure] = Target(MOST_S, at_least=False)
    report.show(as_json=options.json)


if __name__ == "__main__":
    main()
