"""Manual pages in HTML: those of ncurses by man2html, those of git by AsciiDoc."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.sites.registry import cache, serving
from tests.sites.registry.case import Case, Either, Json, either, record, records
from tests.sites.registry.markup import parsed, text

NAME = "man pages (ncurses, git)"
_CURSES = ("curs_color.3x", "curs_getch.3x", "curs_window.3x", "tput.1", "terminfo.5", "captoinfo.1m")
_GIT = ("git-add", "git-commit", "git-blame", "git-tag", "git-stash", "git-rebase")


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while both folders are served."""
    curses = cache.debian("ncurses-doc") / "usr/share/doc/ncurses-doc/html/man"
    git = cache.debian("git-doc") / "usr/share/doc/git-doc"
    with serving.folder(curses) as first, serving.folder(git) as second:
        yield [
            _curses(curses, first),
            _git(git, second),
            _options(git, second, "git-add"),
            _one(git, second, "git-commit"),
            _git(git, second).with_places({"name": {"select": "h1"}, "synopsis": {"select": "#_synopsis + *"}}),
        ]


def _sections(path: Path) -> dict[str, str]:
    """The text below each heading of a page of man2html."""
    found = {}
    for heading in parsed(path).xpath("//h2"):
        parts = []
        for following in heading.itersiblings():
            if following.tag != "pre" and following.tag != "h3":
                break
            parts.append(text(following))
        found[text(heading)] = " ".join(part for part in parts if part)
    return found


def _without_foot(last: str) -> Either:
    """The text of a page's last section: the line at its end, which repeats the page's name, may count or not."""
    foot = re.search(r"\s+\S+\(\w+\)$", last)
    return either(last, last[: foot.start()] if foot else None)


def _curses(root: Path, url: str) -> Case:
    found: list[Json] = []
    for name in _CURSES:
        sections = _sections(root / f"{name}.html")
        page = parsed(root / f"{name}.html")
        title = text(page.xpath("//h1")[0])
        named = sections["NAME"].partition(" - ")[0]
        found.append(
            {
                "page": f"{url}/{name}.html",
                "name": either(title, sections["NAME"], named, title.split()[0]),
                "see_also": _without_foot(sections["SEE ALSO"]) if "SEE ALSO" in sections else None,
            }
        )
    return Case(
        "pages of man2html",
        "loop",
        {
            "url": f"{url}/",
            "loop": {"values": [f"{url}/{name}.html" for name in _CURSES]},
            "extract": {"schema": record({"name": "string", "see_also": "string"}, required=["name"])},
        },
        found,
        at="page",
    )


def _git_page(path: Path) -> Json:
    page = parsed(path)
    title = text(page.xpath("//h1")[0])
    said = text(page.xpath("//h2[.='NAME']/following-sibling::*[1]")[0])
    synopsis = text(page.xpath("//h2[.='SYNOPSIS']/following-sibling::*[1]")[0])
    named = said.partition(" - ")[0]
    short = re.sub(r" Manual Page$", "", title)
    return {"name": either(title, short, said, named), "synopsis": synopsis}


def _git(root: Path, url: str) -> Case:
    return Case(
        "pages of AsciiDoc",
        "loop",
        {
            "url": f"{url}/",
            "loop": {"values": [f"{url}/{name}.html" for name in _GIT]},
            "extract": {"schema": record({"name": "string", "synopsis": "string"}, required=["name"])},
        },
        [{"page": f"{url}/{name}.html", **_git_page(root / f"{name}.html")} for name in _GIT],
        at="page",
    )


def _one(root: Path, url: str, name: str) -> Case:
    return Case(
        f"page {name}",
        "single",
        {
            "url": f"{url}/{name}.html",
            "extract": {"schema": record({"name": "string", "synopsis": "string"}, required=["name"])},
        },
        [_git_page(root / f"{name}.html")],
    )


def _options(root: Path, url: str, name: str) -> Case:
    """The page's outer definition list: several options may share one meaning."""
    found = []
    for entry in parsed(root / f"{name}.html").xpath("//h2[.='OPTIONS']/..//div[@class='dlist'][1]/dl")[:1]:
        terms: list[str] = []
        for part in entry:
            if part.tag == "dt":
                terms.append(text(part))
                continue
            first = [text(p) for p in part.xpath("./p")[:1]]
            ways = (*terms, " ".join(terms), ", ".join(terms))
            found.append({"option": either(*ways), "description": either(text(part), *first)})
            terms = []
    return Case(
        f"options of {name}",
        "list",
        {
            "url": f"{url}/{name}.html",
            "extract": {"schema": records({"option": "string", "description": "string"}, required=["option"])},
        },
        found,
        key="option",
    )
