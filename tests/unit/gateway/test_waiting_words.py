"""One enum of causes crosses the seams; words are made at the edge."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from shoal.services.dispatch import dispatcher
from shoal.services.store.waiting_causes import WaitingCause
from shoal.services.web.cluster_state.overview import FRESH_S, Snapshot
from shoal.services.web.cluster_state.waiting_words import QUEUE_CAUSES, TEXTS, cause_of, labelled, queue_label
from tests.gateway_world import world

ROOT = Path(__file__).resolve().parents[3]

LABELS = {
    "slot": "a free slot",
    "share": "the tenant's share of the slots",
    "domain_limit": "domain limit",
    "domain_pause": "the site asked for a pause",
    "domain_delay": "the delay between sessions",
    "site_paused": "an operator paused the site",
    "model": "the model server",
}
"""Labels of `shoal_queues_waiting`. Labels never change: dashboards of operators name these."""


def compared_texts(path: Path) -> Iterator[str]:
    """English text (a constant with a space) that a module compares with, or looks up in."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            constants = [part for side in sides for part in (side, *getattr(side, "elts", ()))]
        elif isinstance(node, ast.MatchValue):
            constants = [node.value]
        elif isinstance(node, ast.Dict):
            constants = [key for key in node.keys if key is not None]
        else:
            continue
        for constant in constants:
            if isinstance(constant, ast.Constant) and isinstance(constant.value, str) and " " in constant.value.strip():
                yield f"{path.relative_to(ROOT)}:{constant.lineno}: {constant.value!r}"


def test_no_module_compares_english_text() -> None:
    assert [text for path in sorted((ROOT / "services").rglob("*.py")) for text in compared_texts(path)] == []


def test_every_cause_has_words_a_meaning_and_what_to_do() -> None:
    assert set(TEXTS) == set(WaitingCause)
    for cause, text in TEXTS.items():
        assert text.words and text.meaning.endswith(".") and text.do.endswith("."), cause


def test_labels_of_queues_never_change() -> None:
    assert {str(cause): queue_label(cause) for cause in QUEUE_CAUSES} == LABELS


@pytest.mark.parametrize(("code", "words"), LABELS.items())
def test_a_snapshot_of_an_earlier_version_is_understood(code: str, words: str) -> None:
    for text in (code, words):
        snapshot = Snapshot(
            {"lanes_waiting": {text: 2}, "lanes_held": {text: [[7, 1]]}, "held": {"7": {"a.example": [text, 3.0]}}}, 0.0
        )
        cause = WaitingCause(code)
        assert (snapshot.queues, snapshot.named_queues) == ({cause: 2}, {cause: [(7, 1)]})
        assert snapshot.delay_of(7, "a.example") == (cause, 3.0)
        shown = labelled(snapshot.data)
        assert (shown["lanes_waiting"], shown["lanes_held"]) == ({words: 2}, {words: [[7, 1]]})
        assert shown["held"] == {"7": {"a.example": [words, 3.0]}}


def test_a_cause_of_a_later_version_counts_as_what_the_caller_says() -> None:
    assert cause_of("phase of the moon", WaitingCause.SLOT) is WaitingCause.SLOT
    assert labelled({"lanes_waiting": {"moon": 1}}) == {"lanes_waiting": {"moon": 1}}


async def test_every_label_of_queues_is_told_from_the_beginning() -> None:
    async with world() as here:
        text = (await here.client.get("/metrics")).text
    for words in LABELS.values():
        assert f'shoal_queues_waiting{{cause="{words}"}} 0.0' in text


def test_a_snapshot_is_fresh_for_longer_than_dispatchers_take_to_write_the_next() -> None:
    assert 3 * dispatcher._HOUSEKEEPING_S <= FRESH_S
