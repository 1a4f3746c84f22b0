"""The differences between two versions of a workflow, part by part. Parts are told apart by name, not by order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shoal.agent.support.json_value import Json
from shoal.services.web.api.views.workflows import ChangeView

_NAMES = ("id", "name", "field")
"""Keys by which the entries of a list are told apart."""
_OWN = frozenset({"number", "parent", "state", "at", "by"})
"""Fields of a version about itself. It differs in any two."""


def changes(before: Mapping[str, Json], after: Mapping[str, Json]) -> list[ChangeView]:
    """The differences of two versions as JSON, in the order of the later one."""
    old, new = ({key: value for key, value in version.items() if key not in _OWN} for version in (before, after))
    return list(_changes("", old, new))


def _changes(path: str, before: Json, after: Json) -> Iterator[ChangeView]:
    if before == after:
        return
    old, new = _parts(before), _parts(after)
    if old is None or new is None:
        yield ChangeView(path=path, before=before, after=after)
        return
    for step in dict.fromkeys([*new, *old]):
        place = f"{path}{step}" if step.startswith("[") or not path else f"{path}.{step}"
        if step in old and step in new:
            yield from _changes(place, old[step], new[step])
        else:
            yield ChangeView(path=place, before=old.get(step), after=new.get(step))


def _parts(value: Json) -> dict[str, Json] | None:
    """The parts of an object or a list, by name; None for what has none."""
    if isinstance(value, Mapping):
        return {str(key): part for key, part in value.items()}
    if not isinstance(value, list):
        return None
    for name in _NAMES:
        labels = [part.get(name) for part in value if isinstance(part, Mapping) and isinstance(part.get(name), str)]
        if len(labels) == len(value) and len(set(labels)) == len(labels):
            return {f"[{part[name]}]": part for part in value}
    return {f"[{index}]": part for index, part in enumerate(value)}
