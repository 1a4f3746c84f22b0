"""A page as JSON: what `page_tree.js` answers for one document, and what is kept of a page to read it again."""

from __future__ import annotations

import base64
import json
import sys
from array import array
from collections.abc import Mapping
from typing import Any

from lxml import etree

from shoal.agent.page.page import Page, Window
from shoal.agent.page.xml_text import parse_xml
from shoal.agent.support.json_value import Json


def page_of_answer(answer: Mapping[str, Json]) -> Page:
    """The page of an answer of `page_tree.js`.

    Raises:
        ValueError: The answer has marks of other elements than its tree.
    """
    return Page(
        url=answer["url"],
        root=parse_xml(str(answer["xml"]).encode("utf-8"), answer["base"]),
        marks=_numbers(answer["marks"]),
        boxes=_numbers(answer["boxes"]),
        values=_by_number(answer["values"]),
        shadow_roots=_by_number(answer["roots"]),
        slotted=_by_number(answer["slotted"]),
        matches=dict(answer.get("matches", {})),
        inner=_by_number(answer.get("inner", {})),
        window=_window(answer.get("window")),
        content_type=str(answer.get("type") or "text/html"),
        loading=bool(answer.get("loading")),
        status=int(answer.get("status") or 0),
    )


def _window(window: Json) -> Window | None:
    if not window:
        return None
    width, left, top = (float(window.get(name, 0)) for name in ("width", "left", "top"))
    return Window(float(window["height"]), float(window["viewport"]), bool(window["loaded"]), width, left, top)


def page_as_json(page: Page) -> bytes:
    """The page for `page_from_json`; the same page always gives the same text.

    What it was asked to find and the window are of one moment, and are not kept.
    """
    text = json.dumps(_to_json(page), ensure_ascii=False, indent=1, sort_keys=True)
    return (text + "\n").encode("utf-8")


def page_from_json(data: bytes | str) -> Page:
    """The page that `page_as_json` wrote.

    Raises:
        ValueError: It is no such text.
    """
    recording = json.loads(data)
    if not isinstance(recording, dict) or "xml" not in recording:
        raise ValueError("a recorded page is a JSON object with xml in it; record it again")
    return page_of_answer(recording)


def _to_json(page: Page) -> dict[str, Any]:
    return {
        "url": page.url,
        "base": page.root.base_url,
        "xml": etree.tostring(page.root, encoding="unicode"),
        "marks": _packed(page.marks),
        "boxes": _packed(page.boxes),
        "values": _named(page.values),
        "roots": _named(page.shadow_roots),
        "slotted": _named(page.slotted),
        **({} if page.content_type == "text/html" else {"type": page.content_type}),
        **({"loading": True} if page.loading else {}),
        **({"status": page.status} if page.status else {}),
    }


def _packed(numbers: array[int]) -> str:
    return base64.b64encode(_little(numbers).tobytes()).decode("ascii")


def _numbers(text: str) -> array[int]:
    return _little(array("i", base64.b64decode(text)))


def _little(numbers: array[int]) -> array[int]:
    """The numbers with their bytes as browsers have them, which are turned where this machine has them otherwise."""
    if sys.byteorder == "little":
        return numbers
    turned = array("i", numbers)
    turned.byteswap()
    return turned


def _named(values: Mapping[int, Any]) -> dict[str, Any]:
    return {str(number): value for number, value in values.items()}


def _by_number(values: Mapping[str, Any]) -> dict[int, Any]:
    return {int(number): value for number, value in values.items()}
