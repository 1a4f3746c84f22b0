"""Which records of a loop are provisional: a workflow read them, and no audit has confirmed one since.

Audits confirm what the same branches of a workflow read (`Branch.key`), in the order in which items end. An audit of
one kind of page says nothing of another kind. A branch that a repair has kept has its key in both versions.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from shoal.agent.status import Status
from shoal.agent.types import Outcome, Replay
from shoal.services.store.database.transaction import Tx

_CONFIRMED = "_confirmed "
"""With a key behind it, among a loop's figures: audits of records of these branches that were right."""
_PROVISIONAL = "_provisional "
"""Likewise: records of these branches that are provisional."""


def figures_of(tx: Tx, loops: Iterable[int | None]) -> dict[int, Mapping[str, int]]:
    """Return what items came to in those of some loops that learn, or did."""
    ids = sorted({loop for loop in loops if loop is not None})
    rows = tx.rows("learning_figures", ids=tx.many(ids)) if ids else ()
    return {row.loop: json.loads(row.figures) for row in rows}


def stamped(outcome: Outcome, figures: Mapping[str, int]) -> Outcome:
    """The outcome of an item that ends, with how often its branches were confirmed before."""
    replay = outcome.replay
    if replay is None or not replay.branches:
        return outcome
    return replace(outcome, replay=replace(replay, confirmed=_confirmed(figures, replay)))


def is_provisional(replay: Replay, figures: Mapping[str, int]) -> bool:
    """Return whether the records of an item that has ended are provisional.

    Args:
        replay: as `stamped` has left it.
        figures: of its loop; nothing where the loop does not learn.
    """
    return replay.audit != "right" and replay.confirmed >= _confirmed(figures, replay)


def note_ends(figures: Counter[str], outcomes: Iterable[Outcome]) -> None:
    """Counts items that end in one commit. A right audit among them confirms what ended before, and with it."""
    read = [
        outcome.replay
        for outcome in outcomes
        if outcome.replay is not None and outcome.replay.branches and outcome.status is Status.COMPLETED
    ]
    replays = [replay for replay in read if not replay.shadow]
    confirmed = {replay.branches for replay in replays if replay.audit == "right"}
    figures.update(
        _PROVISIONAL + replay.branches for replay in replays if replay.whole and replay.branches not in confirmed
    )
    for branches in confirmed:
        figures[_CONFIRMED + branches] += 1
        figures[_PROVISIONAL + branches] = 0
    _add_up(figures)


def provisional_by(figures: Mapping[str, int], keys: Iterable[str]) -> list[str]:
    """The branches of provisional records, as `Replay.branches`, of those that some of these branches have read.

    Args:
        keys: `Branch.key` of each branch.
    """
    doubted = set(keys)
    kept = (name.removeprefix(_PROVISIONAL) for name, n in figures.items() if n and name.startswith(_PROVISIONAL))
    return [branches for branches in kept if doubted & set(branches.split("+"))]


def note_reopened(figures: Counter[str], branches: str, n: int) -> None:
    """Takes records that are done anew from those that are provisional."""
    figures["reopened"] += n
    figures[_PROVISIONAL + branches] = max(0, figures[_PROVISIONAL + branches] - n)
    _add_up(figures)


def _confirmed(figures: Mapping[str, int], replay: Replay) -> int:
    return figures.get(_CONFIRMED + replay.branches, 0)


def _add_up(figures: Counter[str]) -> None:
    figures["provisional"] = sum(n for name, n in figures.items() if name.startswith(_PROVISIONAL))
