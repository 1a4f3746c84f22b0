"""Writes docs/settings.md from services/settings.py; with --check, the exit code says whether it is current (1: no)."""

from __future__ import annotations

import sys
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from scripts.generated import deliver
from shoal.services.settings import PREFIX, Settings

HEAD = """# Settings

Shoal is configured by environment variables alone. An empty variable counts as not set. An unknown `SHOAL_…` variable
or a bad value stops the process with a message that names it; variables that Kubernetes adds for Services are left out
of account. `shoal doctor` checks what the settings lead to.

This page is written by `scripts/settings-doc` from `services/settings.py`.

| variable | kind | default | meaning | used by |
| --- | --- | --- | --- | --- |
"""


def page() -> str:
    """The whole page."""
    return HEAD + "".join(_row(name, field) for name, field in Settings.model_fields.items())


def _row(name: str, field: FieldInfo) -> str:
    told: dict[str, Any] = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    unit = f" {told['unit']}" if told["unit"] else ""
    return (
        f"| `{PREFIX}{name.upper()}` | {_kind(field)} | {told['shown'] or _default(field, unit)} "
        f"| {field.description} | {told['part']} |\n"
    )


def _default(field: FieldInfo, unit: str) -> str:
    value = field.default
    if value in ("", (), None) or (isinstance(value, SecretStr) and not value.get_secret_value()):
        return "(empty)"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`{unit}"


_KINDS: dict[Any, str] = {tuple: "list", dict: "names with values"}


def _kind(field: FieldInfo) -> str:
    annotation = field.annotation
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(annotation) if choice)
    names = {bool: "`true`, `false`", int: "whole number", float: "number", SecretStr: "secret"}
    if annotation in names:
        return names[annotation]
    if annotation is str:
        return "text"
    if annotation == dict[str, Any]:
        return "JSON object"
    inner = [choice for choice in get_args(annotation) if choice is not NoneType]
    if len(inner) == 1 and inner[0] in names:
        return names[inner[0]]
    return _KINDS.get(get_origin(annotation) or annotation, "path")


if __name__ == "__main__":
    sys.exit(deliver("docs/settings.md", page()))
