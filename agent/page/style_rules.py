"""The rules of a style sheet that bear on what is shown.

tinycss2 reads 2.5 MB of style sheets a second, and pages hold up to 0.6 MB; of ten rules nine bear on nothing, or on no
element of the page. So a sheet is cut at its braces, which takes a tenth of that time; cssselect2 weighs the selectors
that are left, and lexbor finds their elements.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import cssselect2.parser

from shoal.agent.page.declarations import BEARS
from shoal.agent.page.media import media_applies
from shoal.agent.page.plain_selectors import plain_steps
from shoal.agent.support.bounded_cache import bounded_cache

_STRING = r'"(?:[^"\\\n]|\\.)*"' + r"|'(?:[^'\\\n]|\\.)*'"
_COMMENT = re.compile(f"({_STRING})" + r"|/\*.*?(?:\*/|\Z)", re.DOTALL)
_BRACE_IN_STRING = re.compile(r"""["'][^"'\n]*[{}]""")
_LEAF = re.compile(r"(?<![^{}])([^{}]*)\{([^{}]*)\}")
_COMMA = re.compile(r"(?<!\\),(?![^(\[]{0,100}[)\]])")
_DENIED_MOMENT = re.compile(r":not\(\s*:(?:hover|focus|focus-within|focus-visible|active|target|visited)\s*\)")
_MOMENT = re.compile(r":(?:hover|focus|active|visited|target|popover-open|modal|fullscreen|before|after|first-l)|::")
_GROUPS = re.compile(r"\([^()]*\)|\[[^\]]*\]")
_NAMES = re.compile(r"[.#](?:[\w-]|[^\x00-\x7f]|\\[^0-9a-fA-F\n])+")


class StyleRule(NamedTuple):
    """A selector, and the block of declarations behind it."""

    selector: str
    declared: str  # its declarations
    layered: bool  # in a cascade layer: rules outside of all layers win


def style_rules(sheet: str, known: Container[str]) -> Iterator[StyleRule]:
    """Each selector of each rule that applies on a screen, and declares something about what is shown.

    Left out are selectors of a moment (`:hover`) or of what is no element (`::before`), and those of names that the
    document lacks: `known` holds its ids (`#id`) and classes (`.class`). `:not(:hover)` holds always.
    """
    text = _plain(sheet)
    around = _Around()
    end = 0
    for leaf in _LEAF.finditer(text):
        if end < leaf.start():
            yield from around.pass_over(text[end : leaf.start()], known)
        end = leaf.end()
        before, _, prelude = leaf[1].rpartition(";")
        around.declare(before)
        if _may_fit(prelude, known) and BEARS.search(leaf[2]):
            around.open(prelude.strip())
            around.declare(leaf[2])
            yield from around.close(known)
    yield from around.pass_over(text[end:], known)


def _plain(sheet: str) -> str:
    """The sheet without comments, and without strings that hold braces."""
    text = _COMMENT.sub(lambda match: match[1] or " ", sheet) if "/*" in sheet else sheet
    if _BRACE_IN_STRING.search(text):
        text = re.sub(_STRING, lambda match: '""' if "{" in match[0] or "}" in match[0] else match[0], text)
    return text


@dataclass(slots=True)
class _Block:
    """A pair of braces, with the text before them and the declarations right in them."""

    selectors: list[str]  # the whole ones, of rules around it, too
    applies: bool
    layered: bool
    declared: str = ""


class _Around:
    """The blocks that are open at one place of a sheet."""

    def __init__(self) -> None:
        self._blocks = [_Block([], True, False)]

    def pass_over(self, text: str, known: Container[str]) -> Iterator[StyleRule]:
        """Opens and closes what the braces between two rules say."""
        start = 0
        for brace in re.finditer("[{}]", text):
            inner = text[start : brace.start()]
            start = brace.end()
            if brace[0] == "}":
                self.declare(inner)
                yield from self.close(known)
            else:
                before, _, prelude = inner.rpartition(";")
                self.declare(before)
                self.open(prelude.strip())

    def declare(self, text: str) -> None:
        """Takes declarations that stand right in the innermost block."""
        if len(self._blocks) > 1 and text.strip():
            self._blocks[-1].declared += text + ";"

    def open(self, prelude: str) -> None:
        """Begins a block within the innermost one."""
        around = self._blocks[-1]
        if not prelude.startswith("@"):
            self._blocks.append(_Block(_nested(prelude, around.selectors), around.applies, around.layered))
            return
        name, _, condition = prelude.replace("(", " (", 1).partition(" ")
        applies = around.applies and _at_rule_applies(name.lower(), condition)
        layered = around.layered or name.lower() == "@layer"
        self._blocks.append(_Block(around.selectors, applies, layered))

    def close(self, known: Container[str]) -> Iterator[StyleRule]:
        """Ends the innermost block, with the rules that it makes."""
        if len(self._blocks) == 1:
            return
        block = self._blocks.pop()
        if not block.applies or not BEARS.search(block.declared):
            return
        for selector in block.selectors:
            plain = _DENIED_MOMENT.sub("", selector) if ":not" in selector else selector
            if _may_fit(plain, known) and not (":" in plain and _MOMENT.search(plain)):
                yield StyleRule(plain or "*", block.declared, block.layered)


def _nested(prelude: str, around: list[str]) -> list[str]:
    """The selectors of a rule, with those of the rule around it put into them."""
    own = [selector for part in _COMMA.split(prelude) if (selector := part.strip())]
    if not around:
        return own
    parent = f":is({', '.join(around)})"
    return [each.replace("&", parent) if "&" in each else f"{parent} {each}" for each in own]


def _at_rule_applies(name: str, condition: str) -> bool:
    match name:
        case "@media":
            return media_applies(condition)
        case "@supports":
            return not condition.lower().startswith("not")
        case "@layer":
            return True
        case _:
            return False


def _may_fit(selectors: str, known: Container[str]) -> bool:
    """True where a document with these names may have an element that one of the selectors fits."""
    if "(" in selectors or "[" in selectors:
        selectors = _GROUPS.sub("", selectors)
        if "(" in selectors or "[" in selectors:
            return True
    for selector in selectors.split(","):
        for name in _NAMES.findall(selector):
            if (name.replace("\\", "") if "\\" in name else name) not in known:
                break
        else:
            return True
    return False


@bounded_cache(4096, longest=400)
def specificity(selector: str) -> tuple[int, int, int] | None:
    """The weight of one selector; None where it is none that is known here."""
    if (steps := plain_steps(selector)) is not None:
        signs = Counter(name[0] if name[0] in "#." else "tag" for step in steps for name in step.names)
        return signs["#"], signs["."], signs["tag"]
    try:
        parsed = list(cssselect2.parser.parse(selector))
    except cssselect2.parser.SelectorError:
        return None
    if len(parsed) != 1 or parsed[0].pseudo_element is not None:
        return None
    ids, classes, tags = parsed[0].specificity
    return ids, classes, tags
