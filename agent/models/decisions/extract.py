"""One extraction decision: what was read, whether it fits the schema, and whether the page really says so."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shoal.agent.errors import FieldsMissing, RecordInvalid
from shoal.agent.models.decoding import nullable, without_unknown
from shoal.agent.models.reply import ReplyProblem
from shoal.agent.spec import ExtractSpec
from shoal.agent.support.json_value import Json
from shoal.agent.support.schemas.checking import check
from shoal.agent.support.schemas.engine import SchemaFault
from shoal.agent.types import Record

_MOST_PROBLEMS = 20
_ENTRY_CHARS = 200  # of an entry that was left out, in what is told of it
_ADDRESS = re.compile(r"ur[il]|link|href|address|image|picture|photo|src|web", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Problem:
    """One way in which records do not fit the schema."""

    index: int  # position of the record; -1 when the list as a whole is meant
    path: str  # place in the record: "price", "offers/0/price"; "" for the record itself
    message: str
    missing: bool = False  # a required field is absent, rather than wrong

    @property
    def field(self) -> str:
        """Name of the record's top-level field that is concerned, "" when none is."""
        return self.path.split("/", 1)[0]

    def __str__(self) -> str:
        where = "the list" if self.index < 0 else f"record {self.index}"
        return f"{where}, {self.path}: {self.message}" if self.path else f"{where}: {self.message}"


@dataclass(frozen=True, slots=True)
class CheckedRecords:
    """The records of a page that hold against the schema, and those that were left out."""

    records: tuple[Record, ...]
    left_out: tuple[str, ...] = ()  # of each entry of a list that is not valid: what is wrong, and what was read


async def validate_records(records: Sequence[Record], extract: ExtractSpec) -> list[Problem]:
    """The first things that keep `records` from being valid against the schema of `extract`; empty when nothing does.

    With a schema for an array the list is checked as a whole (`minItems`, `uniqueItems` and the like hold too).
    Without a schema everything is valid. A `$ref` that leads out of the schema is a problem, never a download.
    """
    if extract.json_schema is None:
        return []
    values = [record.value for record in records]
    if extract.many:
        return [_of_list(fault) for fault in await check(extract.json_schema, values)]
    problems: list[Problem] = []
    for index, value in enumerate(values):
        problems += [_of_record(fault, index) for fault in await check(extract.json_schema, value)]
        if len(problems) >= _MOST_PROBLEMS:
            break
    return problems


async def check_records(
    records: Sequence[Record], extract: ExtractSpec, *, url: str, missing: Sequence[str] = (), awaited: str = ""
) -> CheckedRecords:
    """The records that were read from the page at `url` and are valid; of a list, also what is wrong with the others.

    Args:
        missing: fields that the page does not show, as who read them says.
        awaited: what of the page was waited for in vain, in words; "" when nothing was.

    Raises:
        FieldsMissing: none is valid, and the page does not show some fields.
        RecordInvalid: none is valid though it does, or the list as a whole is not.
    """
    problems = await validate_records(records, extract)
    kept, left_out = list(records), []
    while extract.many and problems and all(problem.index >= 0 for problem in problems):
        faulty = {problem.index: problem for problem in reversed(problems)}
        if len(faulty) == len(kept):
            break
        left_out += [f"{problem.path}: {problem.message} in {_short(kept[i])}" for i, problem in sorted(faulty.items())]
        kept = [record for place, record in enumerate(kept) if place not in faulty]
        problems = await validate_records(kept, extract)
    if problems and missing:
        raise FieldsMissing(lacking(records, url, missing, awaited), fields=tuple(missing), awaited=awaited)
    if problems:
        raise RecordInvalid(f"{url}: " + "; ".join(str(problem) for problem in problems[:5]))
    return CheckedRecords(tuple(kept), tuple(left_out))


def _short(record: Record) -> str:
    text = json.dumps(record.value, ensure_ascii=False)
    return text if len(text) <= _ENTRY_CHARS else text[:_ENTRY_CHARS] + "…"


