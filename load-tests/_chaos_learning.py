"""Loops that learn from a model while parts of the cluster are killed: pages and a form, both redesigned meanwhile.

The model is the oracle (`oracle.py`), which knows the truth of the drift site.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg
from _chaos_cluster import ChaosCluster
from _chaos_doubts import Kill, unexplained
from _chaos_verdicts import doubts, forms_wrong, last_steps, pages_wrong

from shoal.agent.support.json_value import Json
from shoal.services.store.ids import parse_job

sys.path.insert(0, str(Path(__file__).resolve().parent / "site"))

from shop.drift import COLOURS, RECORD_SCHEMA, REDESIGN_AT, Drift, truth

_SEED = 1
_ENDED = ("replay", "off")
_LEARNING = ("items", "shadow")
REPAIR = "repair"
LEARNED_PHASES = (*_LEARNING, "replay", REPAIR)
_PAGES, _FORM = "learned pages", "learned form"


@dataclass(frozen=True)
class LearningLoops:
    """Two jobs that learn, and what has to come of them."""

    pages: str  # job
    records: Sequence[Json]  # the truth, by item
    form: str  # job
    rows: Sequence[Json]  # the details of each form, by item

    @classmethod
    def submit(cls, cluster: ChaosCluster, items: int, forms: int, pace_s: float, attempts: int) -> LearningLoops:
        """Hands in a loop of so many pages and one of so many forms. Both are redesigned in their middle."""
        kind, first = Drift.LONG_REDESIGN, REDESIGN_AT - items // 2
        pages = cluster.submit(
            {
                "url": f"{cluster.shop}/drift/{_SEED}/{kind}/",
                "loop": {
                    "values": [f"{cluster.shop}/drift/{_SEED}/{kind}/i/{first + n}" for n in range(items)],
                    "is_link": True,
                },
                "extract": {"schema": RECORD_SCHEMA},
                "politeness": {"robots": False, "delay_s": pace_s},
                "max_attempts": attempts,
            }
        )
        rows: list[Json] = [
            {"name": f"Ada {n}", "email": f"ada{n}@quimby.example", "colour": COLOURS[1 + n % 2]} for n in range(forms)
        ]
        form = cluster.submit(
            {
                "url": f"{cluster.shop}/drift/{_SEED}/form?redesign_after={forms // 2}",
                "goal": "Ask for a quote with the details of the row",
                "loop": {"values": [json.dumps(row) for row in rows]},
                "repeatable": False,
                "politeness": {"robots": False},
                "max_attempts": attempts,
            }
        )
        return cls(pages, [truth(_SEED, kind, first + n) for n in range(items)], form, rows)

    @property
    def items(self) -> int:
        """Of both loops."""
        return len(self.records) + len(self.rows)

    def phases(self, cluster: ChaosCluster) -> list[str]:
        """Return how far each loop has learned now;
        nothing while the database is away.

        A loop that learns anew, since its version misses, is in `repair`.
        """
        names = {parse_job(self.pages): _PAGES, parse_job(self.form): _FORM}
        try:
            rows = cluster.store("select job, phase, rounds from learning where open order by job")
        except psycopg.OperationalError:
            return []
        return [f"{names[job]}: {REPAIR if rounds and phase in _LEARNING else phase}" for job, phase, rounds in rows]

    def verdict(self, cluster: ChaosCluster, kills: Sequence[Kill]) -> tuple[dict[str, Json], list[str]]:
        """Return what the loops say of themselves, and what is wrong with their items and forms."""
        sent = [{"fields": row} for row in cluster.site(f"/drift/{_SEED}/forms")]
        rows, read = cluster.results(self.form), cluster.results(self.pages)
        for line in last_steps(cluster, [*read, *rows]):
            print(line, file=sys.stderr)
        wrong = pages_wrong(read, self.records, _PAGES)
        wrong += forms_wrong(rows, [row["email"] for row in self.rows], sent, _FORM)
        wrong += [f"{_FORM}: {said}" for said in unexplained(doubts(cluster, rows), kills)]
        wrong += [f"{_FORM}: received {one['fields']}" for one in sent if one["fields"] not in self.rows]
        told: dict[str, Json] = {}
        for name, job in ((_PAGES, self.pages), (_FORM, self.form)):
            states = cluster.get(f"/v1/jobs/{job}")["learning"]
            if not states:
                wrong.append(f"{name}: the loop has not begun to learn: it may have too few items")
                continue
            (state,) = states
            told[name] = {part: state[part] for part in ("phase", "workflow", "why", "figures")}
            if state["phase"] not in _ENDED or (state["phase"] == "off" and not state["why"]):
                wrong.append(f"{name}: the loop has ended and its learning has not: {told[name]}")
        return told, wrong
