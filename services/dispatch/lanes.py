"""Fair order: which lanes the next sessions are taken from. Pure bookkeeping, no clock, no store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from services.store.records import Lane, Take


@dataclass(slots=True)
class Scarce:
    """Something that some lanes' sessions need one of each, such as a place at the model server."""

    needs: Callable[[Lane], bool]
    left: int

    def allows(self, lane: Lane) -> bool:
        return self.left > 0 or not self.needs(lane)

    def take(self, lane: Lane) -> None:
        self.left -= self.needs(lane)


class Lanes:
    """The ready lanes that the dispatcher knows of.

    Each round gives one session to each tenant in turn; within a tenant the jobs of the highest priority take turns,
    and within a job its domains. A tenant with one small job is served as often as one with ten thousand jobs.
    """

    def __init__(self) -> None:
        self._tenants: dict[str, dict[int, dict[int, Lane]]] = {}  # tenant: job: domain: lane, each in turn order

    def replace(self, lanes: Iterable[Lane]) -> None:
        """Takes `lanes` for all there is, keeping the order of turns."""
        fresh: dict[str, dict[int, dict[int, Lane]]] = {}
        for lane in lanes:
            fresh.setdefault(lane.tenant, {}).setdefault(lane.job, {})[lane.domain] = lane
        self._tenants = {
            tenant: self._in_turn(self._tenants.get(tenant, {}), fresh[tenant])
            for tenant in [*(t for t in self._tenants if t in fresh), *(t for t in fresh if t not in self._tenants)]
        }

    @staticmethod
    def _in_turn(old: dict[int, dict[int, Lane]], new: dict[int, dict[int, Lane]]) -> dict[int, dict[int, Lane]]:
        return {job: new[job] for job in [*(j for j in old if j in new), *(j for j in new if j not in old)]}

    def add(self, lanes: Iterable[Lane]) -> None:
        """These lanes have ready sessions at or after their cursor."""
        for lane in lanes:
            domains = self._tenants.setdefault(lane.tenant, {}).setdefault(lane.job, {})
            known = domains.get(lane.domain)
            domains[lane.domain] = lane if known is None else replace(lane, cursor=min(lane.cursor, known.cursor))

    def drop(self, job: int, domain: int) -> None:
        """This lane has nothing ready for now."""
        for tenant, jobs in list(self._tenants.items()):
            if job in jobs and jobs[job].pop(domain, None) is not None:
                if not jobs[job]:
                    del jobs[job]
                if not jobs:
                    del self._tenants[tenant]
                return

    def advance(self, job: int, domain: int, cursor: int) -> None:
        """Everything up to `cursor` in this lane was claimed."""
        for jobs in self._tenants.values():
            if (lane := jobs.get(job, {}).get(domain)) is not None:
                jobs[job][domain] = replace(lane, cursor=max(lane.cursor, cursor))
                return

    def choose(self, budget: int, room: Callable[[Lane], int], scarce: Scarce | None = None) -> list[Take]:
        """Up to `budget` sessions in fair order.

        `room` says how many sessions a lane may start now, and `scarce` what they share beyond that; lanes without room
        are passed over and keep their place.
        """
        scarce = scarce or Scarce(lambda lane: False, 0)
        wanted: dict[tuple[int, int], int] = {}
        left = {
            (lane.job, lane.domain): room(lane)
            for jobs in self._tenants.values()
            for lanes in jobs.values()
            for lane in lanes.values()
        }
        open_domains: dict[int, int] = {}
        for (_, domain), free in left.items():
            open_domains[domain] = max(open_domains.get(domain, 0), free)
        while budget > 0 and (round_ := self._round(left, open_domains, scarce)):
            for lane in round_:
                if budget == 0:
                    break
                key = (lane.job, lane.domain)
                if open_domains[lane.domain] <= 0 or not scarce.allows(lane):
                    continue
                wanted[key] = wanted.get(key, 0) + 1
                left[key] -= 1
                open_domains[lane.domain] -= 1
                budget -= 1
                scarce.take(lane)
                self._served(lane)
        return [Take(job, domain, self._cursor(job, domain), n) for (job, domain), n in wanted.items()]

    def _round(self, left: dict[tuple[int, int], int], open_domains: dict[int, int], scarce: Scarce) -> list[Lane]:
        """One lane of each tenant that has one with room."""
        picked: list[Lane] = []
        for jobs in self._tenants.values():
            best: Lane | None = None
            for lanes in jobs.values():
                lane = next(
                    (
                        x
                        for x in lanes.values()
                        if left[x.job, x.domain] > 0 and open_domains[x.domain] > 0 and scarce.allows(x)
                    ),
                    None,
                )
                if lane is not None and (best is None or lane.priority > best.priority):
                    best = lane
            if best is not None:
                picked.append(best)
        return picked

    def _served(self, lane: Lane) -> None:
        """The lane, its job and its tenant had their turn: they go to the end of their lines."""
        jobs = self._tenants.pop(lane.tenant)
        self._tenants[lane.tenant] = jobs
        lanes = jobs.pop(lane.job)
        jobs[lane.job] = lanes
        lanes[lane.domain] = lanes.pop(lane.domain)

    def _cursor(self, job: int, domain: int) -> int:
        return next(
            lanes[job][domain].cursor for lanes in self._tenants.values() if job in lanes and domain in lanes[job]
        )

    def __iter__(self) -> Iterator[Lane]:
        return iter([lane for jobs in self._tenants.values() for lanes in jobs.values() for lane in lanes.values()])

    def __len__(self) -> int:
        return sum(len(lanes) for jobs in self._tenants.values() for lanes in jobs.values())
