"""The project's prompts: one Jinja2 template per decision, and the loader that renders them.

A template is a row of blocks, from what never changes to what always does, since the model server's prefix cache holds
what prompts have in common from their beginning. The five decisions of a browser session share `head` (the same bytes
for every session: what plan and step are; the others stand where they are asked for), `job` (fixed for a job), `frame`
(what the pages of a loop repeat), `page` and `pictures`; only then comes what one decision does not share with the next
on the same page: `task` (what the session is for and has done) and `now`. Judging a run and proposing a schema have a
head of their own. Names that begin with `_` are parts that templates include.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

_FOLDER = Path(__file__).parent
_VERSION = re.compile(r"\{#-? version (\d+)")

# The fence is made of two characters that no rendered page text can hold, because `untrusted` replaces them there. A
# random marker would do as well, but would make every prompt's prefix different.
_FENCE = str.maketrans({"⟦": "[", "⟧": "]"})

# Chat templates are tokenised with their special tokens switched on: "<|im_end|>" in a page would end the user's turn.
_TURN_TOKEN = re.compile(
    r"<(?=[|｜])|(?<=[|｜])>"
    r"|<(?=/?(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn|think|tool_call|tool_response|image|video|audio)>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|IMG)\])",
    re.IGNORECASE,
)

# Characters that people do not see but models read: zero-width and direction marks, the tag block, and controls.
_UNSEEN = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\ud800-\udfff\ufff9-\ufffb\U000e0000-\U000e007f]"
)

_SPACED = re.compile(r"\n{3,}")
"""Parts that say nothing leave empty lines behind; they cost tokens."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Which prompt was used: kept beside replies, so that results of different wordings are not mixed."""

    name: str
    version: int  # raised by hand when the wording changes
    digest: str  # of the template and the parts it includes: changes also when somebody forgot to raise the version


def untrusted(text: object) -> str:
    """`text` as it may stand inside a fence: it cannot close the fence, end a chat turn, or hide characters."""
    seen = _UNSEEN.sub("", str(text)).translate(_FENCE)
    return _TURN_TOKEN.sub(lambda match: " >" if match.group() == ">" else match.group() + " ", seen)


def inline(text: object) -> str:
    """`untrusted` text on one line, so that a title cannot look like a line of the prompt."""
    return " ".join(untrusted(text).split())


def as_json(value: object) -> str:
    """`value` as JSON that parses back to the same value and holds no fence and no chat turn token."""
    text = json.dumps(value, ensure_ascii=False, separators=(", ", ": "), default=str)
    escaped = _TURN_TOKEN.sub(lambda match: f"\\u{ord(match.group()[0]):04x}", text)
    escaped = escaped.replace("⟦", "\\u27e6").replace("⟧", "\\u27e7")
    return _UNSEEN.sub(lambda match: _escape(match.group()), escaped)


def _escape(character: str) -> str:
    return json.dumps(character)[1:-1] if not character.isspace() else character


@cache
def _environment() -> Environment:
    # Prompts are plain text, not HTML: escaping would show "&amp;" to the model. `untrusted` guards what pages say.
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    environment.filters.update(untrusted=untrusted, inline=inline, json=as_json)
    return environment


def _template(name: str) -> Template:
    return _environment().get_template(f"{name}.j2")


def render(name: str, **variables: Any) -> str:
    """The whole prompt `name` as text.

    Raises:
        jinja2.UndefinedError: a variable that the template uses was not given.
        jinja2.TemplateNotFound: no such prompt.
    """
    return _SPACED.sub("\n\n", _template(name).render(variables)).strip()


def render_parts(name: str, **variables: Any) -> Mapping[str, str]:
    """The prompt `name` by block, in the template's order; a block that says nothing is left out."""
    template = _template(name)
    texts = {
        block: _SPACED.sub("\n\n", "".join(part(template.new_context(dict(variables))))).strip()
        for block, part in template.blocks.items()
    }
    return {block: text for block, text in texts.items() if text}


@cache
def prompt(name: str) -> Prompt:
    """Name, version and digest of a prompt."""
    source = (_FOLDER / f"{name}.j2").read_text(encoding="utf-8")
    version = _VERSION.match(source)
    if version is None:
        raise ValueError(f"{name}.j2 does not begin with its version")
    parts = "".join(path.read_text(encoding="utf-8") for path in sorted(_FOLDER.glob("_*.j2")))
    return Prompt(name, int(version.group(1)), hashlib.sha256((source + parts).encode()).hexdigest()[:12])


def names() -> tuple[str, ...]:
    """All prompts, without the parts."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.j2") if not path.stem.startswith("_")))
