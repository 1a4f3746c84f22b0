"""Paths of elements, as steps from a page's root; what is asked of one is remembered."""

from __future__ import annotations

import re
from functools import lru_cache

from shoal.agent.read.words import word_set

Path = tuple[str, ...]
"""Steps from the root to an element: tag and classes, of cells the tag and their column."""

LOOKS = word_set("abbr acronym bdi bdo big cite em font i ins mark nobr q s small sub sup tt u wbr")
"""Elements that only change how text looks: text in them goes on the text around."""
INLINE = LOOKS | word_set("a b code del img ins kbd label samp span strike strong time var")
"""Elements that stand in a line."""
CELL_STEPS = ("td@", "th@", "dt@", "dd@")
"""Beginnings of the steps of cells and of parts of definitions."""
_COLUMN = re.compile(r"@\d+")


@lru_cache(50_000)
def tags_of(path: Path) -> Path:
    """A path without its classes."""
    return tuple(step.partition(".")[0] for step in path)


@lru_cache(50_000)
def cell_step(path: Path) -> str:
    """The step of the first cell or part of a definition in a path; "" where it has none."""
    return next((step for step in path if step[:3] in CELL_STEPS), "")


@lru_cache(50_000)
def block_of(path: Path) -> Path:
    """A path up to the first element that stands in a line."""
    inline = (at for at, step in enumerate(path) if re.split(r"[.@]", step)[0] in INLINE)
    return path[: next(inline, len(path))]


@lru_cache(50_000)
def without_columns(path: Path) -> Path:
    """A path whose cells are of any column."""
    return tuple(_COLUMN.sub("", step) if "@" in step else step for step in path)
