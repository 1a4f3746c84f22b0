"""A job's result beside the truth of its case."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urldefrag

from shoal.agent.support.json_value import Json
from tests.sites.registry.case import Case, Either


@dataclass(frozen=True)
class Answer:
    """The result of a finished job, as the API tells it."""

    job: Mapping[str, Json]
    rows: Sequence[Mapping[str, Json]]  # the result lines
    seconds: float = 0.0


@dataclass(frozen=True)
class Wrong:
    """A value that a record gives and that is not the truth."""

    case: str
    page: str
    field: str
    said: Json
    truth: Json
    source: Json


@dataclass
class Verdict:
    """The figures of one case."""

    case: str
    kind: str
    stated: int = 0  # values that the site states in structure
    given: int = 0
    right: int = 0
    wrong: list[Wrong] = field(default_factory=list)
    invented: list[Mapping[str, Json]] = field(default_factory=list)  # records of nothing that is on the site
    missing_records: int = 0
    lists: int = 0
    lists_honest: int = 0  # complete, or said to be incomplete
    lists_doubted: int = 0  # whole, and said to be incomplete
    outcomes: int = 0
    outcomes_right: int = 0
    faults: list[str] = field(default_factory=list)  # sentences, one for each thing that is not right
    seconds: float = 0.0

    @property
    def missing(self) -> int:
        """Values that the site states and no record gives."""
        return max(0, self.stated - self.right - sum(1 for wrong in self.wrong if wrong.truth is not None))


def judged(case: Case, answer: Answer) -> Verdict:
    """The figures of `answer`."""
    verdict = Verdict(case.name, case.kind, seconds=answer.seconds)
    if case.is_form:
        _judge_outcome(case, answer, verdict)
    if case.truth:
        _judge_records(case, answer, verdict)
    return verdict


def _judge_outcome(case: Case, answer: Answer, verdict: Verdict) -> None:
    status = answer.job["status"]
    expected = ("completed",) if case.succeeds else ("failed", "terminated")
    stored = case.check() if case.check is not None else ""
    verdict.outcomes = 1
    if status in expected and not stored:
        verdict.outcomes_right = 1
        return
    verdict.faults.append(f"told {status}, but the site {'took' if case.succeeds else 'refused'} it: {_why(answer)}")
    if stored:
        verdict.faults.append(f"on the site: {stored}")


def _judge_records(case: Case, answer: Answer, verdict: Verdict) -> None:
    verdict.stated = sum(_states(true, case) for true in case.truth)
    given = [row for row in answer.rows if row.get("record") is not None]
    left = list(case.truth)
    for row in given:
        true = _matching(case, row, left)
        if true is None:
            verdict.invented.append(row["record"])
            verdict.faults.append(f"invented: {_short(row['record'])} from {row.get('url')}")
            continue
        left.remove(true)
        _judge_fields(case, row, true, verdict)
    verdict.missing_records = len(left)
    if left:
        verdict.faults.append(f"{len(left)} of {len(case.truth)} records missing: {_why(answer)}")
    if case.is_list:
        verdict.lists = 1
        doubted = is_reported_incomplete(answer)
        honest = not left or doubted
        verdict.lists_honest = int(honest)
        verdict.lists_doubted = int(doubted and not left and not verdict.invented)
        if verdict.lists_doubted:
            verdict.faults.append(f"gives all of {len(case.truth)} and doubts it: {_why(answer)}")
        if not honest:
            verdict.faults.append(f"gives {len(case.truth) - len(left)} of {len(case.truth)} and says completed")


def _states(true: Mapping[str, Json], case: Case) -> int:
    return sum(1 for name, value in true.items() if name != case.at and value is not None)


def _matching(case: Case, row: Mapping[str, Json], left: Sequence[Mapping[str, Json]]) -> Mapping[str, Json] | None:
    """The record of the truth that a result line is about."""
    if case.at:
        item = row.get("item") or {}
        addresses = {urldefrag(str(url)).url for url in (row.get("url"), item.get("value")) if url}
        return next((true for true in left if urldefrag(true[case.at]).url in addresses), None)
    if not case.key:
        return left[0] if left else None
    said = row["record"]
    alike = [true for true in left if same(said.get(case.key), true[case.key])]
    return max(alike, key=lambda true: sum(same(said.get(name), value) for name, value in true.items()), default=None)


def _judge_fields(case: Case, row: Mapping[str, Json], true: Mapping[str, Json], verdict: Verdict) -> None:
    for name, said in row["record"].items():
        if said is None or name == case.at:
            continue
        verdict.given += 1
        truth = true.get(name)
        if truth is not None and same(said, truth):
            verdict.right += 1
            continue
        source = (row.get("sources") or {}).get(name)
        wrong = Wrong(case.name, str(row.get("url")), name, said, _plain(truth), source)
        verdict.wrong.append(wrong)
        verdict.faults.append(f"wrong {name}: said {_short(said)}, truth {_short(_plain(truth))}, source {source}")


def is_reported_incomplete(answer: Answer) -> bool:
    """Return whether the job says by itself that something is missing."""
    counts = answer.job.get("counts") or {}
    in_part = counts.get("final", 0) > counts.get("completed", 0)
    return answer.job["status"] != "completed" or bool(answer.job.get("incomplete")) or in_part


def same(said: Json, truth: Json) -> bool:
    """Return whether a value is the truth; of text, how white space is laid out does not count."""
    if isinstance(truth, Either):
        return any(same(said, way) for way in truth.ways)
    if isinstance(truth, bool) or isinstance(said, bool):
        return said is truth
    if isinstance(truth, int | float) and isinstance(said, int | float):
        return abs(said - truth) < 1e-9
    if isinstance(truth, list | tuple) and isinstance(said, list):
        return len(said) == len(truth) and all(same(a, b) for a, b in zip(said, truth, strict=True))
    return isinstance(said, str | int | float) and plain_text(str(said)) == plain_text(str(truth))


def plain_text(text: str) -> str:
    """`text` with one space for each run of white space, and none of the marks that show nothing."""
    seen = "".join(c for c in unicodedata.normalize("NFC", text) if unicodedata.category(c) != "Cf")
    return re.sub(r"\s+", " ", seen).strip()


def _plain(truth: Json) -> Json:
    return truth.ways[0] if isinstance(truth, Either) and truth.ways else truth


def _why(answer: Answer) -> str:
    """Return what the job says about its end."""
    errors = [row["error"]["message"] for row in answer.rows if row.get("error")]
    job_error = (answer.job.get("error") or {}).get("message")
    said = [job_error, answer.job.get("reason"), *errors[:2]]
    return f"{answer.job['status']}; " + "; ".join(str(text)[:300] for text in dict.fromkeys(said) if text)


def _short(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 160 else text[:157] + "..."
