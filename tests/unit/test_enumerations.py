"""Each value that a declaration lists is used somewhere: in specs, of artifacts, of webhooks, of enumerations."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from scripts.architecture_docs import files
from scripts.syntax_trees import nodes_of
from shoal.agent import spec
from shoal.agent.artifact_kind import ArtifactKind

ROOT = Path(__file__).resolve().parents[2]

ELSEWHERE: Mapping[str, str] = {
    "BrowserSpec.block: image": "compared with the browser's own type of a resource",
    "BrowserSpec.block: font": "compared with the browser's own type of a resource",
    "BrowserSpec.block: media": "compared with the browser's own type of a resource",
    "BrowserSpec.block: stylesheet": "compared with the browser's own type of a resource",
    "BrowserSpec.block: script": "compared with the browser's own type of a resource",
    "BrowserSpec.dialogs: dismiss": "every dialog that is not accepted is dismissed",
    "BrowserSpec.isolation: fresh": "every context that is not reset is a fresh one",
    "ExtractSpec.accept: weak": "what is neither certain nor likely",
    "JobSpec.grounding: attributes": "a dialect of agent/actions/dialects by its name",
    "JobSpec.grounding: choice": "a dialect of agent/actions/dialects by its name",
    "NotifySpec.by: discord": "the channel of a notice (services/webhooks/notice_text.py)",
    "NotifySpec.by: slack": "every chat that is no other",
    "NotifySpec.by: teams": "the channel of a notice (services/webhooks/notice_text.py)",
    **{
        f"NotifySpec.events: {event}": "the name of a message in the outbox"
        for event in ("job.finished", "job.degraded", "records.changed", "sink.failed")
    },
    "SightSpec.pictures: always": "all that is not left to `auto`",
    "WebhookSpec.events: job.finished": "the name of JobEvent.FINISHED",
    "WebhookSpec.events: job.paused": "the name of JobEvent.PAUSED",
    "WebhookSpec.events: job.degraded": "the name of JobEvent.DEGRADED",
    "WebhookSpec.events: records.changed": "the name of JobEvent.RECORDS_CHANGED",
    "WebhookSpec.events: sink.failed": "the name of JobEvent.SINK_FAILED",
}
"""Values that no file which reads the field names, and why they need no name of their own."""
OPTIONS = "services/cli/"
"""Enumerations of the command line list what options take: their values are passed on as they are."""


@cache
def nodes() -> Mapping[str, Sequence[ast.AST]]:
    """The nodes of each product file by its path."""
    return {str(path.relative_to(ROOT)): nodes_of(path) for path in files().values()}


@cache
def words(path: str) -> frozenset[str]:
    """Texts that stand alone in a file's code, as in a comparison; not those of docstrings."""
    alone = {id(node.value) for node in nodes()[path] if isinstance(node, ast.Expr)}
    constants = (node for node in nodes()[path] if isinstance(node, ast.Constant) and id(node) not in alone)
    return frozenset(node.value for node in constants if isinstance(node.value, str))


@cache
def attributes(path: str) -> frozenset[str]:
    return frozenset(node.attr for node in nodes()[path] if isinstance(node, ast.Attribute))


def literals(annotation: Any) -> Iterator[str]:
    """The texts that a type lists, however deep."""
    if get_origin(annotation) is Literal:
        yield from (value for value in get_args(annotation) if isinstance(value, str))
    else:
        for inner in get_args(annotation):
            yield from literals(inner)


def listed_in_specs() -> Iterator[tuple[str, str, str]]:
    """Model, field and value of each value that a field of a job may take."""
    for part in vars(spec).values():
        if isinstance(part, type) and issubclass(part, BaseModel) and part.__module__.startswith(f"{spec.__name__}."):
            for name, field in part.model_fields.items():
                yield from ((part.__name__, name, value) for value in literals(field.annotation))


def test_every_value_that_a_field_of_a_job_may_take_is_handled() -> None:
    others = [path for path in nodes() if not path.startswith("agent/spec/")]
    unnamed = {
        f"{part}.{field}: {value}"
        for part, field, value in listed_in_specs()
        if not any(field in attributes(path) and value in words(path) for path in others)
    }
    assert unnamed - ELSEWHERE.keys() == set(), "handled by no file that reads the field"
    assert ELSEWHERE.keys() - unnamed == set(), "named now: take it out of ELSEWHERE"


def test_every_kind_of_an_artifact_is_kept_somewhere() -> None:
    """A file that stores artifacts names the kind, or a constant of this value."""
    named = {value for path in nodes() if path != "agent/artifact_kind.py" for value in words(path)}
    constants = {"pointing"}  # POINTING of the same file
    kinds = set(get_args(ArtifactKind))
    assert len(kinds) > 10
    assert kinds - named - constants == set(), "no session keeps one"


def enumerations() -> Iterator[tuple[str, str, list[str]]]:
    """Path, name and members of each enumeration."""
    for path, some in nodes().items():
        for node in some:
            if isinstance(node, ast.ClassDef) and any(ast.unparse(base).endswith("StrEnum") for base in node.bases):
                targets = [line.targets[0] for line in node.body if isinstance(line, ast.Assign)]
                yield path, node.name, [target.id for target in targets if isinstance(target, ast.Name)]


def test_every_member_of_an_enumeration_is_used() -> None:
    used = {
        (node.value.id if isinstance(node.value, ast.Name) else node.value.attr, node.attr)
        for some in nodes().values()
        for node in some
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute)
    }
    listed = [
        (name, member) for path, name, members in enumerations() if not path.startswith(OPTIONS) for member in members
    ]
    assert len(listed) > 100
    assert [f"{name}.{member}" for name, member in listed if (name, member) not in used] == []
