"""The manual of Node.js: each module's page states its stability, and so does each part of it that differs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.sites.registry import cache, serving
from tests.sites.registry.case import Case, Json, either, record
from tests.sites.registry.markup import parsed, text

NAME = "Node.js manual"
_MODULES = 30


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while the manual is served."""
    root = cache.debian("nodejs-doc") / "usr/share/doc/nodejs/api"
    with serving.folder(root) as url:
        links = parsed(root / "index.html").xpath("//div[@id='apicontent']//li/a/@href")
        pages = [link for link in dict.fromkeys(links) if "/" not in link and (root / link).is_file()][:_MODULES]
        yield [_modules(root, url, pages)]


def _stability(path: Path) -> Json:
    """Return what the page says before its first section."""
    for node in parsed(path).xpath("//div[@id='apicontent']/h2[1]/following-sibling::*"):
        if node.tag in ("section", "h3"):
            return None
        if node.tag == "blockquote" and text(node).startswith("Stability: "):
            return text(node).removeprefix("Stability: ")
    return None


def _modules(root: Path, url: str, pages: list[str]) -> Case:
    truth = []
    for page in pages:
        (heading,) = parsed(root / page).xpath("//div[@id='apicontent']/h2[1]")
        whole = text(heading)
        title = either(text(heading, without=".//a[@class='mark']"), whole)
        truth.append({"page": f"{url}/{page}", "title": title, "stability": _stability(root / page)})
    spec = {
        "url": f"{url}/index.html",
        "loop": {"values": [row["page"] for row in truth], "is_link": True},
        "extract": {"schema": record({"title": "string", "stability": "string"})},
    }
    return Case("each module", "loop", spec, truth, at="page")
