"""A test that the name of a place is that of a field."""

from __future__ import annotations

import re

from shoal.agent.read.schema import Property
from shoal.agent.read.values.phrases import best_likeness, phrase
from shoal.agent.workflows.learning.page_sample import SampleChannel
from shoal.agent.workflows.reading.channels import POSITIONAL

_NAMED_WELL = 0.7
_LAST_NAME = re.compile(r"""(?<![\w@-])[\w@-]+(?=["'\]]*$)""")


def is_called(channel: SampleChannel, prop: Property) -> bool:
    """Return whether a place is named like the field."""
    place = channel.place
    if channel.family in POSITIONAL:
        return False
    name = place.query
    if place.kind != "label" and place.kind != "column":
        quoted = re.search(r'\[(?:itemprop|property|name)="([^"]+)"\]$', name)
        last = _LAST_NAME.search(name)
        name = quoted.group(1) if quoted else place.attribute or (last.group() if last else name)
    words = phrase(re.sub(r"(?<=[a-z])(?=[A-Z])|[_:.-]", " ", name))
    return bool(prop.phrases) and best_likeness(prop.phrases, words) >= _NAMED_WELL
