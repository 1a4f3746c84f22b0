"""Suites: what is taken, what is refused, and with which words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shoal.services.errors import BadInput
from shoal.services.evaluation.suite import episodes_of, seeds_of


def suite(folder: Path, *lines: Any) -> str:
    file = folder / "suite.jsonl"
    file.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return str(file)


def test_each_task_and_seed_is_an_episode() -> None:
    found = episodes_of(["miniwob:click-test,click-dialog"], seeds_of("0-1,7"))
    assert [episode.name for episode in found] == [
        *("click-test:0", "click-test:1", "click-test:7"),
        *("click-dialog:0", "click-dialog:1", "click-dialog:7"),
    ]
    assert {episode.group for episode in found} == {"click-test", "click-dialog"}
    assert len(episodes_of(["miniwob"], [0])) > 100


def test_lines_are_jobs_with_checks(tmp_path: Path) -> None:
    job = {"url": "https://shop.example/", "goal": "x"}
    path = suite(
        tmp_path,
        {"name": "shop:a", "job": job, "check": {"records": [{"n": 1}], "match": "equal"}, "label": "yes"},
        "",
        {"name": "b", "group": "other", "job": job},
    )
    one, two = episodes_of([path], [])
    assert (one.group, one.check.match, one.label) == ("shop", "equal", "yes")
    assert (two.group, two.check.records) == ("other", None)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "line 1"),
        ({"name": "a"}, "job"),
        ({"name": "a", "job": {}}, "needs a `url`"),
        ({"name": "../a", "job": {"url": "https://x.example"}}, "name"),
        ({"name": "a", "job": {"url": "https://x.example"}, "check": {"recrods": []}}, "check.recrods"),
        ({"name": "a", "job": {"url": "https://x.example"}, "label": "maybe"}, "label"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: Any, told: str) -> None:
    with pytest.raises(BadInput) as caught:
        episodes_of([suite(tmp_path, line)], [])
    assert told in str(caught.value)


def test_what_cannot_be_run_is_refused(tmp_path: Path) -> None:
    twice = {"name": "a", "job": {"url": "https://x.example"}}
    for suites in (["miniwob:no-such-task"], [str(tmp_path / "none")], [suite(tmp_path, twice, twice)], []):
        with pytest.raises(BadInput):
            episodes_of(suites, [0])
    for seeds in ("", "a", "1-", "-1", "1..2"):
        with pytest.raises(BadInput):
            seeds_of(seeds)
