"""Holds values to schemas without holding up anything else.

What is cheap is done at once. What is not is done by a process of its own, which is ended when its time is over: the
engine holds Python's lock while it works, and a thread cannot be ended.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from jsonschema_rs import Validator

from shoal.agent.support.aside import run_module
from shoal.agent.support.bounded_cache import bounded_cache
from shoal.agent.support.json_value import Json
from shoal.agent.support.schemas.bounds import LONG_SCHEMA, schema_fault
from shoal.agent.support.schemas.cost import Cost, Endless, TooCostly, size_of
from shoal.agent.support.schemas.engine import SchemaFault, SchemaUnusable, compiled, faults, fits
from shoal.agent.support.schemas.parts import References, Schema

_AT_ONCE_UNITS = 3_000_000
"""Some 30 ms, which an event loop may stand."""
_TELL_AT_ONCE = 5_000_000
"""Units times characters: each fault takes a copy of the value that it is about."""
ASIDE_S = 5.0
"""Time of the process; a machine that is busy starts it in one of these."""
_CHILD = "shoal.agent.support.schemas.child"
_MOST_SAID = 64 << 20
"""Bytes of its answer: each of its few faults holds some of the value."""
_MOST_DEEP = 200
"""Levels of a value: the engine's stack has an end."""
MOST_FAULTS = 20
_TOO_DEEP = f"is nested too deeply: more than {_MOST_DEEP} levels"


@dataclass(frozen=True, slots=True)
class _Ready:
    """A schema that has passed the bounds, and all that is known of it."""

    schema: Schema
    validator: Validator
    references: References


async def check(schema: Mapping[str, Json], value: Json) -> list[SchemaFault]:
    """The first faults of `value`; empty when it fits. What cannot be found out is told as a fault, too."""
    text = json.dumps(schema)
    if (reason := schema_fault(text)) is not None:
        return [_whole(f"cannot be checked: the schema {reason}")]
    if _too_deep(value):
        return [_whole(_TOO_DEEP)]
    return await _faults_of(_ready(text), text, value)


async def check_reply(schema: Mapping[str, Json], value: Json) -> list[SchemaFault]:
    """As `check` for a schema of ours, which may be larger than callers' are and is not met again."""
    text = json.dumps(schema)
    try:
        ready = _made(text)
    except SchemaUnusable as error:
        return [_whole(f"cannot be checked: the schema {error}")]
    return [_whole(_TOO_DEEP)] if _too_deep(value) else await _faults_of(ready, text, value)


async def _faults_of(ready: _Ready, text: str, value: Json) -> list[SchemaFault]:
    try:
        units = Cost(ready.schema, ready.references).of(value)
    except (TooCostly, Endless):
        return await _aside(text, value)
    if units > _AT_ONCE_UNITS:
        return await _aside(text, value)
    if fits(ready.validator, value):
        return []
    if units * size_of(value) > _TELL_AT_ONCE:
        return await _aside(text, value)
    return faults(ready.validator, value, MOST_FAULTS)


def _made(text: str) -> _Ready:
    schema = json.loads(text)
    return _Ready(schema, compiled(schema), References(schema))


_ready = bounded_cache(64, longest=LONG_SCHEMA)(_made)


def _too_deep(value: Json) -> bool:
    level = [value]
    for _ in range(_MOST_DEEP):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list | tuple)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def _whole(message: str) -> SchemaFault:
    return SchemaFault((), "", message)


async def _aside(text: str, value: Json) -> list[SchemaFault]:
    """As `check`, in a process that has so much time and memory and no more."""
    request = text.encode() + b"\n" + json.dumps(value).encode() + b"\n"
    return _heard(await run_module(_CHILD, stdin=request, within_s=ASIDE_S, most_bytes=_MOST_SAID))


def _heard(output: bytes) -> list[SchemaFault]:
    """Return what the process found: its verdict, then the faults, each in a line that is whole or does not count."""
    verdict, _, rest = output.partition(b"\n")
    if verdict == b"fits":
        return []
    if verdict != b"misfit":
        return [_whole(f"cannot be checked within {ASIDE_S:g} s: schema and value are too large together")]
    faults_json, end, _ = rest.partition(b"\n")
    if not end:
        return [_whole("does not fit the schema; it is too large to say where")]
    return [
        SchemaFault(tuple(path), keyword, message, missing)
        for path, keyword, message, missing in json.loads(faults_json)
    ]
