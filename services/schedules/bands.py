"""The test that a run is degraded: its figures beside those of the schedule's last good runs. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from shoal.agent.support.json_value import Json
from shoal.services.schedules.figures import FieldFigures, RunFigures, is_number, values_of
from shoal.services.schedules.spec import BandsSpec

HISTORY = 10
"""Good runs that a run is held against, the last ones."""
_SEVERAL = 3
"""Records and different values from which a field that has one value is striking."""
_NONE = FieldFigures()

Kind = Literal["items", "completed", "given", "range", "constant"]


@dataclass(frozen=True, slots=True)
class Deviation:
    """One way in which a run differs from those before it by more than its band."""

    kind: Kind
    text: str
    field: str = ""  # path of the field that it is about; "" for the run as a whole


@dataclass(frozen=True, slots=True)
class Bounds:
    """Between what a field's numbers are expected."""

    least: float
    most: float

    def holds(self, number: float) -> bool:
        """Return whether a number is within."""
        return self.least <= number <= self.most


@dataclass(frozen=True, slots=True)
class BaselineRun:
    """The run that the history lets expect."""

    records: float
    completed: float  # share of the items
    given: Mapping[str, float]  # share of the records, by field
    bounds: Mapping[str, Bounds]
    varied: frozenset[str]  # fields that had several values


def expectation(history: Sequence[RunFigures], bands: BandsSpec) -> BaselineRun | None:
    """Return what is expected after these runs; None where there is none."""
    if not history:
        return None
    paths = {path for run in history for path in run.fields}
    with_records = [run for run in history if run.records]
    return BaselineRun(
        records=median(run.records for run in history),
        completed=median(_completed(run) for run in history),
        given={path: median(_filled_share(run, path) for run in with_records) for path in paths},
        bounds={
            path: bounds
            for path in paths
            if (bounds := _bounds([run.fields.get(path) for run in history], bands.range))
        },
        varied=frozenset(
            path for path in paths if median(run.fields.get(path, _NONE).values for run in with_records) >= _SEVERAL
        ),
    )


def _completed(run: RunFigures) -> float:
    return run.completed / run.items if run.items else 0.0


def _filled_share(run: RunFigures, path: str) -> float:
    return run.fields.get(path, _NONE).given / run.records


def _bounds(fields: Iterable[FieldFigures | None], factor: float) -> Bounds | None:
    kept = [field for field in fields if field is not None and field.least is not None and field.most is not None]
    if not kept:
        return None
    least, most = min(field.least or 0.0 for field in kept), max(field.most or 0.0 for field in kept)
    return Bounds(
        least=least / factor if least > 0 else least * factor,
        most=most * factor if most > 0 else most / factor if most < 0 else float("inf"),
    )


class OutsideCounter:
    """Counts the numbers of a run that are out of range."""

    def __init__(self, bounds: Mapping[str, Bounds]) -> None:
        self._bounds = bounds
        self.numbers: dict[str, int] = {}
        self.outside: dict[str, int] = {}
        self.examples: dict[str, float] = {}

    def add(self, record: Json) -> None:
        """Looks at one record."""
        for path, value in values_of(record):
            bounds = self._bounds.get(path)
            if bounds is None or not is_number(value):
                continue
            self.numbers[path] = self.numbers.get(path, 0) + 1
            if not bounds.holds(value):
                self.outside[path] = self.outside.get(path, 0) + 1
                self.examples.setdefault(path, value)


def judge(run: RunFigures, expected: BaselineRun, outside: OutsideCounter, bands: BandsSpec) -> tuple[Deviation, ...]:
    """Why a run is degraded, what concerns all of it first; empty where it is not."""
    reasons = [*_of_run(run, expected, bands)]
    if run.records:
        reasons += _of_fields(run, expected, bands)
        reasons += _of_numbers(expected, outside, bands)
    return tuple(reasons)


def _of_run(run: RunFigures, expected: BaselineRun, bands: BandsSpec) -> Iterable[Deviation]:
    fewest = expected.records * (1 - bands.items)
    most = expected.records / (1 - bands.items) if bands.items < 1 else float("inf")
    if not fewest <= run.records <= max(most, fewest):
        yield Deviation("items", f"{run.records:,} records; {expected.records:,.0f} were usual")
    if _completed(run) < expected.completed - bands.completed:
        yield Deviation(
            "completed",
            f"{_completed(run):.0%} of the items completed ({run.completed:,} of {run.items:,}); "
            f"{expected.completed:.0%} was usual",
        )


def _of_fields(run: RunFigures, expected: BaselineRun, bands: BandsSpec) -> Iterable[Deviation]:
    for path in sorted(expected.given):
        share = _filled_share(run, path)
        if share < expected.given[path] - bands.given:
            text = f"{path}: {share:.0%} of the records give it; {expected.given[path]:.0%} was usual"
            yield Deviation("given", text, path)
        figures = run.fields.get(path, _NONE)
        if bands.constant and path in expected.varied and figures.values == 1 and figures.given >= _SEVERAL:
            yield Deviation("constant", f"{path}: all {figures.given:,} records have one value", path)


def _of_numbers(expected: BaselineRun, outside: OutsideCounter, bands: BandsSpec) -> Iterable[Deviation]:
    for path, n in sorted(outside.outside.items()):
        if n > bands.outside * outside.numbers[path]:
            bounds, example = expected.bounds[path], outside.examples[path]
            span = f"{bounds.least:,g} to {bounds.most:,g}"
            yield Deviation("range", f"{path}: {n:,} of its numbers are out of range ({example:,g}; {span})", path)
