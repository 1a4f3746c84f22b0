"""The base of every record of a workflow."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass

from pydantic import BaseModel, ConfigDict

from shoal.agent.support.json_value import Json

_ALWAYS = frozenset({"kind", "format"})
"""Fields that are written even where they are as by default: a reader goes by them."""


class WorkflowPart(BaseModel):
    """One record of a workflow: it cannot be changed, and an unknown field is refused by name."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    def as_json(self) -> dict[str, Json]:
        """The record as JSON, without what is as by default."""
        return _written(self)


def _written(record: BaseModel) -> dict[str, Json]:
    fields: dict[str, Json] = {}
    for name, field in type(record).model_fields.items():
        value = getattr(record, name)
        given = name in record.model_fields_set and value is None and field.default is None
        if name in _ALWAYS or value != field.get_default(call_default_factory=True) or given:
            fields[field.alias or name] = _value(value)
    return fields


def _value(value: Json) -> Json:
    if isinstance(value, BaseModel):
        return _written(value)
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, (tuple, list)):
        return [_value(item) for item in value]
    if isinstance(value, dict):
        return {name: _value(item) for name, item in value.items()}
    return value
