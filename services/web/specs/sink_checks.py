"""Checks of a job's sinks for orders that no writer could carry out: refused when the job is submitted,
with the field.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from shoal.agent.spec import JobSpec, PostgresSink
from shoal.agent.support.json_value import Json
from shoal.services.sinks.folder import folder_fault, tenant_folders


def sink_faults(spec: JobSpec, tenant: str, folders: Sequence[Path]) -> list[dict[str, str]]:
    """The fields of a job's sinks that cannot be as they are, as {field, reason}. Looks at folders of this machine."""
    return [{"field": field, "reason": reason} for field, reason in _faults(spec, tenant_folders(folders, tenant))]


def _faults(spec: JobSpec, folders: Sequence[Path]) -> Iterator[tuple[str, str]]:
    places: dict[tuple[str, str], int] = {}
    for index, sink in enumerate(spec.sinks):
        earlier = places.setdefault((sink.kind, sink.place), index)
        if earlier != index:
            yield f"sinks[{index}].{sink.kind}", f"is the place of sinks[{earlier}]: each place is written once"
        if sink.folder is not None and (fault := folder_fault(Path(sink.folder.path), folders)):
            yield f"sinks[{index}].folder.path", fault
        if sink.postgres is not None:
            yield from _unknown_keys(spec, sink.postgres, f"sinks[{index}].postgres.key")


def _unknown_keys(spec: JobSpec, sink: PostgresSink, field: str) -> Iterator[tuple[str, str]]:
    schema = (spec.extract.record_schema if spec.extract else None) or {}
    properties: Json = schema.get("properties")
    if not isinstance(properties, dict):
        return
    for index, name in enumerate(sink.key):
        if name not in properties:
            yield f"{field}[{index}]", f"{name!r} is no field of the schema"
