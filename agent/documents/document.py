"""One raw HTML document, and what its places say, told as a page's reading is told."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import webencodings
from selectolax.lexbor import LexborHTMLParser

from shoal.agent.documents.addresses import normal, resolved
from shoal.agent.documents.beyond import BeyondDocument
from shoal.agent.documents.html.elements import DocumentElements
from shoal.agent.documents.signature import ScriptSignature, has_scripts, signature_of
from shoal.agent.read.by_place.elements import text as js
from shoal.agent.read.by_place.elements.answer import answer_of, record_of
from shoal.agent.read.by_place.elements.places import PlaceData, Places, fields_of
from shoal.agent.read.grounding.other_pages import error_named, page_names
from shoal.agent.support.json_value import Json

MOST_BYTES = 4 * 1024 * 1024
"""Of a document; larger ones are a browser's."""
_PRESCAN = 1024
# A comment ends at its first end, for good: taken otherwise, a row of comments could be read in 2^n ways.
_BEFORE = r"\s*(?:(?><!--.*?-->)\s*|<\?xml[^>]*>\s*)*+<!doctype\s+html\s*"
_TODAYS = r"(?:>|system\s+[\"']about:legacy-compat[\"']\s*>"
_OLDER = r"|public\s+[\"']-//W3C//DTD (?:XHTML 1\.[01](?: (?:Strict|Transitional))?|HTML 4\.01)//EN[\"']"
_DOCTYPE = re.compile(_BEFORE + _TODAYS + _OLDER + r"\s+[\"'][^\"']+[\"']\s*>)", re.IGNORECASE | re.DOTALL)
"""Documents that a browser does not lay out by the rules of its oldest ancestors."""
_CHARSET = re.compile(rb"<meta[^>]*?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]+)", re.IGNORECASE)
_LABEL = re.compile(r"charset\s*=\s*\"?([A-Za-z0-9_:.-]+)", re.IGNORECASE)
_MOST_NAMES = 50


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A server's answer to a request for a document."""

    url: str  # where the last redirect led, with the fragment that was asked for
    status: int
    headers: Mapping[str, str]  # by name in lower case
    body: bytes
    asked_at: str = field(default="", compare=False)  # ISO 8601, UTC; "": it is not known


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """Values at the places of one reading in a document, and the parts of the document that they rest on."""

    view: Mapping[str, Json]  # as `PlacesPage.of` takes it
    signature: ScriptSignature
    kinds: Mapping[str, frozenset[str]] = field(default_factory=dict)  # of elements whose style counted, by field
    lacking: frozenset[str] = frozenset()  # fields of which the document states no place
    names: frozenset[str] = frozenset()  # of pages that stand in another's place, as this one may, too
    words: Mapping[str, str] = field(default_factory=dict)  # of the page's own request: values beside the record

    def to_json(self) -> dict[str, Json]:
        """The same as JSON, for another process."""
        return {
            "view": self.view,
            "active": self.signature.active,
            "hooks": sorted(self.signature.hooks),
            "kinds": {name: sorted(kinds) for name, kinds in self.kinds.items()},
            "lacking": sorted(self.lacking),
            "names": sorted(self.names),
        }

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Self:
        """Return what another process told."""
        return cls(
            answer["view"],
            ScriptSignature(answer["active"], frozenset(answer["hooks"])),
            {name: frozenset(kinds) for name, kinds in answer["kinds"].items()},
            frozenset(answer["lacking"]),
            frozenset(answer["names"]),
        )


