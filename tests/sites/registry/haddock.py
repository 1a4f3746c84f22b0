"""A Haskell library by Haddock: a page for each module, whose table of facts stands before headings of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.sites.registry import cache, serving
from tests.sites.registry.case import Case, Json, record
from tests.sites.registry.markup import parsed, text

NAME = "Haddock (aeson)"
_FIELDS = ("license", "maintainer", "stability", "portability")


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while the library's documentation is served."""
    root = cache.debian("libghc-aeson-doc") / "usr/share/doc/libghc-aeson-doc/html"
    truth: list[dict[str, Json]] = []
    with serving.folder(root) as url:
        for path in sorted(root.glob("Data-*.html")):
            header = parsed(path).xpath("//div[@id='module-header']")[0]
            facts = {text(row.xpath("./th")[0]).lower(): text(row.xpath("./td")[0]) for row in header.xpath(".//tr")}
            title = text(header.xpath("./p[@class='caption']")[0])
            truth.append({"page": f"{url}/{path.name}", "title": title, **{name: facts.get(name) for name in _FIELDS}})
        spec = {
            "url": truth[0]["page"],
            "loop": {"values": [row["page"] for row in truth], "is_link": True},
            "extract": {"schema": record(dict.fromkeys(("title", *_FIELDS), "string"))},
        }
        yield [Case("each module", "loop", spec, truth, at="page")]
