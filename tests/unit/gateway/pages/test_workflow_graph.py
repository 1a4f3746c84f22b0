"""The drawing of a workflow's graph: every node once, below what leads to it, and no way left out."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from shoal.agent.workflows.format.version import Version
from shoal.services.web.pages.workflows.graph import HEIGHT, WIDTH, Graph, NodeBox, drawn

TEXT = [{"kind": "text", "value": "x"}]


def graph_of(*nodes: dict[str, Any]) -> Graph:
    return drawn(Version.model_validate({"nodes": list(nodes)}))


def guard(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "kind": "guard", "holds": TEXT, **more}


def places(graph: Graph) -> dict[str, NodeBox]:
    return {box.id: box for box in graph.boxes}


def test_a_branch_leads_to_its_cases_side_by_side_and_they_meet_below() -> None:
    graph = graph_of(
        {"id": "kind", "kind": "branch", "cases": [{"when": TEXT, "to": "left"}], "next": "right"},
        guard("left", next="end"),
        guard("right", next="end", on_miss="branch", otherwise="left"),
        guard("end"),
    )
    box = places(graph)
    assert box["kind"].y < box["right"].y < box["left"].y < box["end"].y, "a way on a miss leads down, too"
    assert [line.label for line in graph.lines] == ["case 1", "else", "", "on a miss", ""]
    assert [line.miss for line in graph.lines] == [False, False, False, True, False]


def test_a_loop_that_leads_back_is_drawn_beside_its_nodes() -> None:
    graph = graph_of(
        {"id": "each", "kind": "loop", "over": "rows", "each": "row", "body": "one", "next": "done"},
        guard("one", next="each"),
        guard("done"),
    )
    box = places(graph)
    assert box["each"].y < box["one"].y == box["done"].y
    assert [line.label for line in graph.lines] == ["each", "then", ""]


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=12))
def test_nodes_never_overlap_and_stand_within_the_drawing(ways: list[tuple[int, int]]) -> None:
    nodes = [guard(f"n{n}") for n in range(12)]
    for start, end in ways:
        key = "next" if "next" not in nodes[start] else "otherwise"
        nodes[start][key] = f"n{end}"
        if key == "otherwise":
            nodes[start]["on_miss"] = "branch"
    graph = graph_of(*nodes)
    assert [box.id for box in graph.boxes] == [f"n{n}" for n in range(12)]
    for one, other in combinations(graph.boxes, 2):
        assert abs(one.x - other.x) >= WIDTH or abs(one.y - other.y) >= HEIGHT, (one, other)
    assert all(0 <= b.x <= graph.width - WIDTH and 0 <= b.y <= graph.height - HEIGHT for b in graph.boxes)
    drawn_ways = {(start, end) for start, end in ways}
    assert len(graph.lines) <= len(drawn_ways) and bool(graph.lines) == bool(ways)
