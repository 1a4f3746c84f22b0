"""A test that a page says it lacks a value: it shows what pages without the value show, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence

from shoal.agent.workflows.format.absence import Absence
from shoal.agent.workflows.reading.page_view import NO_VALUE, PageView

AFTER = " after "


def keys_of(texts: Sequence[str], fixed: Container[str]) -> Iterator[str]:
    """The texts of a page as `Absence` has them, in their order.

    Args:
        texts: as `hashed_text` has them.
        fixed: the fixed places.
    """
    before = ""
    for text in texts:
        place, wording, kind = text.split(" ")
        if place in fixed:
            before = f"{place} {wording}"
            yield before
        else:
            # A text that stands where a value is missing is none of the values that may stand there.
            yield f"{place} {NO_VALUE if wording == NO_VALUE else kind}{AFTER}{before}"


def states_absence(absence: Absence, view: PageView) -> bool:
    """Return whether the page of `view` shows all that pages have,
    and nothing that pages without the value do not show.
    """
    if view.texts is None:
        return False
    fixed = {key.split(" ")[0] for key in (*absence.texts, *absence.required) if AFTER not in key}
    counts = Counter(keys_of(view.texts, fixed))
    return all(key in counts for key in absence.required) and all(
        n <= absence.texts.get(key, 0) for key, n in counts.items()
    )
