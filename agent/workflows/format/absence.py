"""The look of pages that lack a value."""

from __future__ import annotations

from pydantic import Field

from shoal.agent.workflows.format.part import WorkflowPart


class Absence(WorkflowPart):
    """The texts of the pages that lack a value, as hashes.

    A place at which each wording is on two pages or more is a fixed place: a text there is the place and the wording.
    A text at another place is the place, the kind of text, `after`, and the fixed text before it.
    """

    texts: dict[str, int] = Field(
        min_length=1, description="how often each text stands there at most; any other text on a page is a miss"
    )
    required: tuple[str, ...] = Field(
        min_length=1, description="the texts at fixed places that all pages have; a page without one of them is a miss"
    )
