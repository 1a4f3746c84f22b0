"""Parts of a document that make a browser show something else than its markup: scripts, style sheets, their hooks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from shoal.agent.support.web_addresses import address_parts

_DIGITS = re.compile(r"\d+")
_LITERAL = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"(\s*:)?|'(?:[^'\\\n]|\\.)*'(\s*:)?|\b\d[\d.eExXa-fA-F]*\b")
_HOOK = re.compile(r"[\s\"'](on[a-z]+|[a-z]+[-:][\w.:-]+|[@:][a-z][\w.:-]*)\s*=", re.IGNORECASE)
_HANDLER = re.compile(r"[\s\"']on[a-z]+\s*=", re.IGNORECASE)
_CUSTOM = re.compile(r"<([a-z][a-z0-9]*-[a-z0-9-]*)", re.IGNORECASE)
_RUNS = re.compile(r"|module|(?:text|application)/(?:x-)?(?:java|ecma|j|live)script[\d.]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ScriptSignature:
    """Which scripts and styles work on a document, and what in it they may take hold of."""

    active: str  # a digest of scripts and style sheets; what differs from page to page in texts and figures is masked
    hooks: frozenset[str]  # attributes and elements that only scripts give a meaning to; empty without any script


def signature_of(tree: LexborHTMLParser, markup: str) -> ScriptSignature:
    """The signature of one document."""
    scripts = [_of_script(el) for el in tree.css("script")]
    styles = [f"style {el.text_lexbor()}" for el in tree.css("style")]
    links = [_of_link(el.attributes) for el in tree.css("link[rel]")]
    working = [script for script in scripts if script]
    hooks: set[str] = set()
    if working or _HANDLER.search(markup):
        hooks = {name.lower() for pattern in (_HOOK, _CUSTOM) for name in pattern.findall(markup)}
    parts = "\n".join([*working, *styles, *(link for link in links if link)])
    return ScriptSignature(hashlib.sha256(parts.encode("utf-8", "replace")).hexdigest(), frozenset(hooks))


def has_scripts(tree: LexborHTMLParser) -> bool:
    """Return whether the document has scripts that run."""
    return any(_of_script(el) for el in tree.css("script"))


def _of_script(el: LexborNode) -> str:
    """Return what a script is; "" for one that holds data and does not run."""
    given = el.attributes
    if not _RUNS.fullmatch((given.get("type") or "").strip()):
        return ""
    if source := given.get("src"):
        return f"script {_address(source)}"
    # The names of an object's parts stay: a part that is new is another script.
    code = _LITERAL.sub(lambda hit: hit.group() if hit.group(1) or hit.group(2) else "L", el.text_lexbor())
    return f"script {code}"


def _of_link(given: Mapping[str, str | None]) -> str:
    relations = (given.get("rel") or "").lower().split()
    if "stylesheet" not in relations:
        return ""
    return f"sheet {_address(given.get('href') or '')} {given.get('media') or ''} {'disabled' in given}"


def _address(text: str) -> str:
    """Return where a script or a sheet is from; its version does not count."""
    parts = address_parts(text)
    return f"{parts.netloc}{_DIGITS.sub('#', parts.path)}"
