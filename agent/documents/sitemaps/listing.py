"""One file of a sitemap: XML, or a text with one address a line; packed or not (sitemaps.org).

It is read in pieces, and only its entries are kept: a small file that unpacks to millions of elements costs neither
memory nor much time. Other threads have their turn between two pieces.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from itertools import chain
from xml.parsers import expat

from shoal.agent.documents.addresses import as_browser_writes, resolved
from shoal.agent.documents.beyond import BeyondDocument

MOST_SITEMAP_BYTES = 50 * 1024 * 1024
"""Of one file, unpacked: as the protocol has it."""
MOST_ENTRIES = 50_000
"""Of one file: as the protocol has it."""
MOST_ELEMENTS = 2_000_000
"""Of one file: an entry with pictures, or with the same page in other languages, has dozens."""
MOST_NAMES = 1_000
"""Of elements and attributes in one file: the parser keeps each."""
_ENTRY_DEPTH = 3
"""Elements within elements, from the root to an entry's address."""
DEEPEST = 16
"""Elements within elements."""
LONGEST_TAG = 256 * 1024
"""Bytes of a tag or comment: the parser keeps it whole, and looks at it anew with each piece."""
LONGEST_ADDRESS = 2_048
"""Characters: as the protocol has it."""
_LONGEST_DATE = 40
_MOST_TEXT = 2 * LONGEST_ADDRESS
"""Characters of an element: one with more is too long, though the rest may be blank."""
_PIECE = 64 * 1024
_GZIP = b"\x1f\x8b"
_UTF_8, _UTF_16 = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
_WEB = ("http://", "https://")
_ENTRIES = {"urlset": "url", "sitemapindex": "sitemap"}


class NoSitemap(Exception):
    """A file is no sitemap, or none that is read; the message says why."""


@dataclass(frozen=True, slots=True)
class SitemapPage:
    """One page of a sitemap."""

    url: str
    modified: str = ""  # as the sitemap has it; "": it does not say


@dataclass(slots=True)
class Listed:
    """The entries of one file."""

    pages: list[SitemapPage] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)  # it is an index of these
    entries: int = 0  # that were read, whether or not they are among the others
    cut: str = ""  # why entries are missing; "": none is
    full: bool = False  # it has more entries than are read

    def add(self, base: str, address: str, modified: str = "", *, is_page: bool = True, whole: bool = False) -> None:
        """Adds an entry of the file at `base`, or says why it is left out: with `whole` also where it is relative."""
        if self.entries == MOST_ENTRIES:
            self.full, self.cut = True, f"{base} has more than {MOST_ENTRIES:,} entries: the others were not read"
            return
        self.entries += 1
        try:
            if len(address) > LONGEST_ADDRESS:
                raise BeyondDocument(f"an address has more than {LONGEST_ADDRESS:,} characters")
            if whole and not address.lower().startswith(_WEB):
                raise BeyondDocument("it is no whole address of a page")
            url = resolved(as_browser_writes(address), base)
        except BeyondDocument as error:
            self.cut = self.cut or f"an entry of {base} was left out, {address[:200]!r}: {error}"
            return
        if is_page:
            self.pages.append(SitemapPage(url, modified))
        else:
            self.sitemaps.append(url)


def listed_in(body: bytes, url: str) -> Listed:
    """Return what a file lists. Other files that it names for its entities are not opened.

    Raises:
        NoSitemap: it is something else, broken, or beyond a bound.
    """
    try:
        pieces = _pieces(body)
        beginning = next(pieces, b"").removeprefix(_UTF_8).lstrip()
        if beginning.startswith((b"<", *_UTF_16)):
            return _of_xml(chain((beginning,), pieces), url)
        if beginning[:8].decode("ascii", "replace").lower().startswith(_WEB):
            return _of_text(chain((beginning,), pieces), url)
    except (expat.ExpatError, EOFError, LookupError, OSError, ValueError, zlib.error) as error:
        raise NoSitemap(str(error)) from error
    raise NoSitemap("it is neither XML nor a list of addresses")


def _pieces(body: bytes) -> Iterator[bytes]:
    """A file in pieces, unpacked where it is gzip."""
    total = 0
    with gzip.GzipFile(fileobj=BytesIO(body)) if body.startswith(_GZIP) else BytesIO(body) as file:
        while piece := file.read(_PIECE):
            total += len(piece)
            if total > MOST_SITEMAP_BYTES:
                raise NoSitemap(f"it is longer than {MOST_SITEMAP_BYTES:,} bytes")
            yield piece


