"""A workflow of one branch that reads the price of a book, and what a session teaches that read one."""

from __future__ import annotations

from typing import Any

from shoal.agent.spec import FieldPlace
from shoal.agent.workflows.learning.evidence import SessionEvidence
from shoal.agent.workflows.learning.page_sample import PageSample, SampleChannel

BOOKS: dict[str, Any] = {
    "format": "shoal-workflow/1",
    "name": "books",
    "scope": {"site": "shop.example"},
    "versions": [
        {
            "nodes": [{"id": "read", "kind": "extract"}],
            "branches": [
                {
                    "id": "product",
                    "signature": {"url": "https://shop.example/p/{}"},
                    "fields": [
                        {
                            "name": "price",
                            "channels": [
                                {"family": "label", "place": {"label": "Price"}},
                                {"family": "css", "place": {"select": "p.price"}},
                            ],
                        }
                    ],
                }
            ],
        }
    ],
}


def evidence(n: int) -> SessionEvidence:
    """Return what a session teaches that read the price of item `n`."""
    url, price = f"https://shop.example/p/{n}", f"{n}.50"
    places = (
        ("label", FieldPlace(label="Price")),
        ("css", FieldPlace(select="p.price")),
    )
    channels = tuple(
        SampleChannel(family=family, place=place, raw=price, shape="9.9", shown=True, proven=True)  # type: ignore[arg-type]
        for family, place in places
    )
    page = PageSample(url=url, record={"price": price}, signs=("link",), channels={"price": channels})
    return SessionEvidence(item=url, is_link=True, pages=(page,))
