"""A browser's own style of HTML elements: how each is laid out before any style sheet of a page is read."""

from __future__ import annotations

from typing import Final

from shoal.agent.page.marks import LAYOUTS

_NEVER = """
    area base basefont colgroup col datalist defs desc head link meta metadata noembed noframes noscript param rp script
    source style symbol template title track
"""
NEVER_SHOWN: Final = frozenset(_NEVER.split())
"""Elements that no style sheet is expected to show."""

STRUCK_TAGS: Final = frozenset({"s", "del", "strike"})
PRE_TAGS: Final = frozenset({"pre", "listing", "plaintext", "xmp", "textarea"})

_BLOCKS = """
    address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure
    footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend listing main menu nav ol optgroup option p
    plaintext pre search section summary ul xmp
"""
_TAGS = {
    "block": _BLOCKS,
    "inline-block": "button input meter progress select textarea",
    "list-item": "li",
    "table": "table",
    "row": "tr",
    "rows": "tbody tfoot thead",
    "cell": "td th",
    "contents": "slot",
}
LAYOUT_OF_TAG: Final = {tag: LAYOUTS.index(layout) for layout, tags in _TAGS.items() for tag in tags.split()}
"""Numbers of layouts; other elements are inline."""

LAYOUT_OF_DISPLAY: Final = {
    display: LAYOUTS.index(layout)
    for display, layout in {
        "none": "none",
        "inline": "inline",
        "block": "block",
        "inline-block": "inline-block",
        "contents": "contents",
        "list-item": "list-item",
        "table": "table",
        "table-row": "row",
        "table-cell": "cell",
        "flex": "block",
        "grid": "block",
        "flow-root": "block",
        "-webkit-box": "block",
        "inline-flex": "inline-block",
        "inline-grid": "inline-block",
        "inline-table": "inline-block",
        "table-row-group": "rows",
        "table-header-group": "rows",
        "table-footer-group": "rows",
        "table-caption": "block",
    }.items()
}
"""Numbers of layouts by values of `display`."""
