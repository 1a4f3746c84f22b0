"""Records to JSON text and back; the only place that knows how the store's JSON columns look.

Defaults are left out, so a plain outcome takes some 100 bytes. JSON sits in text columns: PostgreSQL's `jsonb` refuses
`\\u0000`, which pages do contain.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError, from_json

from shoal.agent.error_info import ErrorInfo
from shoal.agent.spec import JobSpec, PolitenessSpec
from shoal.agent.support.json_value import Json
from shoal.agent.types import Checkpoint, FieldGlossary, LoopItem, Outcome, Task
from shoal.services.store.records import IncompleteLists

T = TypeVar("T")


_ELSEWHERE = {"tasks", "fan_out", "checkpoint", "artifacts"}
"""Parts of an outcome that have columns or rows of their own."""


def dump_outcome(outcome: Outcome) -> str:
    """An outcome without its tasks, fan-out, checkpoint and artifacts."""
    return _dump(Outcome, outcome, exclude=_ELSEWHERE)


def load_outcome(text: str) -> Outcome:
    """Return what `dump_outcome` wrote."""
    return _load(Outcome, text)


def dump_tasks(tasks: tuple[Task, ...]) -> str:
    """The tasks of one attempt."""
    return _dump(tuple[Task, ...], tasks)


def load_tasks(text: str) -> tuple[Task, ...]:
    """Return what `dump_tasks` wrote."""
    return _load(tuple[Task, ...], text)


def dump_checkpoint(checkpoint: Checkpoint) -> str:
    """A whole checkpoint."""
    return _dump(Checkpoint, checkpoint)


def load_checkpoint(text: str) -> Checkpoint:
    """Return what `dump_checkpoint` wrote."""
    return _load(Checkpoint, text)


def dump_glossary(glossary: FieldGlossary) -> str:
    """A field glossary."""
    return _dump(FieldGlossary, glossary)


def load_glossary(text: str) -> FieldGlossary:
    """Return what `dump_glossary` wrote."""
    return _load(FieldGlossary, text)


def dump_item(item: LoopItem) -> str:
    """One loop value."""
    return _dump(LoopItem, item)


def load_item(text: str) -> LoopItem:
    """Return what `dump_item` wrote."""
    return _load(LoopItem, text)


def dump_error(error: ErrorInfo | None) -> str | None:
    """An error, if there is one."""
    return None if error is None else _dump(ErrorInfo, error)


def load_error(text: str | None) -> ErrorInfo | None:
    """Return what `dump_error` wrote."""
    return None if text is None else _load(ErrorInfo, text)


def dump_incomplete(lists: IncompleteLists | None) -> str | None:
    """Return what is known to be missing from lists, if anything is."""
    return None if lists is None else _dump(IncompleteLists, lists)


def load_incomplete(text: str | None) -> IncompleteLists | None:
    """Return what `dump_incomplete` wrote."""
    return None if text is None else _load(IncompleteLists, text)


def dump_spec(spec: JobSpec) -> str:
    """A job's spec as its caller would write it."""
    return spec.model_dump_json(by_alias=True, exclude_defaults=True)


def load_spec(text: str) -> JobSpec:
    """Return what `dump_spec` wrote."""
    return JobSpec.model_validate_json(text)


def lineage_of(tenant: str, spec: JobSpec) -> str:
    """Equal for all runs of the same work: of one tenant, from one address, with one goal, by one policy."""
    policy = spec.policy.partition("@")[0]  # another version of a workflow does the same work
    goals = (spec.goal, spec.extract.goal if spec.extract is not None else None)
    return hashlib.sha256(json.dumps([tenant, spec.url, *goals, policy]).encode()).hexdigest()


def dump_politeness(politeness: PolitenessSpec) -> str | None:
    """Write how gently a job treats sites; None for the default."""
    return None if politeness == PolitenessSpec() else politeness.model_dump_json(exclude_defaults=True)


def load_politeness(text: str | None) -> PolitenessSpec:
    """Return what `dump_politeness` wrote."""
    return PolitenessSpec() if text is None else PolitenessSpec.model_validate_json(text)


def dump_array(values: Iterable[float | str]) -> str:
    """A PostgreSQL array as its text (manual, 8.15.6): a sixth of the CPU that psycopg takes for a list."""
    return "{" + ",".join([_quoted(value) if isinstance(value, str) else str(value) for value in values]) + "}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def dump_json(value: Json) -> str:
    """Any JSON value."""
    return _dump(object, value)


def load_json(text: str) -> Json:
    """Return what `dump_json` wrote."""
    return from_json(text)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Made when it is first used: a process that reads no outcomes starts 0.1 s sooner."""
    return TypeAdapter(kind)


def _load(kind: type[T], text: str) -> T:
    key: Any = kind  # for mypy, type[T] is no Hashable
    loaded: T = _adapter(key).validate_json(text)
    return loaded


def _dump(kind: Any, value: object, *, exclude: set[str] | None = None) -> str:
    adapter = _adapter(kind)
    try:
        return adapter.dump_json(value, by_alias=True, exclude_defaults=True, exclude=exclude).decode()
    except PydanticSerializationError:
        # Page text may hold half a surrogate pair, which UTF-8 cannot carry.
        plain = adapter.dump_python(value, by_alias=True, exclude_defaults=True, exclude=exclude)
        return json.dumps(_whole(plain), ensure_ascii=False)


def _whole(value: Json) -> Json:
    """`value` with every half of a surrogate pair replaced by U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {_whole(key): _whole(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(inner) for inner in value]
    return value
