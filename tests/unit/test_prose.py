"""Rules of writing for the pages and the code, as far as a script can check them."""

from __future__ import annotations

import ast
import itertools
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from scripts.syntax_trees import statements_of

ROOT = Path(__file__).resolve().parents[2]
WIDEST = 120
LONGEST = 45
"""Words of a sentence on a page."""
ARCHIVE = ROOT / "docs" / "archive"
"""Pages of measurements and decisions, whose sentences carry their figures with them."""
MEASURED = frozenset({ROOT / "docs" / "operations" / "size.md"})
"""Pages outside of the archive whose sentences carry figures, too."""
MOST_WORDS = 40_000
"""Words of all pages but the archive and those that scripts write whole."""
WRITTEN_BY_SCRIPT = re.compile(r"^This page is written by `scripts/", re.MULTILINE)
RETIRED = {
    "lane": "queue partition",
    "crew": "worker manager",
    "bury": "deregister",
    "buried": "deregistered",
    "reap": "expire leases",
    "reaped": "expired",
    "tally": "metrics delta",
    "crowd": "concurrency permits",
    "unfold": "materialize",
    "sweep": "bulk operation",
    "swept": "removed",
    "manners": "domain throttle",
    "pulse": "change notifier, or element state",
    "stained": "tainted",
    "parcel": "report batch",
    "hungry": "needs work",
    "linger": "batch delay",
    "desk": "session dependencies",
    "scene": "session state",
    "gate": "navigation guard, spec checker or admission",
    "secrecy": "redaction",
    "allowance": "session budget or token bucket",
    "journey": "navigation state",
}
"""Words of our own that the code does not use any more, with the standard term for each."""
ROOMS = ("agent", "services", "shoal", "scripts", "load-tests", "tests")
THIS = Path(__file__).resolve()
DEMO_PAGES = ROOT / "load-tests" / "site" / "shop" / "templates"
"""Texts of a shop to its customers, which read as shops write."""
QUESTION = re.compile(r"(?:What|Whether|How|Where)\b")
"""Words that begin a question, not a statement of what is there."""
_FREE = re.compile(r"\b(?:whoever|whomever)\b", re.IGNORECASE)
"""Words that hide who acts."""


def tracked(*patterns: str) -> list[Path]:
    """The files of the repository that match."""
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """The lines of a Markdown page, without code, tables, and links on lines of their own."""
    code = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code and not re.match(r"\s*(\||!?\[|<|#)", line):
            yield number, line


def test_no_line_of_prose_is_wider_than_a_screen() -> None:
    wide = [
        f"{page.relative_to(ROOT)}:{number}"
        for page in tracked("*.md")
        for number, line in prose(page)
        if len(line) > WIDEST and " " in line.strip()
    ]
    assert wide == []


def test_paragraphs_are_filled() -> None:
    """A line that ends early in a paragraph was left by an edit. A link may stand on a line of its own."""
    early = [
        f"{page.relative_to(ROOT)}:{number}"
        for page in tracked("*.md")
        for (number, line), (follows, after) in itertools.pairwise(prose(page))
        if follows == number + 1
        and line.strip()
        and not line.startswith("    ")
        and not re.match(r"\s*([*-] |\d+\. |>|$)", after)
        and not re.match(r"\s*[\[(`]", after)
        and len(line) + 1 + len(after.split()[0]) <= WIDEST - 25
    ]
    assert early == []


def test_no_table_is_cut_in_two() -> None:
    """Rows without a head are drawn as text."""
    cut = []
    for page in tracked("*.md"):
        lines = ["", *page.read_text().splitlines(), ""]
        for number, (before, line, after) in enumerate(zip(lines, lines[1:], lines[2:], strict=False), 1):
            if line.startswith("|") and not before.strip() and not after.startswith("| -"):
                cut.append(f"{page.relative_to(ROOT)}:{number}")
    assert cut == []


def test_the_places_that_contributing_names_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = set(re.findall(r"`((?:agent|services|shoal|scripts|tests|prompts|deploy|docs)/[\w./-]+)`", text))
    assert len(named) > 15
    assert sorted(name for name in named if not (ROOT / name).exists()) == []
    for heading in (
        *("action", "setting", "metric", "field of a job", "column of a result", "retry rule"),
        *("error", "query", "prompt"),
    ):
        assert re.search(rf"^## An? {heading}$", text, re.MULTILINE), heading


def sentences(page: Path) -> Iterator[str]:
    """The sentences of a Markdown page, without code, tables and headings."""
    text = "\n".join(line for _, line in prose(page))
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[*-]|\d+\.) )", text):
        yield from re.split(r"(?<=[.!?])(?:\*\*)?\s+(?=[A-Z`*\"(])", " ".join(paragraph.split()))


def test_the_pages_stay_few_words() -> None:
    pages = (page for page in tracked("docs/*.md") if not page.is_relative_to(ARCHIVE))
    written = {page: page.read_text() for page in pages if not WRITTEN_BY_SCRIPT.search(page.read_text())}
    counted = {page: len(re.findall(r"\S*\w\S*", text)) for page, text in written.items()}
    assert sum(counted.values()) <= MOST_WORDS, sorted(counted.items(), key=lambda item: -item[1])[:10]


def test_no_sentence_is_so_long_that_it_is_read_twice() -> None:
    long = [
        f"{page.relative_to(ROOT)}: {sentence[:80]}"
        for page in tracked("*.md")
        if page not in MEASURED and not page.is_relative_to(ARCHIVE)
        for sentence in sentences(page)
        if len(sentence.split()) > LONGEST
    ]
    assert long == []


def test_words_that_were_given_up_do_not_come_back() -> None:
    """Events, and the tables and columns of the store, keep their names: users and upgrades would pay for new ones."""
    word = re.compile(rf"\b(?:{'|'.join(RETIRED)})\b")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {hit.group()}, now {RETIRED[hit.group()]}"
        for path in tracked("agent/*.py", "services/*.py", "shoal/*.py")
        if "services/store/database" not in str(path) and path.name != "events.py"
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for hit in word.finditer(line)
    ]
    assert found == []


def test_sentences_name_who_acts() -> None:
    hidden = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked("*.md", *(f"{room}/*" for room in ROOMS))
        if path.suffix in (".md", ".py", ".js", ".sql", ".html") and path != THIS and DEMO_PAGES not in path.parents
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if _FREE.search(line)
    ]
    assert hidden == []


def docstrings(path: Path) -> Iterator[ast.Constant]:
    """Yield the docstrings of the modules, classes, functions, constants and attributes of a file."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Assign, ast.AnnAssign)
    for node in statements_of(path):
        for _, body in ast.iter_fields(node):
            statements = body if isinstance(body, list) else []
            for before, statement in zip([node, *statements], statements, strict=False):
                match statement:
                    case ast.Expr(value=ast.Constant(value=str()) as text) if isinstance(before, documented):
                        yield text


def test_docstrings_begin_with_a_noun_or_with_what_a_function_does() -> None:
    odd = [
        f"{path.relative_to(ROOT)}:{text.lineno}: {str(text.value).splitlines()[0]}"
        for path in tracked("*.py")
        for text in docstrings(path)
        if QUESTION.match(str(text.value).lstrip())
    ]
    assert not odd, "\n".join(odd)
