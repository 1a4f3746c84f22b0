"""A benchmark's figures as Markdown."""

from __future__ import annotations

from shoal.agent.support.json_value import Json


def table(result: Json) -> list[str]:
    """One line per figure; where figures are called "row: column", one line per row with a column for each.

    A target that is missed is in bold.
    """
    names = [name.partition(": ") for name in result["figures"]]
    rows, columns = list(dict.fromkeys(n[0] for n in names)), list(dict.fromkeys(n[2] for n in names))
    if "" in columns or len(columns) >= len(names) / 2:
        return by_line(result)
    lines = [f"| | {' | '.join(columns)} |", f"| --- |{' ---: |' * len(columns)}"]
    for row in rows:
        cells = [cell(result, f"{row}: {column}") for column in columns]
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return lines


def cell(result: Json, name: str) -> str:
    """The median, short; bold where it misses its target."""
    value = result["figures"].get(name)
    if value is None:
        return ""
    shown = f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
    target = result["targets"].get(name)
    return shown if target is None or target["met"] else f"**{shown}**"


def by_line(result: Json) -> list[str]:
    """Every figure with its range and its target."""
    lines = ["| figure | median | range | target |", "| --- | --- | --- | --- |"]
    for name, value in result["figures"].items():
        low, high = result.get("ranges", {}).get(name, (value, value))
        target = result["targets"].get(name)
        verdict = "" if target is None else f"{target['bound']:g}: {'met' if target['met'] else '**missed**'}"
        lines.append(f"| {name} | {value:g} | {low:g} – {high:g} | {verdict} |")
    return lines
