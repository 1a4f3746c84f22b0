"""A model is asked what pages may call the fields of a schema, and is shown nothing but the schema."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shoal.agent.models.model import Ask
from shoal.agent.models.reply import ModelAnswer, ReplyProblem
from shoal.agent.policies.model.requests.asker import Asker
from shoal.agent.policies.model.requests.messages import messages_for
from shoal.agent.policies.policy import SessionState
from shoal.agent.read.glossary import (
    LONGEST_LABEL,
    MOST_FIELDS,
    MOST_LABELS,
    MOST_PROPERTIES,
    as_keyword,
    entries_of,
)
from shoal.agent.read.schema import field_names, properties_of
from shoal.agent.spec import X_GLOSSARY, schema_text
from shoal.agent.support.json_value import Json
from shoal.prompts import prompt

_PROMPT = "glossary"
LONGEST_SCHEMA = 20_000
"""Characters of a schema that is asked about."""
_LONGEST_THOUGHT = 1_000
_LONGEST_NAME = 60  # of a property or a unit
_THOUGHT_TOKENS = 400
_ENTRY_TOKENS, _LABEL_TOKENS, _PROPERTY_TOKENS = 32, 8, 6
"""Of a reply's parts, as they mostly are. Labels may be longer, but most fields have fewer of them than they may."""
_MOST_PROPERTIES = 2
"""Asked for of one field of many: the best of them says nearly all."""
_LEAST_LABELS = 2


@dataclass(frozen=True, slots=True)
class RepliedGlossary:
    """The glossary in a reply, as a schema holds it under `x-glossary`."""

    entries: Mapping[str, Json]
    left_out: tuple[str, ...] = ()  # properties and units that there are not


def label_limits(fields: int, tokens: int) -> tuple[int, int]:
    """Return how many labels and properties of one field are asked for,
    so that the reply on all `fields` has its tokens.
    """
    each = (tokens - _THOUGHT_TOKENS) // max(1, fields) - _ENTRY_TOKENS
    if (labels := (each - MOST_PROPERTIES * _PROPERTY_TOKENS) // _LABEL_TOKENS) >= MOST_LABELS:
        return MOST_LABELS, MOST_PROPERTIES
    labels = (each - _MOST_PROPERTIES * _PROPERTY_TOKENS) // _LABEL_TOKENS
    return max(_LEAST_LABELS, min(MOST_LABELS, labels)), _MOST_PROPERTIES


def glossary_schema(fields: Sequence[str], labels: int, properties: int) -> dict[str, Json]:
    """The JSON Schema of a reply for these fields, with as many labels and properties of each at most."""
    name: Json = {"type": "string", "maxLength": _LONGEST_NAME}
    label: Json = {"type": "string", "minLength": 1, "maxLength": LONGEST_LABEL}
    entry = {
        "type": "object",
        "additionalProperties": False,
        "required": ["field", "labels", "properties", "unit"],
        "properties": {
            "field": {"type": "string", "enum": list(fields)},
            "labels": {"type": "array", "items": label, "maxItems": labels},
            "properties": {"type": "array", "items": name, "maxItems": properties},
            "unit": name,
        },
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["thought", "fields"],
        "properties": {
            "thought": {"type": "string", "maxLength": _LONGEST_THOUGHT},
            "fields": {"type": "array", "items": entry, "minItems": 1, "maxItems": len(fields)},
        },
    }


def glossary_from(reply: Json) -> RepliedGlossary:
    """The glossary that a reply gives; properties that schema.org does not have and unknown units are left out.

    Raises:
        ReplyProblem: it names no label and no property, or a field twice.
    """
    entries_by_field = {entry["field"]: _normalized(entry) for entry in reply["fields"]}
    if len(entries_by_field) < len(reply["fields"]):
        raise ReplyProblem("`fields` has an entry twice; give one for each field")
    entries = as_keyword(entries_of({X_GLOSSARY: entries_by_field}))
    if not any(entry["labels"] or entry["properties"] for entry in entries.values()):
        raise ReplyProblem("no field has a label, or a property of schema.org")
    left_out = [
        text
        for name, entry in entries_by_field.items()
        for text in (
            *(prop for prop in entry["properties"] if prop not in entries[name]["properties"]),
            *([entry["unit"]] if entry["unit"] and not entries[name]["unit"] else []),
        )
    ]
    return RepliedGlossary(entries, tuple(dict.fromkeys(left_out)))


def _normalized(entry: Mapping[str, Json]) -> dict[str, Json]:
    """An entry without the spaces that a model put around its names."""
    names = [" ".join(name.split()) for name in entry["properties"]]
    return {**entry, "properties": names, "unit": " ".join(entry["unit"].split())}


def glossary_key(schema: dict[str, Json], model: str) -> str:
    """Return what the answer depends on, as one name: the schema, the model and the words of the question."""
    question = "\n".join((model, prompt(_PROMPT).digest, schema_text(schema)))
    return hashlib.sha256(question.encode(errors="surrogatepass")).hexdigest()


async def ask_glossary(asker: Asker, state: SessionState, schema: dict[str, Json]) -> ModelAnswer[RepliedGlossary]:
    """Return what the model says of a record's schema.

    Raises:
        ModelError: the model could not be asked, or gave no usable reply.
        BudgetSpent: the job's tokens are spent.
    """
    fields = field_names(properties_of(schema))[:MOST_FIELDS]
    tokens = asker.options.glossary_tokens
    labels, properties = label_limits(len(fields), tokens)
    request = Ask(
        messages=messages_for(_PROMPT, (), {"schema": schema, "fields": fields, "labels": labels}),
        schema_name=_PROMPT,
        json_schema=glossary_schema(fields, labels, properties),
        max_tokens=tokens,
    )
    return await asker.ask(state, request, glossary_from)
