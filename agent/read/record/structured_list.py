"""Lists that a page's structured data state: nodes of one type that stand side by side."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from shoal.agent.page.page import Page
from shoal.agent.read.field import Field
from shoal.agent.read.record.casting import Casting
from shoal.agent.read.record.main_matter import MainMatter
from shoal.agent.read.record.node_values import StatedValue, stated_in
from shoal.agent.read.record.nodes import FoundNode, nodes_of, types_of
from shoal.agent.read.vocabulary import Types, types_for

_LEAST = 2
"""Nodes of a list."""

StructuredRecord = tuple[FoundNode, Mapping[str, StatedValue]]
"""A node, and by field the value that it states."""


def structured_list(page: Page, fields: Sequence[Field]) -> list[StructuredRecord]:
    """The nodes of the list that states most of the fields, each with its values; none without such a list.

    A node that states less than half of the fields is no record.
    """
    view = MainMatter(page)
    types = types_for(tuple(field.requested_name for field in fields))
    nodes = nodes_of(view, types)
    casting = Casting(nodes, view.base, view.lang, frozenset())
    beside: dict[tuple[Types, str], list[FoundNode]] = defaultdict(list)
    for node in nodes.typed:
        beside[types_of(node.node), re.sub(r"\d+", "", node.where)].append(node)
    best: Sequence[StructuredRecord] = ()
    for alike in beside.values():
        records = [(node, _values(node, fields, casting)) for node in alike]
        records = [record for record in records if 2 * len(record[1]) >= len(fields)]
        if len(records) >= _LEAST and _stated(records) > _stated(best):
            best = records
    return list(best)


def _values(node: FoundNode, fields: Sequence[Field], casting: Casting) -> dict[str, StatedValue]:
    stated = {field.name: stated_in(node.node, field, casting) for field in fields}
    return {name: max(values, key=lambda value: value.fit) for name, values in stated.items() if values}


def _stated(records: Sequence[StructuredRecord]) -> int:
    return sum(len(values) for _, values in records)
