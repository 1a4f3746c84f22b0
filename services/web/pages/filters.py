"""The templates' filters, by which the pages write figures, times and values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from shoal.agent.support.json_value import Json
from shoal.agent.types import Action

CLIP = 160


def number(value: float) -> str:
    """1234567 as 1,234,567."""
    return f"{value:,}"


def span(seconds: float | None) -> str:
    """A time span in the unit that matters."""
    if seconds is None:
        return "–"
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


def ago(at: datetime | None, now: datetime) -> str:
    """Return how long ago something was at a moment of the same clock."""
    if at is None:
        return "–"
    seconds = (now - at).total_seconds()
    if seconds < 5:
        return "just now"
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return f"{int(seconds)} s ago"


def moment(at: datetime | None) -> str:
    """A moment to the second, UTC."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if at else "–"


def size(n: float) -> str:
    """Bytes in the unit that matters."""
    for unit in ("B", "KiB", "MiB"):
        if n < 1024:
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1024
    return f"{n:.1f} GiB"


def value(data: Json) -> str:
    """A field of a record as text."""
    if data is None:
        return "–"
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)


def clipped(text: str, length: int = CLIP) -> str:
    """`text`, cut where it gets long."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def pretty(data: Json) -> str:
    """JSON over several lines."""
    return json.dumps(data, ensure_ascii=False, indent=2, default=str)


def call(action: Action) -> str:
    """An action the way one would write it: click('a12')."""
    shown = ", ".join(_argument(name, data, place) for place, (name, data) in enumerate(action.args.items()))
    return f"{action.name}({shown})"


def _argument(name: str, data: Json, place: int) -> str:
    text = clipped(json.dumps(data, ensure_ascii=False) if not isinstance(data, str) else repr(data), 80)
    return text if place == 0 else f"{name}={text}"


def host_and_path(url: str) -> str:
    """An address without what everybody knows."""
    return url.removeprefix("https://").removeprefix("http://").removesuffix("/")


def place(text: str) -> str:
    """Return what tells one address of a loop from the next, which is seldom the host; other values as they are."""
    if not text.startswith(("http://", "https://")):
        return text
    _, slash, path = host_and_path(text).partition("/")
    return slash + path or host_and_path(text)


FILTERS: Mapping[str, Any] = {
    "number": number,
    "span": span,
    "ago": ago,
    "moment": moment,
    "size": size,
    "value": value,
    "clipped": clipped,
    "pretty": pretty,
    "call": call,
    "host_and_path": host_and_path,
    "place": place,
}
