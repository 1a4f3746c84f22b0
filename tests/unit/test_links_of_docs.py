"""Links between pages lead somewhere: to a file that exists, and to a heading in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")
TEST = re.compile(r"`((?:[\w/]+/)?\w+\.py)(?:::(\w+))?`")
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub names them."""
    titles = re.findall(r"^#+ (.+)$", CODE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken(page: Path) -> Iterator[str]:
    for link in LINK.findall(CODE.sub("", page.read_text())):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            yield f"{page.relative_to(ROOT)}: {link}: no such file"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            yield f"{page.relative_to(ROOT)}: {link}: no such heading"


def test_links_lead_somewhere() -> None:
    assert [fault for page in pages() for fault in broken(page)] == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, left = set[Path](), [ROOT / "README.md"]
    while left:
        page = left.pop()
        if page not in reached and page.suffix == ".md" and page.is_file():
            reached.add(page)
            links = (
                link.partition("#")[0] for link in LINK.findall(CODE.sub("", page.read_text())) if "://" not in link
            )
            left += [(page.parent / link).resolve() for link in links if link]
    assert sorted(str(page.relative_to(ROOT)) for page in set(pages()) - reached) == []


def unheld(page: str, folders: tuple[Path, ...]) -> Iterator[str]:
    for path, test in TEST.findall((ROOT / page).read_text()):
        file = next((folder / path for folder in folders if (folder / path).is_file()), None)
        if file is None or (test and f"def {test}(" not in file.read_text()):
            yield f"{page}: {path}::{test}"


def test_tests_that_hold_something_are_there() -> None:
    assert list(unheld("docs/security.md", (ROOT, ROOT / "tests" / "security"))) == []
    assert list(unheld("docs/archive/doors.md", (ROOT / "tests",))) == []
