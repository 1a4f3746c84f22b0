"""Pages that were kept, and the script that takes them."""

from __future__ import annotations

import re

import pytest

from shoal.agent.page import marks
from shoal.agent.page.from_browser import SCRIPT
from shoal.agent.page.from_html import page_from_html
from shoal.agent.page.recorded import page_as_json, page_from_json

URL = "https://a.test/dir/page"


def test_a_kept_page_reads_the_same() -> None:
    page = page_from_html(
        "<base href=/b/><p style='visibility:hidden' title='a\n\"'>a\r&amp;<b>b</b><pre>\n c\n d</pre>", URL
    )
    kept = page_from_json(page_as_json(page))
    assert page_as_json(kept) == page_as_json(page)
    assert (kept.url, kept.root.base_url) == (URL, "https://a.test/b/")
    assert [(el.tag, dict(el.attrib), el.text) for el in kept.elements] == [
        (el.tag, dict(el.attrib), el.text) for el in page.elements
    ]
    assert kept.marks == page.marks and kept.text() == page.text()


@pytest.mark.parametrize("data", ["[]", "{}", "null"])
def test_other_json_is_no_page(data: str) -> None:
    with pytest.raises(ValueError, match="record it again"):
        page_from_json(data)


def test_the_script_has_the_same_marks() -> None:
    bits = {name: 1 << int(bit) for name, bit in re.findall(r"\b([A-Z_]+) = 1 << (\d+)", SCRIPT)}
    bits.pop("LOOSE")
    assert bits == {name: getattr(marks, name) for name in bits}
    assert set(marks.REASONS) <= set(bits.values())


def test_the_script_has_the_same_layouts() -> None:
    layouts = re.search(r"const LAYOUTS = \{(.*?)\};", SCRIPT, re.DOTALL)
    assert layouts is not None
    told = dict(re.findall(r"'?([\w-]+)'?: (\d+)", layouts[1]))
    names = {"table-row": "row", "table-cell": "cell", "table-row-group": "rows"}
    for display, number in told.items():
        name = names.get(display, display)
        if name in marks.LAYOUTS:
            assert marks.LAYOUTS[int(number)] == name
    assert f"const OTHER = {marks.LAYOUTS.index('other')};" in SCRIPT
