"""The values of a version's parameters in one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.agent.support.json_paths import JsonPathFault, values_at
from shoal.agent.support.json_value import Json, merged
from shoal.agent.types import LoopItem, Record
from shoal.agent.workflows.divergences import Divergence, DivergenceReason
from shoal.agent.workflows.format.param import Param, value_hash
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.learning.origin import transformed


def values_of(
    version: Version, data: Json, item: LoopItem | None, records: Sequence[Record]
) -> Mapping[str, Json] | Divergence:
    """Each parameter's value by name. Of secrets it is the reference, which the session resolves where it is typed."""
    values: dict[str, Json] = {}
    for param in version.params:
        value = _value(param, data, item, records)
        if value is None:
            where = f"{param.source} {param.path}".strip()
            return Divergence(DivergenceReason.PARAMETER, param.name, f"{where} gives no value")
        if param.known and value_hash(value) not in param.known:
            reason = f"{param.source} {param.path} has a value that no run had, and no step used it"
            return Divergence(DivergenceReason.PARAMETER, param.name, reason)
        values[param.name] = transformed(value, param.transform)
    return values


def _value(param: Param, data: Json, item: LoopItem | None, records: Sequence[Record]) -> Json:
    match param.source:
        case "constant":
            return param.value
        case "secret":
            return f"secret:{param.path}"
        case "otp":
            return ""
        case "data":
            row = item.row if item is not None else None
            return _at(param.path, merged(data, row) if isinstance(row, dict) else data)
        case "loop":
            return _at(param.path, item.value if item.row is None else item.row) if item is not None else None
        case "earlier":
            values = [r.value.get(param.path) for r in reversed(records) if isinstance(r.value, Mapping)]
            return next((value for value in values if value is not None), None)


def _at(path: str, document: Json) -> Json:
    """The one value at `path`; None where there is none or several."""
    if not path:
        return document
    try:
        leaves = values_at(path, document)
    except JsonPathFault:
        return None
    return leaves[0][1] if len(leaves) == 1 else None
