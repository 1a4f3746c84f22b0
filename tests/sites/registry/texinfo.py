"""Manuals made by makeinfo: an index with a letter over its entries, menus, and functions as lists of definitions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.sites.registry import cache, serving
from tests.sites.registry.case import Case, either, record, records
from tests.sites.registry.markup import parsed, text

NAME = "Texinfo (R, Octave)"
_ANCHOR = ".//a[@class='copiable-anchor']"


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while the manuals of R and Octave are served."""
    of_r = cache.debian("r-doc-html") / "usr/share/R/doc/manual"
    of_octave = cache.debian("octave-doc") / "usr/share/doc/octave/octave.html"
    with ExitStack() as stack:
        r_url, octave_url = (stack.enter_context(serving.folder(folder)) for folder in (of_r, of_octave))
        yield [
            *(_index(of_r, r_url, name, kind) for name, kind in (("R-data", "vr"), ("R-data", "cp"), ("R-exts", "vr"))),
            _menu(of_octave, octave_url, "Strings"),
            *(_functions(of_octave, octave_url, name) for name in ("Searching-in-Strings", "Set-Operations")),
        ]


def _index(folder: Path, url: str, name: str, kind: str) -> Case:
    """A table with a letter before the entries that begin with it."""
    truth = []
    (table,) = parsed(folder / f"{name}.html").xpath(f"//table[@class='index-{kind}']")
    for row in table.xpath(".//tr[count(td) = 4]"):
        entry, section = row.xpath("./td[2]"), row.xpath("./td[4]")
        said = text(entry[0])
        truth.append({"index_entry": either(said, said.removesuffix(":")), "section": text(section[0])})
    schema = records({"index_entry": "string", "section": "string"}, required=["index_entry"])
    spec = {"url": f"{url}/{name}.html", "extract": {"schema": schema, "records": f"table.index-{kind} tr"}}
    return Case(f"index {kind} of {name}", "table", spec, truth, "index_entry")


def _menu(folder: Path, url: str, name: str) -> Case:
    """The sections of a chapter, each on a page of its own."""
    truth = []
    for link in parsed(folder / f"{name}.html").xpath("//ul[@class='section-toc']/li/a/@href"):
        (heading,) = parsed(folder / link).xpath("//h3[@class='section']")
        title = text(heading)
        truth.append({"page": f"{url}/{link}", "title": either(title, title.split(" ", 1)[1])})
    spec = {
        "url": f"{url}/{name}.html",
        "loop": {"from": {"select": "ul.section-toc a"}},
        "extract": {"schema": record({"title": "string"}, required=["title"])},
    }
    return Case(f"sections of {name}", "loop", spec, truth, at="page")


def _functions(folder: Path, url: str, name: str) -> Case:
    """Each function is a list of definitions with one entry, which may have several terms."""
    truth = []
    for found in parsed(folder / f"{name}.html").xpath("//dl[@class='def']"):
        whole = [text(term, without=_ANCHOR) for term in found.xpath("./dt")]
        plain = [said.removeprefix(": ") for said in whole]
        marked = [text(term) for term in found.xpath("./dt")]
        signature = either(*(", ".join(lines) for lines in (whole, plain, marked)))
        truth.append({"signature": signature, "description": text(found.xpath("./dd")[0])})
    schema = records({"signature": "string", "description": "string"}, required=["signature"])
    return Case(
        f"functions of {name}", "list", {"url": f"{url}/{name}.html", "extract": {"schema": schema}}, truth, "signature"
    )
