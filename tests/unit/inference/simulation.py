"""Sessions, a browser each, and a vLLM-like server in virtual time: hours of admission in a second, always the same."""

from __future__ import annotations

import heapq
import random
from collections import deque
from dataclasses import dataclass, field, replace

from shoal.services.inference.admission import AdmissionRules, Admitted, ServerLoad, after_look, after_silence, begun


@dataclass(frozen=True)
class Server:
    """A server that decodes `batch` requests beside each other; the rest queues. More at once is slower for each."""

    batch: int = 32  # requests that fit into the KV cache and the scheduler at once
    first_s: float = 0.5  # until the first token, once a request is taken
    decode_s: float = 3.0  # of one request alone
    slower: float = 1.0  # a full batch takes this much longer than one request
    prefill_s: float = 0.0  # reading one prompt takes the whole server so long: prompts are read one after the other


@dataclass
class World:
    """Endless demand: a session that ends makes room for the next; each asks, acts in its browser, asks, ..."""

    server: Server
    rules: AdmissionRules
    slots: int = 400  # browsers
    steps: int = 8  # model calls of one session
    acting_s: float = 2.0  # between two of them
    look_s: float = 2.0
    seed: int = 1

    now: float = 0.0
    up: bool = True
    foreign: int = 0  # requests of others that fill the batch
    limits: list[tuple[float, int]] = field(default_factory=list)
    queues: list[tuple[float, int]] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)  # seconds from asking to the first token
    replies: list[float] = field(default_factory=list)  # times

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        self.state: Admitted = begun(self.rules)
        self.events: list[tuple[float, int, str, int]] = []
        self.serial = 0
        self.queue: deque[tuple[float, int]] = deque()
        self.running: set[int] = set()
        self.active: dict[int, int] = {}  # session: calls left
        self.sessions = 0
        self.read_until = 0.0
        self.asked_at: dict[int, float] = {}
        self.first_tokens = 0
        self.first_token_s = 0.0
        self.at(0.0, "look")
        self._admit()

    def at(self, delay: float, kind: str, session: int = 0) -> None:
        self.serial += 1
        heapq.heappush(self.events, (self.now + delay, self.serial, kind, session))

    def run(self, until: float) -> None:
        while self.events and self.events[0][0] <= until:
            self.now, _, kind, session = heapq.heappop(self.events)
            getattr(self, f"_{kind}")(session)
        self.now = until

    # --- what happens ------------------------------------------------------------------------------------

    def _look(self, _: int) -> None:
        if self.up:
            self._serve()
            self.state = after_look(self.state, self.load(), len(self.active), self.now, self.rules)
        else:
            self.state = after_silence(self.state, self.rules)
        self.limits.append((self.now, self.state.sessions))
        self.queues.append((self.now, len(self.queue)))
        self._admit()
        self.at(self.look_s, "look")

    def _admit(self) -> None:
        while len(self.active) < min(self.slots, self.state.sessions):
            self.sessions += 1
            self.active[self.sessions] = self.steps
            self.at(self.dice.uniform(0, self.acting_s), "ask", self.sessions)

    def _ask(self, session: int) -> None:
        self.queue.append((self.now, session))
        self._serve()

    def _serve(self) -> None:
        while self.up and self.queue and len(self.running) + self.foreign < self.server.batch:
            asked_at, session = self.queue.popleft()
            self.running.add(session)
            self.read_until = max(self.read_until, self.now) + self.server.prefill_s
            first_in = self.read_until - self.now + self.server.first_s
            self.asked_at[session] = asked_at
            self.at(first_in, "first", session)
            full = (len(self.running) + self.foreign) / self.server.batch
            decode = self.server.decode_s * (1 + self.server.slower * full) * self.dice.uniform(0.5, 1.5)
            self.at(first_in + decode, "reply", session)

    def _first(self, session: int) -> None:
        waited = self.now - self.asked_at.pop(session)
        self.waits.append(waited)
        self.first_tokens += 1
        self.first_token_s += waited

    def _reply(self, session: int) -> None:
        self.running.discard(session)
        self.replies.append(self.now)
        self.active[session] -= 1
        if self.active[session] == 0:
            del self.active[session]
            self._admit()
        else:
            self.at(self.acting_s * self.dice.uniform(0.5, 1.5), "ask", session)
        self._serve()

    # --- what is told ------------------------------------------------------------------------------------

    def load(self) -> ServerLoad:
        busy = len(self.running) + self.foreign
        return ServerLoad(
            running=busy,
            waiting=len(self.queue),
            kv_cache=0.85 * busy / self.server.batch,
            first_tokens=self.first_tokens,
            first_token_s=self.first_token_s,
        )

    def limits_since(self, start: float) -> list[int]:
        return [limit for at, limit in self.limits if at >= start]

    def rate(self, start: float, end: float) -> float:
        """Replies per second."""
        return sum(start <= at < end for at in self.replies) / (end - start)

    def best_rate(self) -> float:
        """Return what the server gives when it never lacks work."""
        world = World(self.server, replace(self.rules, start=self.slots, least=self.slots, most=self.slots), seed=2)
        world.run(600)
        return world.rate(300, 600)
