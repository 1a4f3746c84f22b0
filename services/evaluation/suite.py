"""Suites: MiniWoB++ tasks by name, or a file with one job and its check a line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from shoal.agent.gym.miniwob import MiniWob
from shoal.services.errors import BadInput
from shoal.services.evaluation.episode import Episode, Label, SuiteLine

_MINIWOB = "miniwob"


def episodes_of(suites: Sequence[str], seeds: Sequence[int]) -> list[Episode]:
    """The episodes of all `suites`, in order.

    Args:
        suites: `miniwob` (every task), `miniwob:TASK,TASK`, or the path of a file of JSON lines.
        seeds: each MiniWoB++ task is an episode per seed.

    Raises:
        BadInput: a file cannot be read or a line is wrong, there is no such task, or two episodes share a name.
    """
    episodes: list[Episode] = []
    for suite in suites:
        kind, _, names = suite.partition(":")
        if kind == _MINIWOB:
            episodes += _miniwob([name for name in names.split(",") if name], seeds)
        else:
            episodes += _file(Path(suite))
    known: set[str] = set()
    for episode in episodes:
        if episode.name in known:
            raise BadInput(f"the suite has two episodes named {episode.name}")
        known.add(episode.name)
    if not episodes:
        raise BadInput("the suite has no episodes")
    return episodes


def _miniwob(names: Sequence[str], seeds: Sequence[int]) -> list[Episode]:
    try:
        known = MiniWob.names()
    except ModuleNotFoundError as error:
        raise BadInput("MiniWoB++ is not installed: pip install 'shoal[eval]'") from error
    for name in names:
        if name not in known:
            raise BadInput(f"MiniWoB++ has no task {name!r}")
    return [Episode(f"{name}:{seed}", name, {}, seed=seed) for name in names or known for seed in seeds]


def _file(path: Path) -> list[Episode]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from error
    episodes = []
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            line = SuiteLine.model_validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            raise BadInput(f"{path}, line {number}: {place + ': ' if place else ''}{first['msg']}") from error
        group = line.group or line.name.partition(":")[0]
        episodes.append(Episode(line.name, group, line.job, line.check, label=line.label))
    return episodes


def labels_of(path: Path) -> dict[str, Literal["yes", "no"]]:
    """Return what people said of episodes:
    JSON lines of `{"name", "label"}`.

    Raises:
        BadInput: the file cannot be read, or a line is wrong.
    """
    labels: dict[str, Literal["yes", "no"]] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        for line in filter(str.strip, lines):
            label = Label.model_validate_json(line)
            labels[label.name] = label.label
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from error
    except ValidationError as error:
        raise BadInput(f"{path}, line {len(labels) + 1}: needs name, and label yes or no") from error
    return labels


def seeds_of(text: str) -> list[int]:
    """Seeds as people write them: "0-4,7".

    Raises:
        BadInput: it is no such list.
    """
    seeds: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise BadInput(f"seeds: {text!r} is no list such as 0-4,7")
        seeds += range(int(first), int(last or first) + 1)
    return list(dict.fromkeys(seeds))
