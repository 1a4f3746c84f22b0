"""Field glossaries for all jobs: one session asks a model for a schema's, the others get what it answered.

The decision is a pure function of one row, whose lock is held until the transaction ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shoal.agent.types import FieldGlossary
from shoal.agent.worker_messages import GlossaryAnswer, GlossaryWish
from shoal.services.store.database import codec
from shoal.services.store.database.transaction import Tx

ASK_S = 180.0
"""A session that was told to ask a model and is silent for so long is dead: the next one that asks is told."""
KEEP_S = 30 * 24 * 3600.0
NONE_KEEP_S = 600.0
"""Seconds for which a missing glossary is remembered: a later reply may be usable. For a silent model it is the longest
time.
"""
AGAIN_S = 1.0
"""When to ask again while another session does."""
_PRUNED = 100
"""Rows that have run out, removed with each transaction that keeps one: more than come in."""


@dataclass(frozen=True, slots=True)
class StoredGlossary:
    """One schema's, as its row says."""

    key: str
    glossary: FieldGlossary | None = None  # None: nothing was known so far
    expires_at: float = 0.0  # seconds since the epoch
    asking_by: int = 0  # the session that was told to ask last
    asking_until: float = 0.0  # until when it may be expected to tell


def answer(known: StoredGlossary, session: int, now: float) -> tuple[StoredGlossary, GlossaryAnswer]:
    """Return what a session gets that asks."""
    # What would hold for longer than is allowed was kept before the clock was set back.
    if known.glossary is not None and 0 < known.expires_at - now <= _keep_s(known.glossary):
        return known, GlossaryAnswer(known.glossary)
    if 0 < known.asking_until - now <= ASK_S and known.asking_by != session:
        return known, GlossaryAnswer(wait_s=AGAIN_S)
    # What has run out stays: it tells how long the model was silent before.
    return replace(known, expires_at=0.0, asking_by=session, asking_until=now + ASK_S), GlossaryAnswer(ask=True)


def _keep_s(glossary: FieldGlossary) -> float:
    return KEEP_S if glossary.entries else glossary.silent_s or NONE_KEEP_S


def _after_answer(known: StoredGlossary, session: int, answered: FieldGlossary, now: float) -> StoredGlossary:
    """Return what is known once a session has told what a model answered.

    That there is none counts from the session whose order it is: an earlier one, which is late, takes nothing away.
    """
    if not answered.entries and known.asking_by != session:
        return known
    if answered.silent_s and known.glossary is not None:
        longer = min(2 * known.glossary.silent_s, NONE_KEEP_S)
        answered = replace(answered, silent_s=max(answered.silent_s, longer))
    return StoredGlossary(known.key, answered, now + _keep_s(answered))


def glossaries(tx: Tx, wishes: Sequence[tuple[int, GlossaryWish]]) -> list[GlossaryAnswer | None]:
    """The answers to some sessions, each given with its wish, in this order; None to those that only tell."""
    before = _locked(tx, sorted({wish.key for _, wish in wishes}))
    after = dict(before)
    for session, wish in wishes:  # first: those that ask at the same time want to know
        if wish.answered is not None:
            after[wish.key] = _after_answer(after[wish.key], session, wish.answered, tx.now)
    answers: list[GlossaryAnswer | None] = []
    for session, wish in wishes:
        reply = None
        if wish.given_back and after[wish.key].asking_by == session:
            after[wish.key] = replace(after[wish.key], asking_by=0, asking_until=0.0)
        if wish.asks:
            after[wish.key], reply = answer(after[wish.key], session, tx.now)
        answers.append(reply)
    tx.each("write_glossary", [_columns(known) for key, known in after.items() if known != before[key]])
    if any(wish.answered is not None for _, wish in wishes):
        tx.run("prune_glossaries", now=tx.now, most=_PRUNED)
    return answers


def _locked(tx: Tx, keys: Sequence[str]) -> dict[str, StoredGlossary]:
    """The rows of glossaries, locked in their order; made where there are none."""
    rows = tx.rows_made("lock_glossaries", "add_glossaries", n=len(keys), keys=tx.many(keys))
    return {
        row.key: StoredGlossary(
            row.key,
            None if row.found is None else codec.load_glossary(row.found),
            row.expires_at,
            row.asking_by,
            row.asking_until,
        )
        for row in rows
    }


def _columns(known: StoredGlossary) -> dict[str, object]:
    return {
        "key": known.key,
        "found": None if known.glossary is None else codec.dump_glossary(known.glossary),
        "expires_at": known.expires_at,
        "asking_by": known.asking_by,
        "asking_until": known.asking_until,
    }
