"""Host names to addresses by the machine's own resolver, with a share of the look-ups for each owner.

A name whose servers never answer holds a thread for as long as the resolver tries: 10 s and more, and nothing ends it
before. So look-ups have threads of their own, which nothing else waits for, and every owner (a tenant) has a share.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from cachetools import TTLCache

from shoal.agent.support.sites.sites import literal_address, plain_host

Resolve = Callable[[str], tuple[str, ...]]
"""The addresses of a name, asked for in a thread; empty when it has none."""


def resolved(name: str) -> tuple[str, ...]:
    """Return what the machine's resolver says; blocks for as long as it tries."""
    try:
        rows = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):  # no such name, or no answer; what is no name at all
        return ()
    return tuple(dict.fromkeys(str(row[4][0]) for row in rows))


@dataclass(slots=True, eq=False)
class _LookUp:
    """One name that is being asked for, or is to be."""

    name: str
    answer: asyncio.Future[tuple[str, ...]]
    owners: list[str] = field(default_factory=list)  # in whose queues it waits; none once its thread runs
    callers: int = 0
    late: bool = False  # somebody has waited in vain: others need not


class HostNames:
    """Names to addresses, remembered for `ttl_s`; at most `size` names.

    At most `at_once` threads ask. An owner may hold as many of them as are free besides: one alone gets half, and
    however many owners have all their names hanging, the next one finds a free thread while they are fewer than
    `at_once`. A thread counts until the resolver gives up, not until its caller does.
    """

    def __init__(
        self,
        *,
        ttl_s: float = 30.0,
        timeout_s: float = 3.0,
        size: int = 10_000,
        at_once: int = 64,
        resolve: Resolve = resolved,
    ) -> None:
        self._timeout_s = timeout_s
        self._at_once = at_once
        self._resolve = resolve
        self._known: TTLCache[str, tuple[str, ...]] = TTLCache(size, ttl_s)
        self._asking: dict[str, _LookUp] = {}
        self._queues: OrderedDict[str, dict[str, _LookUp]] = OrderedDict()  # by owner; who was served last stands last
        self._held: Counter[str] = Counter()  # threads by owner

    async def addresses(self, host: str, owner: str = "") -> tuple[str, ...]:
        """Return what `host` resolves to;
        empty when it does not resolve, or not in time.

        The time includes the wait for a free thread. Callers that ask for the same name wait for the same answer; one
        that comes too late is remembered all the same.
        """
        name = plain_host(host)
        if literal_address(name) is not None:
            return (name,)
        known = self._known.get(name)
        if known is not None:
            return known
        look_up = self._asking.get(name)
        if look_up is None:
            look_up = self._asking[name] = _LookUp(name, asyncio.get_running_loop().create_future())
            self._enqueue(look_up, owner)
        elif look_up.owners and owner not in look_up.owners:  # no owner waits behind another owner's names
            self._enqueue(look_up, owner)
        if look_up.late:
            return ()
        look_up.callers += 1
        self._start_some()
        try:
            async with asyncio.timeout(self._timeout_s):
                return await asyncio.shield(look_up.answer)  # others wait for it, too
        except TimeoutError:
            look_up.late = not look_up.owners  # one that had no thread yet is not late for the next caller
            return ()
        finally:
            look_up.callers -= 1
            if look_up.callers == 0 and look_up.owners:
                self._dequeue(look_up)
                del self._asking[name]

    # --- whose turn it is -----------------------------------------------------------------------------

    def _enqueue(self, look_up: _LookUp, owner: str) -> None:
        look_up.owners.append(owner)
        self._queues.setdefault(owner, {})[look_up.name] = look_up

    def _dequeue(self, look_up: _LookUp) -> None:
        for owner in look_up.owners:
            queue = self._queues[owner]
            del queue[look_up.name]
            if not queue:
                del self._queues[owner]
        look_up.owners.clear()

    def _start_some(self) -> None:
        """Gives free threads to those who hold fewest, among these to who was served longest ago."""
        while self._queues:
            owner = min(self._queues, key=self._held.__getitem__)
            if self._held[owner] >= self._at_once - self._held.total():
                return
            look_up = next(iter(self._queues[owner].values()))
            self._dequeue(look_up)
            if owner in self._queues:
                self._queues.move_to_end(owner)
            self._start(look_up, owner)

    def _start(self, look_up: _LookUp, owner: str) -> None:
        self._held[owner] += 1
        asked: Future[tuple[str, ...]] = Future()
        answer = asyncio.wrap_future(asked)
        answer.add_done_callback(lambda done: self._ended(look_up, owner, done))
        # A thread for each: those of an executor are waited for when the process ends, hanging ones as well.
        thread = threading.Thread(target=_ask, args=(self._resolve, look_up.name, asked), name="look-up", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # the system gives no more threads
            asked.set_exception(error)

    def _ended(self, look_up: _LookUp, owner: str, asked: asyncio.Future[tuple[str, ...]]) -> None:
        self._held[owner] -= 1
        if self._held[owner] == 0:
            del self._held[owner]
        del self._asking[look_up.name]
        error = asked.exception()
        if error is None:
            self._known[look_up.name] = asked.result()
            look_up.answer.set_result(asked.result())
        else:
            look_up.answer.set_exception(error)
        self._start_some()


def _ask(resolve: Resolve, name: str, asked: Future[tuple[str, ...]]) -> None:
    """In a thread."""
    try:
        asked.set_result(resolve(name))
    except BaseException as error:  # noqa: BLE001  # each waiting caller gets it
        asked.set_exception(error)
