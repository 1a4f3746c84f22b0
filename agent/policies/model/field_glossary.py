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


@dataclass(frozen=True, slots=True)
class RepliedGlossary:
    """What a reply says, as a schema holds it under `x-glossary`."""

    entries: Mapping[str, Json]
    left_out: tuple[str, ...] = ()  # properties and units that there are not


def glossary_schema(fields: Sequence[str]) -> dict[str, Json]:
    """The JSON Schema of a reply for these fields."""
    name: Json = {"type": "string", "maxLength": _LONGEST_NAME}
    label: Json = {"type": "string", "minLength": 1, "maxLength": LONGEST_LABEL}
    entry = {
        "type": "object",
        "additionalProperties": False,
        "required": ["field", "labels", "properties", "unit"],
        "properties": {
            "field": {"type": "string", "enum": list(fields)},
            "labels": {"type": "array", "items": label, "maxItems": MOST_LABELS},
            "properties": {"type": "array", "items": name, "maxItems": MOST_PROPERTIES},
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
    said = {entry["field"]: entry for entry in reply["fields"]}
    if len(said) < len(reply["fields"]):
        raise ReplyProblem("`fields` has an entry twice; give one for each field")
    entries = as_keyword(entries_of({X_GLOSSARY: said}))
    if not any(entry["labels"] or entry["properties"] for entry in entries.values()):
        raise ReplyProblem("no field has a label, or a property of schema.org")
    left_out = [
        text
        for name, entry in said.items()
        for text in (
            *(prop for prop in entry["properties"] if prop not in entries[name]["properties"]),
            *([entry["unit"]] if entry["unit"] and not entries[name]["unit"] else []),
        )
    ]
    return RepliedGlossary(entries, tuple(dict.fromkeys(left_out)))


def glossary_key(schema: dict[str, Json], model: str) -> str:
    """What the answer depends on, as one name: the schema, the model and the words of the question."""
    said = "\n".join((model, prompt(_PROMPT).digest, schema_text(schema)))
    return hashlib.sha256(said.encode(errors="surrogatepass")).hexdigest()


async def ask_glossary(asker: Asker, state: SessionState, schema: dict[str, Json]) -> ModelAnswer[RepliedGlossary]:
    """What the model says of a record's schema.

    Raises:
        ModelError: the model could not be asked, or gave no usable reply.
        BudgetSpent: the job's tokens are spent.
    """
    fields = field_names(properties_of(schema))[:MOST_FIELDS]
    request = Ask(
        messages=messages_for(_PROMPT, (), {"schema": schema, "fields": fields}),
        schema_name=_PROMPT,
        json_schema=glossary_schema(fields),
        max_tokens=asker.options.glossary_tokens,
    )
    return await asker.ask(state, request, glossary_from)
