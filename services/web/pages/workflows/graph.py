"""The drawing of a version's graph: where each node stands, and the lines between them. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from shoal.agent.workflows.format.node import BranchNode, LoopNode, Node
from shoal.agent.workflows.format.version import Version

WIDTH, HEIGHT = 236, 60
"""Of a node, in pixels."""
_BESIDE, _BELOW, _MARGIN = 44, 40, 64
_ON_MISS = "on a miss"
"""The label of the way that a node takes when it misses."""
_BOW = 36
"""Distance that a line that passes other nodes keeps beside them."""


@dataclass(frozen=True, slots=True)
class NodeBox:
    """The place of one node."""

    id: str
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """One way from a node to another."""

    path: str  # of an SVG
    label: str  # why it is taken; "" for the usual way
    x: int  # of the label
    y: int
    miss: bool = False


@dataclass(frozen=True, slots=True)
class Graph:
    """A drawing, in pixels."""

    width: int
    height: int
    boxes: tuple[NodeBox, ...]  # in the order of the nodes
    lines: tuple[GraphEdge, ...]


def drawn(version: Version) -> Graph:
    """The nodes of a version in ranks, from top to bottom: a node stands below all that lead to it."""
    nodes = {node.id: node for node in version.nodes}
    ways = {name: [way for way in _ways(node) if way[0] in nodes] for name, node in nodes.items()}
    back = _back(version.first, ways)
    ahead = {name: [to for to, _ in each if (name, to) not in back] for name, each in ways.items()}
    rows = _rows(ahead)
    widest = max(map(len, rows))
    places: dict[str, NodeBox] = {}
    for rank, row in enumerate(rows):
        left = _MARGIN + (widest - len(row)) * (WIDTH + _BESIDE) // 2
        for column, name in enumerate(row):
            places[name] = NodeBox(name, left + column * (WIDTH + _BESIDE), 12 + rank * (HEIGHT + _BELOW))
    width = 2 * _MARGIN + widest * WIDTH + (widest - 1) * _BESIDE
    lines = [
        _line(places[name], places[to], label, width) for name, each in ways.items() for to, label in dict(each).items()
    ]
    boxes = tuple(places[name] for name in nodes)
    return Graph(width, 24 + len(rows) * (HEIGHT + _BELOW) - _BELOW, boxes, tuple(lines))


def _ways(node: Node) -> Iterator[tuple[str, str]]:
    """Each node that follows, with the reason for which it does."""
    if isinstance(node, BranchNode):
        yield from ((case.to, f"case {number}") for number, case in enumerate(node.cases, 1))
    if isinstance(node, LoopNode):
        yield node.body, "each"
    if node.otherwise is not None:
        yield node.otherwise, _ON_MISS
    if node.next is not None:
        yield node.next, {"branch": "else", "loop": "then"}.get(node.kind, "")


def _back(first: str, ways: Mapping[str, Sequence[tuple[str, str]]]) -> set[tuple[str, str]]:
    """The lines that lead back to a node on the way to them: those of loops."""
    back: set[tuple[str, str]] = set()
    on_the_way: set[str] = set()
    seen: set[str] = set()
    for root in (first, *ways):
        stack = [(root, iter(ways[root]))] if root not in seen else []
        while stack:
            name, rest = stack[-1]
            seen.add(name)
            on_the_way.add(name)
            to = next(rest, (None, ""))[0]
            if to is None:
                on_the_way.discard(name)
                stack.pop()
            elif to in on_the_way:
                back.add((name, to))
            elif to not in seen:
                stack.append((to, iter(ways[to])))
    return back


def _rows(ahead: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The nodes by rank: one more than the highest of those that lead there; in a row in the order of those."""
    before: dict[str, set[str]] = defaultdict(set)
    for name, following in ahead.items():
        for to in following:
            before[to].add(name)
    rank: dict[str, int] = {}
    ready = [name for name in ahead if not before[name]]
    missing = {name: len(before[name]) for name in ahead}
    for name in ready:  # grows while it is read
        rank[name] = max((rank[other] + 1 for other in before[name]), default=0)
        for to in dict.fromkeys(ahead[name]):
            missing[to] -= 1
            if not missing[to]:
                ready.append(to)
    rows: list[list[str]] = [[] for _ in range(max(rank.values()) + 1)]
    column: dict[str, float] = {}
    for place, name in enumerate(ahead):
        rows[rank[name]].append(name)
        column[name] = place / len(ahead)
    for row in rows:
        order = {name: _middle([column[other] for other in before[name]], column[name]) for name in row}
        row.sort(key=order.__getitem__)
        column |= {name: (place + 0.5) / len(row) for place, name in enumerate(row)}
    return rows


def _middle(places: Sequence[float], otherwise: float) -> float:
    return sum(places) / len(places) if places else otherwise


def _line(start: NodeBox, end: NodeBox, label: str, width: int) -> GraphEdge:
    miss = label == _ON_MISS
    if end.y - start.y == HEIGHT + _BELOW:  # the next row
        x, y, to_x, to_y = start.x + WIDTH // 2, start.y + HEIGHT, end.x + WIDTH // 2, end.y
        middle = (y + to_y) // 2
        path = f"M{x} {y} C{x} {middle} {to_x} {middle} {to_x} {to_y}"
        return GraphEdge(path, label, (x + to_x) // 2 + 6, middle + 4, miss)
    right = end.y > start.y
    x, to_x = (start.x + WIDTH, end.x + WIDTH) if right else (start.x, end.x)
    y, to_y = start.y + HEIGHT // 2, end.y + HEIGHT // 2
    side = min(width - 8, max(x, to_x) + _BOW) if right else max(8, min(x, to_x) - _BOW)
    path = f"M{x} {y} C{side} {y} {side} {to_y} {to_x} {to_y}"
    return GraphEdge(path, label, (x + to_x) // 2 + (4 if right else -4 - _BOW), (y + to_y) // 2, miss)