class HtmlDocument:
    """A parsed document.

    Raises:
        BeyondDocument: it is no plain HTML document in a declared encoding, or leads elsewhere by itself.
    """

    def __init__(self, raw: RawDocument) -> None:
        self.url = normal(raw.url)
        self.status = raw.status
        self.text = readable(raw)
        self._tree = LexborHTMLParser(self.text, scripting=True)
        self._elements = DocumentElements(self._tree, self._base())
        self._check_stays()
        self._signature: ScriptSignature | None = None

    def _check_stays(self) -> None:
        for meta in self._tree.css("meta[http-equiv]"):
            if (meta.attributes.get("http-equiv") or "").strip().lower() == "refresh":
                raise BeyondDocument("the document leads elsewhere by itself")
        if self._tree.css_first("frameset") is not None:
            raise BeyondDocument("the document is made of frames")

    @property
    def signature(self) -> ScriptSignature:
        """Its scripts and styles."""
        if self._signature is None:
            self._signature = signature_of(self._tree, self.text)
        return self._signature

    def _base(self) -> str:
        base = self._tree.css_first("base[href]")
        if base is None:
            return self.url
        return resolved((base.attributes.get("href") or "").strip("\t\n\f\r "), self.url)

    def read(self, arg: Mapping[str, Any]) -> ReadDocument:
        """Return what the places of `arg` say; `arg` is what a page is asked.

        With `selectors` in it the view has `facts`, too, without the texts that are shown: what a record says has to
        stand at a place that is seen.

        Raises:
            BeyondDocument: only a browser can tell, or some field is of no kind that is read here.
        """
        if arg.get("many") or arg.get("records"):
            raise BeyondDocument("lists are read in a browser")
        places = Places(self._elements)
        field_places: dict[str, list[PlaceData]] = {}
        kinds: dict[str, frozenset[str]] = {}
        for name, kind, query, attribute in fields_of(arg):
            self._elements.kinds.clear()
            field_places[name] = places.of(name, kind, query, attribute)
            kinds[name] = frozenset(self._elements.kinds)
        self._elements.kinds.clear()
        answer = answer_of(
            self._elements, arg, [record_of(field_places)], self.url, self.status, has_scripts=has_scripts(self._tree)
        )
        if "facts" in answer:
            answer["facts"] |= {"text": "", "document": True}
            kinds["facts"] = frozenset(self._elements.kinds)
        lacking = frozenset(name for name, several in field_places.items() if not several)
        return ReadDocument(answer, self.signature, kinds, lacking, self._names())

    def _names(self) -> frozenset[str]:
        """Names of a login, a puzzle or an error that the page bears, each with its element.

        A style may hide them, and whether little is shown beside them is known to a browser alone.
        """
        asks_password = self._tree.css_first("input[type=password i]") is not None
        texts = [("title", node.text()) for node in self._tree.css("title")[:1]]
        texts += [(str(node.tag), node.text()) for node in self._tree.css("h1, h2, [role=heading]")[:_MOST_NAMES]]
        names = ((tag, name) for tag, text in texts for name in page_names(js.squash(text)))
        return frozenset(
            f"{tag}: {name}" for tag, name in names if error_named(name, asks_password=asks_password, is_short=True)
        )


def readable(raw: RawDocument) -> str:
    """The text of a document that looks like one that can be read here, before it is parsed.

    Raises:
        BeyondDocument: it is no plain HTML document in a declared encoding, or leads elsewhere by itself.
    """
    text = decoded(raw)
    if not _DOCTYPE.match(text):
        raise BeyondDocument("the document is not of today's HTML: a browser lays it out by older rules")
    if "refresh" in raw.headers:
        raise BeyondDocument("the document leads elsewhere by itself")
    return text


def decoded(raw: RawDocument) -> str:
    """The text of an HTML document, by the encoding that it declares.

    Raises:
        BeyondDocument: it is no HTML, declares no encoding, or does not keep to it.
    """
    content_type = raw.headers.get("content-type", "")
    if content_type.partition(";")[0].strip().lower() != "text/html":
        raise BeyondDocument("the answer is no HTML document")
    if raw.headers.get("content-disposition", "").strip().lower().startswith("attachment"):
        raise BeyondDocument("the answer is a file")
    if len(raw.body) > MOST_BYTES:
        raise BeyondDocument("the document is very long")
    body, label = raw.body, ""
    if body.startswith(codecs.BOM_UTF8):
        body, label = body[3:], "utf-8"
    elif body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise BeyondDocument("the document is in UTF-16")
    elif named := _LABEL.search(content_type):
        label = named[1]
    elif meta := _CHARSET.search(body[:_PRESCAN]):
        label = meta[1].decode("ascii")
    encoding = webencodings.lookup(label) if label else None
    if encoding is None or encoding.name in ("utf-16le", "utf-16be", "x-user-defined", "replacement"):
        raise BeyondDocument("the document declares no encoding")
    try:
        text = body.decode(encoding.codec_info.name, "strict")
    except UnicodeDecodeError as error:
        raise BeyondDocument("the document does not keep to its encoding") from error
    if "\0" in text:
        raise BeyondDocument("the document has bytes that are no text")
    return text
