"""What a page states, read in one call: the facts that fields are matched against."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from shoal.agent.browser import Context
from shoal.agent.errors import BrowserError
from shoal.agent.grounding.part_claims import LOADING
from shoal.agent.policies.rules.facts.page_parts import Anchor, Heading, Item, LabeledValue, NamedElement
from shoal.agent.read.values.phrases import phrase
from shoal.agent.read.word_lists.labels import AROUND
from shoal.agent.support.json_value import Json
from shoal.agent.support.printable import readable_json

FACTS_JS = (Path(__file__).parent / "facts.js").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Facts:
    """One page, or one repeated block of it, as `facts.js` saw it. Its parts are made into records when asked for."""

    data: Mapping[str, Json]

    @property
    def url(self) -> str:
        """Address of the document, with its fragment."""
        return str(self.data.get("url", ""))

    @property
    def undrawn(self) -> str:
        """The content type of a document that is no HTML and was not drawn as a page yet; "" for any other."""
        kind = str(self.data.get("type", ""))
        return "" if self.data.get("drawn") or "html" in kind else kind

    @property
    def canonical(self) -> str:
        """What the page calls its own address; "" when it does not say."""
        return str(self.data.get("canonical", ""))

    @property
    def title(self) -> str:
        """The document's title."""
        return str(self.data.get("title", ""))

    @property
    def text(self) -> str:
        """Visible text of the main record: without navigation, header, footer, asides and repeated blocks."""
        return "\n".join((self.plain_text, *(text for _, text in self.set_apart)))

    @property
    def plain_text(self) -> str:
        """`text` without the blocks that are `set_apart`."""
        return str(self.data.get("text", ""))

    @property
    def set_apart(self) -> list[tuple[str, str]]:
        """Blocks of `text` that may be about something else: the ids and classes around each, and its text."""
        return [(str(around), str(text)) for around, text in self.data.get("apart", ())]

    @property
    def beside(self) -> str:
        """Visible text of what `text` leaves out, clipped."""
        return str(self.data.get("aside", ""))

    @property
    def busy(self) -> str:
        """What says by itself that content is still coming, in words; "" when nothing does."""
        said = str(self.data.get("busy") or "")
        if said or not self.scripted:
            return said
        lines = (match.group().strip() for match in _LOADING.finditer(self.text[:2000]))
        waits = next((line for line in lines if not self._is_name(line)), "")
        return f'the text "{waits}"' if waits else ""

    def _is_name(self, line: str) -> bool:
        """Whether a line is what the document is called, in words of its own: "Loading ramp"."""
        return " " in line and line[-1] not in ".…" and line in self.title

    @property
    def bare(self) -> bool:
        """Scripts run, and have shown next to nothing yet."""
        return self.scripted and len(self.text) < 200

    @property
    def empty(self) -> Sequence[str]:
        """Visible elements that hold nothing where scripts run: tag, id and classes."""
        return list(self.data.get("empty", ()))

    @property
    def scripted(self) -> bool:
        """Scripts run on the page: what is missing may still come."""
        return int(self.data.get("scripts", 0)) > 0

    @property
    def pairs(self) -> Iterator[LabeledValue]:
        """Values that stand beside a label."""
        return map(LabeledValue.of, self.data.get("pairs", ()))

    @property
    def named(self) -> Iterator[NamedElement]:
        """Elements whose attributes tell what they hold."""
        return map(NamedElement.of, self.data.get("named", ()))

    @cached_property
    def headings(self) -> tuple[Heading, ...]:
        """The headings of the page, those of repeated blocks aside."""
        return tuple(map(Heading.of, self.data.get("headings", ())))

    @cached_property
    def anchors(self) -> tuple[Anchor, ...]:
        """Sections with an id."""
        return tuple(map(Anchor.of, self.data.get("anchors", ())))

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """Items of microdata and RDFa; those inside of others are among their values."""
        return tuple(map(Item.of, self.data.get("items", ())))

    @property
    def position(self) -> int | None:
        """Of a block that the caller named: its place among them."""
        return self.data.get("i")

    @cached_property
    def blocks(self) -> tuple[Facts, ...]:
        """The elements that the caller named, each by itself."""
        return tuple(map(Facts, self.data.get("blocks", ())))

    @cached_property
    def meta(self) -> dict[str, list[str]]:
        """Contents of the meta tags by lower-case name."""
        contents: dict[str, list[str]] = {}
        for name, content in self.data.get("meta", ()):
            contents.setdefault(str(name).lower(), []).append(str(content))
        return contents

    @cached_property
    def lang(self) -> str:
        """BCP 47 language of the page; "" when it does not say."""
        said = str(self.data.get("lang", "")) or next(iter(self.meta.get("content-language", ())), "")
        region = next(iter(self.meta.get("og:locale", ())), "").replace("_", "-")
        return region if region and (not said or ("-" not in said and region.startswith(said))) else said

    @cached_property
    def h1(self) -> str:
        """Text of the page's own first visible h1; "" without one."""
        own = (heading for heading in self.headings if heading.level == 1 and heading.visible and not heading.region)
        return next((heading.text for heading in own if heading.text), "")

    @cached_property
    def documents(self) -> list[Json]:
        """The JSON-LD blocks that parse."""
        return [block for text in self.data.get("jsonld", ()) for block in _parsed(str(text))]


_APART = sorted({word.removesuffix("y") for text in AROUND for word in phrase(text)})
"""Words, without their endings, of the names of blocks that may be about something else: the page's script sets their
text apart."""
_LOADING = re.compile(
    rf"(?mi)^[^\S\n]*(?:{LOADING}|just a moment)[\w ]{{0,20}}(?:\.{{2,}}|…)?[^\S\n]*$",
)


def _parsed(text: str) -> Iterator[Json]:
    """The value of a JSON-LD block; nothing for one that is not JSON, which is the site's own fault and common."""
    try:
        yield json.loads(text, strict=False)
    except json.JSONDecodeError:
        return


async def read_facts(page: Context, *, words: Sequence[str] = (), records: Sequence[str] | None = None) -> Facts:
    """All that the page states about itself, in one call. With `records`, also what the elements of these selectors
    state one by one, each with its position among them as `i`.

    With `words`, of the elements known by class or id only those whose names hold one of them.
    """
    asked = {"words": list(words), "apart": _APART, "records": records and list(records)}
    answer = await page.read(FACTS_JS, asked)
    data = readable_json(answer) if isinstance(answer, str) else answer
    if not isinstance(data, Mapping):
        raise BrowserError("the page answered no facts")
    return Facts(data)
