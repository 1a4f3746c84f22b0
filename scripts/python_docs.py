"""Writes docs/python.md from the package `shoal`; with --check, the exit code says whether it is current (1: no)."""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pydantic import BaseModel

import shoal
from scripts.generated import deliver
from shoal.errors import ApiError, ShoalError

HEAD = """# Shoal from Python

The installed package is `shoal` ([quickstart](quickstart.md#install)). It has three ways in:

| way in | when |
| --- | --- |
| [`Client`](#client), [`AsyncClient`](#asyncclient) | a gateway runs: `shoal up` on this machine, or a cluster |
| [`run`](#run), `run_async` | one job on this machine; a cluster is started for it and ended after it |
| [`open_page`](#open_page), `open_page_sync` | the agent as a library: one page in one browser, no cluster at all |

Complete scripts are in `examples/`. Every name on this page is imported from `shoal`; `import shoal` itself loads
nothing else.

A client finds its gateway in this order: the argument `url`, `SHOAL_URL`, `SHOAL_GATEWAY`, the cluster that runs on
this machine. The API key is the argument `api_key` or `SHOAL_API_KEY`.

This page is written by `scripts/python-docs` from the docstrings.
"""

RECORDS = (
    *("SubmittedJob", "BatchLine", "LineError", "JobSummary", "Job", "Counts", "Usage", "Failure", "Result", "Item"),
    *("RecordChange", "Source", "Event", "Session", "SessionDetail", "Artifact", "Question", "RunResult"),
)
SECTIONS = re.compile(r"^(Args|Returns|Raises|Attributes):$", re.M)


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *clients(), *one_job(), *pages(), *records(), *errors()]).rstrip() + "\n"


def clients() -> Iterator[str]:
    yield "## Client\n"
    yield text_of(shoal.Client)
    yield "## AsyncClient\n"
    yield text_of(shoal.AsyncClient)
    yield from methods(shoal.AsyncClient)


def one_job() -> Iterator[str]:
    for name in ("run", "run_async"):
        yield f"## {name}\n"
        yield described(name, getattr(shoal, name))
    yield "## fields_schema\n"
    yield described("fields_schema", shoal.fields_schema)


def pages() -> Iterator[str]:
    for name in ("open_page", "open_page_sync"):
        yield f"## {name}\n"
        yield described(name, inspect.unwrap(getattr(shoal, name)))
    yield "## Page\n"
    yield text_of(shoal.Page)
    yield from methods(shoal.Page)


def methods(cls: type[Any]) -> Iterator[str]:
    """The public methods and properties of a class, in the order of its source."""
    for name, member in vars(cls).items():
        if name.startswith("_") or name == "over":
            continue
        yield f"### {cls.__name__}.{name}\n"
        if isinstance(member, property):
            yield f"{text_of(member)}"
        else:
            yield described(name, member)


def described(name: str, function: Any) -> str:
    signature = str(inspect.signature(function)).replace("(self, ", "(").replace("(self)", "()")
    signature = re.sub(r"<object object at 0x[0-9a-f]+>", "…", signature)
    keyword = "await " if inspect.iscoroutinefunction(function) else ""
    keyword = "async for … in " if inspect.isasyncgenfunction(function) and name != "open_page" else keyword
    keyword = "async with " if name == "open_page" else keyword
    return f"```python\n{keyword}{name}{signature.replace(chr(39), '')}\n```\n\n{text_of(function)}"


def text_of(thing: Any) -> str:
    """A docstring as Markdown: code that is indented becomes a block, sections become lists."""
    text = inspect.getdoc(thing) or ""
    head, *sections = SECTIONS.split(text)
    parts = [paragraphs(head)]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        own, rest = cut(body)
        parts.append(f"**{title}**\n\n{listed(own, title)}")
        if rest.strip():
            parts.append(paragraphs(rest))
    return "\n\n".join(part for part in parts if part) + "\n"


def cut(body: str) -> tuple[str, str]:
    """The indented lines of a section, and what follows them."""
    lines = body.strip("\n").splitlines()
    end = next((i for i, line in enumerate(lines) if line and not line.startswith(" ")), len(lines))
    return "\n".join(lines[:end]), "\n".join(lines[end:])


def paragraphs(text: str) -> str:
    parts = []
    for part in text.strip("\n").split("\n\n"):
        parts.append(f"```python\n{textwrap.dedent(part)}\n```" if part.startswith("    ") else part)
    return "\n\n".join(parts)


def listed(body: str, title: str) -> str:
    """The entries of a section: lines that begin at its indentation, with those that go on below them."""
    entries: list[str] = []
    for line in inspect.cleandoc(body).splitlines():
        if line.startswith(" ") and entries:
            entries[-1] += " " + line.strip()
        else:
            entries.append(line)
    if title == "Returns":
        return " ".join(entries)
    matches = (re.match(r"([\w, ]+?): (.*)", entry) for entry in entries)
    pairs = [(match[1], match[2]) if match else (None, entry) for match, entry in zip(matches, entries, strict=True)]
    return "\n".join(f"* `{name}`: {what}" if name else f"* {what}" for name, what in pairs)


def records() -> Iterator[str]:
    yield "## Records\n"
    yield "What the clients give. All are frozen. Fields that a newer gateway adds are ignored.\n"
    for name in RECORDS:
        cls = getattr(shoal, name)
        yield f"### {name}\n"
        yield text_of(cls)
        yield "| field | type | |\n| --- | --- | --- |"
        yield from (f"| `{field}` | `{kind}` | {what} |" for field, kind, what in fields_of(cls))
        yield ""


def fields_of(cls: type[Any]) -> Iterable[tuple[str, str, str]]:
    if issubclass(cls, BaseModel):
        own = [(name, field.annotation, field.description or "") for name, field in cls.model_fields.items()]
    else:
        assert is_dataclass(cls)
        own = [(name, kind, "") for name, kind in inspect.get_annotations(cls).items()]
    for name, kind, what in own:
        yield name, kind_of(kind), what.replace("|", "\\|")
    for base in cls.__mro__:
        for name, member in vars(base).items():
            if isinstance(member, property) and base.__module__ == cls.__module__:
                yield name, kind_of(member.fget.__annotations__["return"]), inspect.getdoc(member) or ""


def kind_of(kind: Any) -> str:
    text = kind if isinstance(kind, str) else inspect.formatannotation(kind)
    text = re.sub(r"\b(?:shoal\.records|agent\.\w+|collections\.abc|datetime|typing)\.(?=\w)", "", text)
    return text.replace("|", "\\|")


def errors() -> Iterator[str]:
    yield "## Errors\n"
    yield "The agent's own errors, which `open_page` raises, derive from `AgentError`; its `code` is listed with the"
    yield "errors of sessions.\n"
    yield "| class | when | what to do |\n| --- | --- | --- |"
    for cls in classes(ShoalError):
        when = " ".join((inspect.getdoc(cls) or "").partition("\n\n")[0].split())
        advice = cls.advice if issubclass(cls, ApiError) and "advice" in vars(cls) else ""
        yield f"| `{cls.__name__}` | {when} | {advice} |"


def classes(cls: type[Any]) -> Iterator[type[Any]]:
    yield cls
    for child in cls.__subclasses__():
        yield from classes(child)


if __name__ == "__main__":
    sys.exit(deliver("docs/python.md", page()))