def lacking(records: Sequence[Record], url: str, missing: Sequence[str], awaited: str) -> str:
    """Return what is missing, in words;
    of a field that the page states several times or not clearly, what it may be.
    """
    candidates = {name: several for record in records for name, several in record.candidates.items()}
    absent = [name for name in missing if name not in candidates]
    parts = [f"{url} does not show: {', '.join(absent)}"] if absent else []
    for name, several in candidates.items():
        if name in missing:
            values = " or ".join(f"{str(candidate.value)[:60]!r} ({candidate.where[:80]})" for candidate in several[:3])
            parts.append(f"{name} is not certain on {url}, {several[0].why}: {values}")
    return "; ".join([*parts, awaited] if awaited else parts)


def not_among(earlier: Iterable[Record], shown: Iterable[Record]) -> tuple[Record, ...]:
    """Those of `shown` that were not told; where a page shows several alike, as many as it shows more by now."""
    before = Counter(map(_identity, earlier))
    new = []
    for record in shown:
        if before[_identity(record)] > 0:
            before[_identity(record)] -= 1
        else:
            new.append(record)
    return tuple(new)


def _identity(record: Record) -> tuple[str, str]:
    return record.url, json.dumps(record.value, sort_keys=True)


def _of_list(fault: SchemaFault) -> Problem:
    if not fault.path:
        return Problem(-1, fault.missing, fault.message, bool(fault.missing))
    index, *path = fault.path
    return _problem(int(index), path, fault)


def _of_record(fault: SchemaFault, index: int) -> Problem:
    return _problem(index, fault.path, fault)


def _problem(index: int, path: Sequence[str | int], fault: SchemaFault) -> Problem:
    place = "/".join(map(str, path))
    if fault.missing:
        return Problem(index, f"{place}/{fault.missing}".lstrip("/"), "is required and missing", missing=True)
    return Problem(index, place, fault.message)


# --- a schema that a model proposes ----------------------------------------------------------------------

_FIELD_TYPES: dict[str, dict[str, Json]] = {
    "string": {"type": "string"},
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "date": {"type": "string", "format": "date"},
    "url": {"type": "string", "description": "URL"},
    "strings": {"type": "array", "items": {"type": "string"}},
}
_MOST_FIELDS = 40


def proposal_schema() -> dict[str, Json]:
    """The JSON Schema of a reply that proposes the fields of a record."""
    text: Json = {"type": "string"}
    field = {
        "type": "object",
        "additionalProperties": False,
        "required": ["name", "type", "meaning"],
        "properties": {"name": text, "type": {"type": "string", "enum": list(_FIELD_TYPES)}, "meaning": text},
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["thought", "many", "fields"],
        "properties": {
            "thought": text,
            "many": {"type": "boolean"},
            "fields": {"type": "array", "items": field, "minItems": 1, "maxItems": _MOST_FIELDS},
        },
    }


def schema_from(reply: Json) -> dict[str, Json]:
    """The schema that such a reply proposes; no field is required, since the job asks for none."""
    properties: dict[str, Json] = {}
    for field in reply["fields"]:
        name = "_".join(re.findall(r"\w+", field["name"].casefold()))[:60]
        if name:
            properties.setdefault(name, {"description": field["meaning"][:200], **_FIELD_TYPES[field["type"]]})
    if not properties:
        raise ReplyProblem("no field has a usable name")
    record: dict[str, Json] = {"type": "object", "properties": properties, "additionalProperties": False}
    return {"type": "array", "items": record} if reply["many"] else record


# --- the model's reply ---------------------------------------------------------------------------------


def extract_schema(extract: ExtractSpec) -> dict[str, Json]:
    """The JSON Schema of an extraction reply: every field of a record may be null, none may be left out."""
    record = extract.record_schema or {"type": "object"}
    whole = extract.json_schema or record
    # The definitions stand at the top of the job's schema, above the items of an array.
    sent = nullable({**record, **_definitions(whole)})
    definitions = sent.pop("$defs", None)
    records: dict[str, Json] = {"type": "array", "items": sent}
    if not extract.many and extract.json_schema is not None:
        records["maxItems"] = 1
    schema: dict[str, Json] = {
        "type": "object",
        "additionalProperties": False,
        "required": ["thought", "shown", "records"],
        "properties": {
            "thought": {"type": "string"},
            "shown": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]},
            "records": records,
        },
    }
    if definitions:
        schema["$defs"] = definitions
    return schema


