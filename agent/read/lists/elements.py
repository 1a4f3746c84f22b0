"""Elements by what lists know of them: menus, lines, and their paths from a page's root."""

from __future__ import annotations

import re
from functools import lru_cache

from lxml.html import HtmlElement

from shoal.agent.read.facts.texts import names_of
from shoal.agent.read.word_lists.labels import AROUND
from shoal.agent.read.words import word_set

_MENU = re.compile(
    r"(?<![^\W_])(nav|navbar|menu|footer|breadcrumbs?|pager|pagination|sidebar|toolbar|social|share|cookie|skip)", re.I
)
_STATE = re.compile(
    r"\d|(^|[-_])(odd|even|first|last|alt|active|current|hidden|collapsed?|show|parent|children)($|[-_])"
    r"|(^|[-_])(unread|read|unseen|seen|starred|pinned|flagged|selected|checked|expanded|new)$"
)
"""Classes that tell parts of one kind apart."""
_ELSEWHERE = frozenset(word for word in AROUND if " " not in word)
"""Words in the names of blocks that are about something else."""

Path = tuple[str, ...]
"""Steps from the root to an element: tag and classes, of cells the tag and their column."""

LOOKS = word_set("abbr acronym bdi bdo big cite em font i ins mark nobr q s small sub sup tt u wbr")
"""Elements that only change how text looks: text in them goes on the text around."""
INLINE = LOOKS | word_set("a b code del img ins kbd label samp span strike strong time var")
"""Elements that stand in a line."""
CELL_STEPS = ("td@", "th@", "dt@", "dd@")
"""Beginnings of the steps of cells and of parts of definitions."""
_COLUMN = re.compile(r"@\d+")


def line_of(el: HtmlElement) -> str:
    """All text in an element in one line, with a space for a line break."""
    parts: list[str] = [el.text or ""]
    for inner in el.iterdescendants():
        if inner.tag == "br":
            parts.append(" ")
        elif isinstance(inner.tag, str):
            parts.append(inner.text or "")
        parts.append(inner.tail or "")
    return " ".join("".join(parts).split())


def attribute_number(el: HtmlElement, name: str, most: int) -> int:
    """A whole number that an attribute states, 1 without one, at most `most`."""
    figures = re.sub(r"\D", "", el.get(name) or "")[:6]
    return max(1, min(int(figures or 1), most))


def step_of(el: HtmlElement) -> str:
    """An element's tag with its classes, those aside that tell parts of one kind apart."""
    return step_with(el, classes_of(el))


def step_with(el: HtmlElement, classes: frozenset[str]) -> str:
    """An element's tag with some of its classes."""
    return ".".join([str(el.tag), *sorted(classes)[:4]])


def classes_of(el: HtmlElement) -> frozenset[str]:
    """An element's classes, those aside that tell parts of one kind apart."""
    return frozenset(name for name in (el.get("class") or "").split() if not _STATE.search(name))


def is_menu(el: HtmlElement) -> bool:
    """True for a block that is named as navigation, or as what is about something else."""
    if el.tag in ("nav", "footer", "aside") or el.get("role") in ("navigation", "complementary", "menu"):
        return True
    if el.tag in ("body", "html", "main", "form"):
        return False
    names = f"{names_of(el)} {el.get('role') or ''}"
    return bool(_MENU.search(names)) or not _ELSEWHERE.isdisjoint(re.findall(r"[a-z]+", names.casefold()))


@lru_cache(50_000)
def tags_of(path: Path) -> Path:
    """A path without its classes."""
    return tuple(step.partition(".")[0] for step in path)


@lru_cache(50_000)
def cell_step(path: Path) -> str:
    """The step of the first cell or part of a definition in a path; "" where it has none."""
    return next((step for step in path if step[:3] in CELL_STEPS), "")


def steps_of_cell(cell: HtmlElement, step: str) -> list[str]:
    """The steps of all columns that a cell with this first step stands in."""
    tag, _, column = step.partition("@")
    spanned = attribute_number(cell, "colspan", 30) if tag in ("td", "th") else 1
    return [f"{tag}@{each}" for each in range(int(column or 0), int(column or 0) + spanned)]


@lru_cache(50_000)
def block_of(path: Path) -> Path:
    """A path up to the first element that stands in a line."""
    inline = (at for at, step in enumerate(path) if re.split(r"[.@]", step)[0] in INLINE)
    return path[: next(inline, len(path))]


@lru_cache(50_000)
def without_columns(path: Path) -> Path:
    """A path whose cells are of any column."""
    return tuple(_COLUMN.sub("", step) if "@" in step else step for step in path)
