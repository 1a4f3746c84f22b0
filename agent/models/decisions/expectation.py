"""Expectations: the state of a page once the actions of a step have done what they were for, and the test for it.

A step says it together with its actions. The next look at the page decides it, and where it holds no model is asked
whether the mini goal is reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from shoal.agent.observe.rebuild import rebuilt
from shoal.agent.read.grounding.page_text import PageText
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action, ActionResult, Effect, Element, Observation

_LEAST_CHARS = 3
"""Shorter words stand on nearly every page."""
_SENDING = frozenset({"click", "dblclick", "press", "keyboard_press", "keyboard_type"})
_ANSWERS = ("alert", "dialog", "status")
"""Roles by which a page says what became of an action, as names of what appeared begin with them."""
_STATES = {"checked": True, "unchecked": False}


@dataclass(frozen=True, slots=True)
class Expectation:
    """The state that holds when a mini goal is reached; at least one part of it does not hold before the actions."""

    address: str = ""  # a part of the page's address
    text: str = ""  # words of the page, outside of its fields
    element: str = ""  # name of an element that takes actions
    field: str = ""  # bid of a field
    value: str = ""  # what that field holds then
    acted: bool = False  # nothing is wanted but the actions themselves
    beyond_view: bool = False  # the view before the actions was cut: what is expected may have stood beyond it

    def __str__(self) -> str:
        clauses = [
            f"the address has {self.address!r}" if self.address else "",
            f"the page says {self.text!r}" if self.text else "",
            f"there is {self.element!r}" if self.element else "",
            f"[{self.field}] holds {self.value!r}" if self.field else "",
            "the actions took place" if self.acted else "",
        ]
        return ", ".join(part for part in clauses if part)


def expectation_schema(ids: bool) -> dict[str, Json]:
    """The JSON Schema of `then_done`; with `ids`, `#/$defs/id` has the ids of the page."""
    text: Json = {"type": "string"}
    parts: dict[str, Json] = {"acted": {"type": "boolean"}, "address": text, "text": text, "element": text}
    if ids:
        held = {"id": {"$ref": "#/$defs/id"}, "holds": text}
        parts["value"] = {
            "type": "object",
            "additionalProperties": False,
            "required": list(held),
            "properties": held,
        }
    return {"anyOf": [{"type": "null"}, {"type": "object", "additionalProperties": False, "properties": parts}]}


def expected(
    expectation_json: Json, seen: Observation, bids: Mapping[str, str], actions: Sequence[Action]
) -> Expectation | None:
    """Return what a reply expects, where the page does not show all of it already;
    else nothing could be told from it.

    Actions alone are not enough where one may send a form: the site's answer has to be looked at.

    Args:
        expectation_json: `then_done` of a reply.
        seen: the page before the actions.
        bids: by the ids that the model was given.
        actions: that the reply takes.
    """
    if not expectation_json:
        return None
    held = expectation_json.get("value") or {}
    expectation = Expectation(
        address=expectation_json.get("address", "").strip(),
        text=_telling(expectation_json.get("text", "")),
        element=_telling(expectation_json.get("element", "")),
        field=bids.get(held.get("id", ""), ""),
        value=held.get("holds", ""),
        acted=expectation_json.get("acted", False),
    )
    looked = _Looked(seen)
    parts = list(_parts(expectation, looked))
    if not parts:
        return (
            expectation if expectation.acted and not any(_sends(action, seen.elements) for action in actions) else None
        )
    if not any(not holds for _, holds in parts):
        return None
    # What a long page shows beyond its clip is not known: words that come into sight there may have stood there.
    certain = any(not holds for certain, holds in parts if certain or not seen.cut)
    return replace(expectation, acted=False, beyond_view=not certain)


def holds(expectation: Expectation, now: Observation) -> bool:
    """Return whether the page shows all of it, and marks no field as invalid."""
    looked = _Looked(now)
    return not looked.marks_invalid and all(holds for _, holds in _parts(expectation, looked))


def changed_page(results: Sequence[ActionResult]) -> bool:
    """Return whether actions changed what is on a page, and did not only scroll it."""
    return any(
        bool(effect.url or effect.new_tab or effect.appeared_count or effect.went_count or effect.fields_count)
        for effect in (result.effect for result in results)
    )


def took_place(results: Sequence[ActionResult]) -> bool:
    """Return whether actions that are all that was wanted did something,
    and the page says nothing that has to be read.

    None failed, and the last one changed the page. A dialog, an alert or status that appeared, or a field that is
    marked as invalid since then may say that it did not work: the model reads that.
    """
    if not results or any(result.error is not None or _answered(result.effect) for result in results):
        return False
    effect = results[-1].effect
    changed = effect.url is not None or effect.new_tab or effect.download or effect.dom_changed
    return changed or effect.fields_count > 0 or effect.value is not None or effect.focus is not None


def _answered(effect: Effect) -> bool:
    return effect.dialog or bool(effect.invalid) or any(name.startswith(_ANSWERS) for name in effect.appeared)


def _parts(expectation: Expectation, looked: _Looked) -> Iterator[tuple[bool, bool]]:
    """Of each part: whether a clipped page can tell it all the same, and whether it holds."""
    if expectation.address:
        yield True, leads_to(looked.seen.url, expectation.address)
    if expectation.text:
        yield False, looked.has_text(expectation.text)
    if expectation.element:
        yield False, looked.has(expectation.element)
    if expectation.field:
        yield True, looked.field_holds(expectation.field, expectation.value)


def leads_to(url: str, part: str) -> bool:
    """Return whether the page's address has `part`:
    not as a value of a parameter, which may be where a login leads on to.
    """
    url, part = url.casefold(), part.casefold()
    before, mark, behind = url.partition("#")
    path_ends = before.find("?") if "?" in before else len(before)
    at = url.find(part)
    while at >= 0:
        begins = (
            at < path_ends or part[0] in "?&#" or url[at - 1] in "?&" or (mark and behind.lstrip("!").startswith(part))
        )
        if begins:
            return True
        at = url.find(part, at + 1)
    return False


class _Looked:
    """A page, and what can be looked up on it."""

    def __init__(self, seen: Observation) -> None:
        self.seen = seen
        self._elements = list(_walk(seen.elements))

    @property
    def marks_invalid(self) -> bool:
        return any(element.visible and "invalid" in element.states for element in self._elements)

    def has_text(self, words: str) -> bool:
        # What was typed is no answer of the page, and an address may hold what was searched for.
        shown = replace(self.seen, url="", elements=rebuilt(self.seen.elements, _without_value))
        return PageText([shown]).find(words) is not None

    def has(self, name: str) -> bool:
        folded = _folded(name)
        return any(
            element.bid and element.visible and folded in _folded(element.name or element.text)
            for element in self._elements
        )

    def field_holds(self, bid: str, value: str) -> bool:
        field = next((element for element in self._elements if element.bid == bid), None)
        if field is None:
            return False
        if value in _STATES:
            return ("checked" in field.states) is _STATES[value]
        chosen = [label for label, _, selected in field.options if selected]
        return _folded(value) in map(_folded, (field.attributes.get("value", ""), *chosen))


def _without_value(element: Element, children: tuple[Element, ...]) -> Element:
    kept = {name: value for name, value in element.attributes.items() if name != "value"}
    typed = element.tag in ("input", "textarea", "select")
    return replace(element, attributes=kept, text="" if typed else element.text, options=(), children=children)


def _sends(action: Action, root: Element) -> bool:
    """Return whether an action may send a form."""
    bid = str(action.args.get("bid", ""))
    forms = (element for element in _walk(root) if element.tag == "form")
    return action.name in _SENDING and any(inside.bid == bid for form in forms for inside in _walk(form))


def _telling(words: str) -> str:
    words = " ".join(words.split())
    return words if len(words) >= _LEAST_CHARS else ""


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _walk(element: Element) -> Iterator[Element]:
    waiting = [element]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(current.children))
