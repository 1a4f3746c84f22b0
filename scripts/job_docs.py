"""Writes docs/job.md from the job spec; with --check, the exit code says whether it is current (1: no)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from scripts.generated import deliver
from shoal.agent.spec import JobSpec
from shoal.services.web.specs.browser_checks import NOT_YET_FIELDS

HEAD = """# Every field of a job

A job is one JSON object. `url` is required, and so is at least one of `goal`, `extract` and `loop`. An unknown field is
refused by name. [The concepts page](concepts.md) says what a job, a session and a loop are.

This page is written by `scripts/job-docs` from `agent/spec`.
"""


def page() -> str:
    """The whole page: one table for the job, and one for each part of it."""
    refused = NOT_YET_FIELDS
    out = [HEAD]
    for title, model, path in _parts(JobSpec, "", "The job"):
        about = "" if path == "" else f"{' '.join((model.__doc__ or '').split())}\n\n"
        out.append(f"## {title}\n\n{about}| field | kind | default | meaning |\n| --- | --- | --- | --- |")
        out += [
            _row(name, field, f"{path}{field.alias or name}" in refused) for name, field in model.model_fields.items()
        ]
        out.append("")
    return "\n".join(out)


def _parts(model: type[BaseModel], path: str, title: str) -> Iterator[tuple[str, type[BaseModel], str]]:
    """The models of a job, each once, in the order of their fields."""
    yield title, model, path
    for name, field in model.model_fields.items():
        inner = _model_of(field.annotation)
        if inner is not None and inner is not model:  # a loop may hold a loop
            where = f"{path}{field.alias or name}"
            yield from _parts(inner, f"{where}.", f"`{where}`")


def _model_of(annotation: Any) -> type[BaseModel] | None:
    """The model that a field holds, alone, or as the value of each name."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in get_args(annotation):
        if (model := _model_of(inner)) is not None:
            return model
    return None


def _row(name: str, field: FieldInfo, refused: bool) -> str:
    meaning = field.description or " ".join(((_model_of(field.annotation) or NoneType).__doc__ or "").split())
    later = " Not available in this version." if refused and "not available" not in meaning else ""
    return f"| `{field.alias or name}` | {_kind(field.annotation)} | {_default(field)} | {_cell(meaning)}{later} |"


def _cell(text: str) -> str:
    return (text[:1].upper() + text[1:]).replace("|", "\\|").rstrip(".") + "."


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.default_factory() if field.default_factory else field.default  # type: ignore[call-arg]
    if isinstance(value, BaseModel) or value in (None, "", (), {}):
        return ""
    if isinstance(value, tuple):
        return ", ".join(f"`{part}`" for part in value)
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


_NAMES = {bool: "`true`, `false`", int: "whole number", float: "number", str: "text", Any: "any JSON"}


def _kind(annotation: Any) -> str:
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return ", ".join(f"`{choice}`" for choice in args)
    if origin in (Union, UnionType):
        return " or ".join(_kind(inner) for inner in args if inner is not NoneType)
    if origin is tuple:
        return f"list of {_kind(args[0])}"
    if origin is dict:
        return "JSON object" if args[1] is Any else f"names with {_kind(args[1])}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "object"
    return _NAMES.get(annotation) or _kind(args[0])  # annotated types


if __name__ == "__main__":
    sys.exit(deliver("docs/job.md", page()))
