"""Pages of tests as a browser's page script answers them, made from HTML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from shoal.agent.page.from_html import page_from_html
from shoal.agent.page.recorded import page_as_json


def page_answer(html: str, url: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `page_tree.js` answers for a page of that HTML in a window that shows all of it."""
    page = page_from_html(html, url, find=asked.get("find"))
    seen = {"height": 600, "viewport": 600, "loaded": True}
    return {**json.loads(page_as_json(page)), "matches": page.matches, "window": seen}
