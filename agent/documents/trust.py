"""Trust in the raw documents of a site as stand-ins for its pages, by comparisons that agreed or did not.

Nothing is concluded from one look. A document stands for its page once `SAMPLES` pages with the same scripts and style
sheets gave the same in a browser, and only where no element that counts is of a kind that was never seen there. One
difference ends it for the job, and so does a site that turns these requests away. No answer concludes nothing.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from enum import StrEnum

from cachetools import LRUCache

from shoal.agent.documents.document import ReadDocument
from shoal.agent.documents.fetching import Visitor

SAMPLES = 3
"""Pages of one build that a browser has to read the same before their documents count."""
AUDITS_PER_READING = 1 / 250
"""The share of readings that a browser repeats, at least; the first ones are repeated more often."""
_EARLY = 3
_MOST_UNKNOWN = 5
"""Failed fetches in a row after which documents are left alone for the job."""
_LEAST_SHARE = 0.5
_TRIES = 20
_MOST_SITES = 200
_MANY_WORDS = 64
"""Different values beside the record, after which any may be there."""


class Mode(StrEnum):
    """Ways of reading a page."""

    DOCUMENT = "document"
    """From its document alone, where that is known to be enough."""
    SAMPLE = "sample"
    """In a browser, and from its document as well, so that both can be compared."""
    PAGE = "page"
    """In a browser."""


@dataclass(slots=True)
class _Build:
    """Findings on pages with the same scripts and style sheets, whose documents agreed with the rendered pages."""

    agreed: int = 0
    hooks: set[str] = field(default_factory=set)
    kinds: dict[str, set[str]] = field(default_factory=dict)  # by field
    lacking: set[frozenset[str]] = field(default_factory=set)  # sets of fields that such a page does not state
    names: set[str] = field(default_factory=set)  # of logins and errors that such a page holds, hidden
    words: dict[str, set[str]] = field(default_factory=dict)  # hashes of values beside the record, by path

    def takes(self, path: str, word: str) -> bool:
        """Return whether a value beside the record may be this one: it was seen, or nearly every page has another."""
        seen = self.words.get(path, set())
        return word in seen or len(seen) >= _MANY_WORDS or 2 * len(seen) > self.agreed


class DocumentTrust:
    """One worker's trust in the documents of one site, for one job."""

    def __init__(self, chance: random.Random | None = None) -> None:
        self._chance = chance or random.Random()
        self._builds: dict[str, _Build] = {}
        self._sampling = 0
        self._begun = 0  # pages since documents count
        self._owed = 0.0  # readings that a browser has yet to repeat: those that it repeats in any case count as well
        self._unknown = 0  # in a row
        self._read = self._passed_on = 0
        self.refused = ""  # why documents do not count here; "" while they may
        self.turned_away = False  # the site does not want to be asked without a browser
        self.audited = 0  # documents that would have counted, and that a browser read as well
        self.visitor: Visitor | None = None  # as the job's browser names itself

    @property
    def opened(self) -> bool:
        """Return whether documents of some build count."""
        return not self.refused and any(build.agreed >= SAMPLES for build in self._builds.values())

    def begin(self, *, sampled: bool = False, audited: bool = False, kept: bool = False) -> Mode:
        """Return how the next page is to be read;
        each is followed by one call of `end`.

        Args:
            sampled: a browser opens it in any case, so that both can be compared.
            audited: what its document says is held to its page in any case.
            kept: a later run is to know the page by its document, so that each is read: those that a loop opens
                beside its first samples would be opened again each time.
        """
        if self.refused:
            return Mode.PAGE
        if self.opened:
            share = max(AUDITS_PER_READING, _EARLY / (self._begun + _EARLY))
            self._begun += 1
            self._owed += share
            if audited:
                self._owed -= 1
                return Mode.DOCUMENT
            if sampled or (self._owed > 0 and self._chance.random() < share):
                self._owed -= 1
                return self._sample()
            return Mode.DOCUMENT
        if sampled:
            return self._sample()
        return self._sample() if kept or self._sampling < SAMPLES else Mode.PAGE

    def _sample(self) -> Mode:
        self._sampling += 1
        return Mode.SAMPLE

    def end(self, mode: Mode) -> None:
        """A page that was begun in `mode` is done."""
        if mode is Mode.SAMPLE:
            self._sampling -= 1

    def knows(self, read: ReadDocument) -> bool:
        """Return whether what `read` rests on was seen to be the same in a browser."""
        build = self._builds.get(read.signature.active)
        if self.refused or build is None or build.agreed < SAMPLES:
            return False
        same = all(kinds <= build.kinds.get(name, set()) for name, kinds in read.kinds.items())
        known = read.signature.hooks <= build.hooks and read.names <= build.names
        words_known = all(build.takes(path, word) for path, word in read.words.items())
        return same and known and words_known and read.lacking in build.lacking

    def served(self, *, by_document: bool) -> None:
        """A page whose document could have counted was read by it, or had to be opened after all."""
        self._unknown = 0
        self._read += by_document
        self._passed_on += not by_document
        tries = self._read + self._passed_on
        if tries >= _TRIES and self._read < _LEAST_SHARE * tries:
            self.refuse("most of its pages are built in ways that were not seen before")

    def took_back(self) -> None:
        """A page that was read by its document had to be opened after all: the document was not enough for a record."""
        self._read -= 1
        self.served(by_document=False)

    def agreed(self, read: ReadDocument) -> None:
        """A browser has read the same from the page."""
        self._unknown = 0
        self.audited += self.knows(read)
        build = self._builds.setdefault(read.signature.active, _Build())
        build.agreed += 1
        build.hooks |= read.signature.hooks
        build.lacking.add(read.lacking)
        build.names |= read.names
        for name, kinds in read.kinds.items():
            build.kinds.setdefault(name, set()).update(kinds)
        for path, word in read.words.items():
            if len(seen := build.words.setdefault(path, set())) < _MANY_WORDS:
                seen.add(word)

    def unknown(self, why: str) -> None:
        """No document came, or none that could be read here: nothing is known of what the page says."""
        self._unknown += 1
        if self._unknown >= _MOST_UNKNOWN:
            self.refuse(f"documents could not be had again and again: {why}")

    def refuse(self, why: str, *, turned_away: bool = False) -> None:
        """Documents of this site do not count for this job any more."""
        self.refused = self.refused or why
        self.turned_away = self.turned_away or turned_away


class TrustedSites:
    """One worker's trust in sites, by job; the site that was asked for longest ago is forgotten."""

    def __init__(self) -> None:
        self._sites: LRUCache[tuple[int, str, bool], DocumentTrust] = LRUCache(_MOST_SITES)

    def of(self, job: int, host: str, *, own_requests: bool = False) -> DocumentTrust:
        """Return what is known of the site for the job.

        Args:
            own_requests: of what its pages request themselves, where their documents do not count.
        """
        key = job, host, own_requests
        known = self._sites.get(key)
        if known is None:
            known = self._sites[key] = DocumentTrust()
        return known
