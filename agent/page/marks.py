"""Marks of an element: four bits say how it is laid out, the others why it is not shown, or its state.

A page keeps one integer for each element. Plain integers, since an `IntFlag` costs a call for each comparison.
`page_tree.js` has the same numbers.
"""

from __future__ import annotations

from typing import Final

LAYOUTS: Final = (
    "none",
    "inline",
    "block",
    "inline-block",
    "contents",
    "list-item",
    "table",
    "row",
    "cell",
    "rows",
    "other",
)
"""Names of layouts by the number that the lowest bits hold."""
LAYOUT: Final = 15
"""The bits of the layout."""

NONE: Final = 1 << 4
INVISIBLE: Final = 1 << 5
TRANSPARENT: Final = 1 << 6
CLIPPED: Final = 1 << 7
OFF_PAGE: Final = 1 << 8
SKIPPED: Final = 1 << 9
UNSLOTTED: Final = 1 << 10
CHOICE: Final = 1 << 11

FIXED: Final = 1 << 15
PRE: Final = 1 << 16
STRUCK: Final = 1 << 17
CHECKED: Final = 1 << 18
SELECTED: Final = 1 << 19
DISABLED: Final = 1 << 20
BOXED: Final = 1 << 22
SMALLER: Final = 1 << 23
POINTER: Final = 1 << 24
LETTERS: Final = 25
"""Place of the five bits that hold half of the height of letters, in CSS pixels."""
MOST_LETTERS: Final = 31

HIDDEN: Final = NONE | INVISIBLE | TRANSPARENT | CLIPPED | OFF_PAGE | SKIPPED | UNSLOTTED | CHOICE
"""Any reason not to be shown."""
WHOLLY_HIDDEN: Final = NONE | SKIPPED | UNSLOTTED | CHOICE
"""Reasons that hold for all that is within the element, too."""

REASONS: Final = {
    NONE: "display none",
    INVISIBLE: "visibility",
    TRANSPARENT: "transparent",
    CLIPPED: "clipped away",
    OFF_PAGE: "off the page",
    SKIPPED: "skipped: content-visibility, closed details",
    UNSLOTTED: "in no slot",
    CHOICE: "choice of a closed select",
}
"""Why an element is not shown, in words."""

BLOCKS: Final = frozenset(LAYOUTS.index(name) for name in ("block", "list-item", "table", "row", "rows"))
"""Layouts that begin and end a line."""
CELL: Final = LAYOUTS.index("cell")
"""The layout of a cell of a table."""
