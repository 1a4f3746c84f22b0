"""Jobs to begin with: one for each kind of work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shoal.agent.support.json_value import Json


@dataclass(frozen=True, slots=True)
class Preset:
    """A job with what is the same for all of its kind; a person fills in the rest."""

    name: str  # in addresses
    title: str
    meaning: str
    spec: Mapping[str, Json]


_NAMED_PRICE: Mapping[str, Json] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "price": {"type": "number"}},
    "required": ["name"],
}

PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "page",
            "One page",
            "Read one record from one page.",
            {"url": "", "extract": {"schema": _NAMED_PRICE}},
        ),
        Preset(
            "list",
            "A list",
            "Read every entry of a list, over all of its pages.",
            {"url": "", "extract": {"schema": {"type": "array", "items": _NAMED_PRICE}}},
        ),
        Preset(
            "pages",
            "Pages of a list",
            "Open each entry of a list, and read a record from its page.",
            {"url": "", "loop": {"from": {"select": "entries"}}, "extract": {"schema": _NAMED_PRICE}},
        ),
        Preset(
            "values",
            "Values of a file",
            "Do the same for each line of a CSV or JSON lines file.",
            {"url": "", "goal": "", "loop": {"values": []}},
        ),
        Preset(
            "form",
            "A form",
            "Fill in a form and send it once. It is never sent again after a crash.",
            {"url": "", "goal": "send the form", "data": {"name": ""}, "repeatable": False},
        ),
        Preset(
            "shown",
            "Show it by hand",
            "Open a page and wait for you: do it once on the live page, and keep it as a workflow.",
            {"url": "", "policy": "person", "help": {"person": True, "timeout_s": 1800}},
        ),
        Preset("question", "A question", "Find the answer to a question on a site. It needs a model.", {"goal": ""}),
    )
}
