"""The outcome of an attempt to read a page from its document."""

from __future__ import annotations

from enum import StrEnum


class DocumentOutcome(StrEnum):
    """One for each document that was asked for."""

    USED = "used"
    """The record is from it."""
    UNCHANGED = "unchanged"
    """The page is as an earlier run read it: that run's record is carried over."""
    PASSED_ON = "passed_on"
    """A browser read the page: the document is of a build that was not seen before, or does not tell all."""
    AGREED = "agreed"
    """A browser read the same."""
    DIFFERENT = "different"
    """A browser read something else: documents of this site do not count for the job any more."""
    UNKNOWN = "unknown"
    """There was no answer, or none that can be read."""
    TURNED_AWAY = "turned_away"
    """The site answered that it does not want this: it is asked for no more documents in the job."""
