"""Records and items that are known to be missing from a session's list, by its tasks alone."""

from __future__ import annotations

from collections.abc import Iterable

from shoal.agent.support.json_value import Json
from shoal.agent.types import Incomplete, Task


def incomplete(history: Iterable[Task], *, many: bool) -> Incomplete | None:
    """Return what the session's list is known to lack;
    None where nothing is known to be missing.

    Args:
        many: the job asks for many records of one page. One record is never a part of a list.
    """
    results = [(task.type, task.result) for task in history if isinstance(task.result, dict)]
    of_loops = _of_items([result for kind, result in results if kind == "loop"])
    if of_loops is not None or not many:
        return of_loops
    return _of_records([result for kind, result in results if kind == "extract"])


def nothing_read(history: Iterable[Task], records: int, *, asked: bool) -> dict[str, Json] | None:
    """The last reading of a session that was to read data and has no record; empty where it read nothing at all.

    None where there are records, where the page says that its list has none, and where the session has a loop: then
    its items have the records.

    Args:
        asked: the job says what is to be read. Where it does not, only a reading without a record is one too few.
    """
    tasks = [task for task in history if isinstance(task.result, dict)]
    readings = [task.result for task in tasks if task.type == "extract"]
    if records or any(task.type == "loop" for task in tasks) or any(reading.get("empty") for reading in readings):
        return None
    return readings[-1] if readings else {} if asked else None


def _of_items(loops: list[dict[str, Json]]) -> Incomplete | None:
    """A list whose items were collected. What the caller's own limit left out was not asked for."""
    for result in reversed(loops):
        if result.get("limited"):
            continue
        if "shown" in result or "cut" in result:
            return Incomplete(result["expected"], result.get("shown"), str(result.get("cut", "")))
    return None


def _of_records(readings: list[dict[str, Json]]) -> Incomplete | None:
    """A list whose records were read, from one page or from several."""
    if not readings:
        return None
    count = sum(reading["records"] for reading in readings)
    invalid = sum(reading.get("left_out", 0) for reading in readings)
    shown = max((reading["shown"] for reading in readings if reading.get("shown") is not None), default=None)
    last = readings[-1]
    if last.get("empty") and count == 0:
        return None
    shifted = next((str(reading["shifted"]) for reading in readings if "shifted" in reading), "")
    if shifted and count != shown:
        return Incomplete(count, None, shifted)
    whole = bool(last["complete"]) or (shown is not None and count + invalid >= shown)
    if whole and not invalid:
        return None
    why = "; ".join(filter(None, (str(last.get("why", "")), _unfit(invalid))))
    if whole:
        return Incomplete(count, count + invalid, why)
    return Incomplete(count, shown if shown is not None and shown > count else None, why)


def _unfit(invalid: int) -> str:
    if invalid == 1:
        return "1 record does not fit the schema"
    return f"{invalid:,} records do not fit the schema" if invalid else ""