def _of_text(pieces: Iterator[bytes], url: str) -> Listed:
    listed, rest = Listed(), b""
    for piece in chain(pieces, (b"\n",)):
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > _PIECE:
            raise NoSitemap(f"it has a line of more than {_PIECE:,} bytes")
        for address in filter(None, (line.decode().strip() for line in lines)):
            listed.add(url, address, whole=True)
        if listed.full:
            break
    return listed


def _of_xml(pieces: Iterator[bytes], url: str) -> Listed:
    parser = expat.ParserCreate()
    entries = _Entries(parser, url)
    fed = 0
    for piece in pieces:
        fed += len(piece)
        parser.Parse(piece)
        if entries.listed.full:
            return entries.listed
        if fed - parser.CurrentByteIndex > LONGEST_TAG:
            raise NoSitemap(f"it has a tag or a comment of more than {LONGEST_TAG:,} bytes")
        if len(parser.intern) > MOST_NAMES:
            raise NoSitemap(f"its elements and attributes have more than {MOST_NAMES:,} names")
    parser.Parse(b"", True)
    return entries.listed


class _Entries:
    """Gathers the entries of a file while it is parsed."""

    def __init__(self, parser: expat.XMLParserType, url: str) -> None:
        self.listed = Listed()
        self._parser = parser
        self._url = url
        self._elements = self._depth = self._children = 0
        self._root = self._space = self._entry_space = self._field = ""
        self._spaces: list[dict[str, str]] = []  # namespaces by prefix, of each open element near the root
        self._entry: dict[str, str] | None = None  # of the entry that is open
        self._text: str | None = None  # of its address or day, while that is open
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._doctype
        parser.SkippedEntityHandler = self._entity

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._elements += 1
        self._depth += 1
        if self._elements > MOST_ELEMENTS:
            raise NoSitemap(f"it has more than {MOST_ELEMENTS:,} elements")
        if self._depth > DEEPEST:
            raise NoSitemap(f"its elements are nested deeper than {DEEPEST}")
        if self._depth > _ENTRY_DEPTH:
            return
        own = [key for key in attributes if key == "xmlns" or key.startswith("xmlns:")] if attributes else ()
        self._spaces.append({key[6:]: attributes[key] for key in own})
        local = name.rpartition(":")[2]
        if self._depth == 1:
            self._space, self._root = self._space_of(name), local
            if self._root not in _ENTRIES:
                raise NoSitemap("its root is neither `urlset` nor `sitemapindex`")
        elif self._depth == 2:
            self._children += 1
            if local == _ENTRIES[self._root] and (space := self._space_of(name)) in (self._space, ""):
                self._entry, self._entry_space = {}, space
        elif self._entry is not None and local in ("loc", "lastmod") and self._space_of(name) == self._entry_space:
            self._field, self._text = local, ""
            self._parser.CharacterDataHandler = self._characters

    def _space_of(self, name: str) -> str:
        """An element's namespace. The parser, asked for it, would copy a long one for each name of an attribute."""
        prefix, colon, _ = name.rpartition(":")
        return next((spaces[prefix] for spaces in reversed(self._spaces) if prefix in spaces), prefix + colon)

    def _characters(self, text: str) -> None:
        assert self._text is not None
        if len(self._text) <= _MOST_TEXT:
            self._text += text

    def _end(self, _: str) -> None:
        self._depth -= 1
        del self._spaces[self._depth :]
        if self._depth == 2 and self._entry is not None and self._text is not None:
            whole = len(self._text) <= _MOST_TEXT
            self._entry[self._field] = self._text.strip() if whole else self._text
            self._text = self._parser.CharacterDataHandler = None
        elif self._depth == 1 and self._entry is not None:
            address, modified = self._entry.get("loc", ""), self._entry.get("lastmod", "")
            self._entry = None
            if address:
                day = modified if len(modified) <= _LONGEST_DATE else ""
                self.listed.add(self._url, address, day, is_page=self._root == "urlset")
        elif self._depth == 0 and self._children and not self.listed.entries:
            self.listed.cut = f"{self._url} has elements, and none is an entry with an address"

    def _doctype(self, _name: str, _system: str | None, _public: str | None, has_own: bool) -> None:
        if has_own:
            raise NoSitemap("its document type has declarations of its own")

    def _entity(self, name: str, _: bool) -> None:
        raise NoSitemap(f"it has the entity &{name}; of another file")