def asks_addresses(extract: ExtractSpec) -> bool:
    """Return whether links or pictures are among what is wanted:
    only then a prompt spends tokens on their addresses.
    """
    if extract.json_schema is None:
        return True
    return bool(_ADDRESS.search(json.dumps(extract.json_schema)) or _ADDRESS.search(extract.goal or ""))


def records_in(reply: Json, extract: ExtractSpec) -> list[Json]:
    """The records of a reply, without the fields that are not on the page, and without records that say nothing."""
    schema = extract.json_schema
    values = reply["records"]
    if schema is not None:
        whole = schema if extract.many else {"type": "array", "items": schema, **_definitions(schema)}
        values = without_unknown(values, whole)
    return [value for value in values if has_value(value)]


def _definitions(schema: dict[str, Json]) -> dict[str, Json]:
    return {name: schema[name] for name in ("$defs", "definitions") if name in schema}


def has_value(value: Json) -> bool:
    """False for null, empty text, and whatever holds nothing but those."""
    if isinstance(value, dict):
        return any(has_value(part) for part in value.values())
    if isinstance(value, list):
        return any(has_value(part) for part in value)
    return value is not None and value != ""


def merged(parts: Sequence[Sequence[Json]], *, many: bool) -> list[Json]:
    """One page's records out of what its parts gave.

    Many: all of them in order; parts overlap, so what the end of one and the beginning of the next both show counts
    once, with the fields that either knows. One: the first part that knows a field gives it.
    """
    if many:
        whole: list[Json] = []
        for part in parts:
            shared = next((n for n in range(min(len(part), len(whole)), 0, -1) if _alike(whole[-n:], part[:n])), 0)
            both = [_united(a, b) for a, b in zip(whole[len(whole) - shared :], part, strict=False)]
            whole[len(whole) - shared :] = [*both, *part[shared:]]
        return whole
    united: dict[str, Json] = {}
    for record in (record for part in parts for record in part):
        united = _united(united, record)
    return [united] if united else []


def _alike(some: Sequence[Json], others: Sequence[Json]) -> bool:
    """Return whether two rows of records may be the same ones,
    each perhaps with fields that the other could not see.
    """
    return all(_may_be_one(a, b) for a, b in zip(some, others, strict=True))


def _may_be_one(a: Json, b: Json) -> bool:
    if not isinstance(a, dict) or not isinstance(b, dict):
        return bool(a == b)
    known = [name for name in a if has_value(a[name]) and has_value(b.get(name))]
    return bool(known) and all(a[name] == b[name] for name in known)


def _united(a: Json, b: Json) -> Json:
    if not isinstance(a, dict) or not isinstance(b, dict):
        return a
    return {name: a[name] if has_value(a.get(name)) else b.get(name, a.get(name)) for name in {**a, **b}}


def fields_missing(values: Sequence[Json], extract: ExtractSpec) -> tuple[str, ...]:
    """Fields of the job's schema that no record has a value for."""
    names = (extract.record_schema or {}).get("properties", {})
    return tuple(name for name in names if not any(isinstance(v, dict) and v.get(name) is not None for v in values))


def fields_lacking(missing: Sequence[str], extract: ExtractSpec) -> tuple[str, ...]:
    """Those of `missing` that a record needs: what its schema requires, or all that may not be null."""
    schema = extract.record_schema or {}
    parts = schema.get("properties", {})
    if "required" in schema:
        return tuple(name for name in missing if name in schema["required"])
    return tuple(name for name in missing if not _may_be_null(parts.get(name)))


def _may_be_null(part: Json) -> bool:
    if not isinstance(part, dict):
        return True
    kinds = part.get("type")
    return "null" in kinds if isinstance(kinds, list) else {"type": "null"} in part.get("anyOf", ())
