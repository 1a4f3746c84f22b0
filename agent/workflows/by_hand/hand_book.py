"""Notes what a person does on a page, in a form that can be compiled: elements instead of places, and no typed values.

What a person types becomes a parameter. The text itself is held while the session runs, to keep it out of everything
else that is noted, and is written down nowhere. What they type into a password field, or into one that is named as a
secret, is not even read from the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from shoal.agent.browser import Context
from shoal.agent.errors import AgentError, ElementMissing
from shoal.agent.read.values.phrases import fold
from shoal.agent.redaction.masking import names_secret
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action, ActionResult
from shoal.agent.workflows.elements.describing import LOCATORS_JS, Described, described
from shoal.agent.workflows.learning.evidence import ActionEvidence, SessionEvidence, read_messages
from shoal.agent.workflows.learning.one_run import address_of_all_runs
from shoal.agent.workflows.learning.origin import Origin
from shoal.agent.workflows.script_answer import NoScriptAnswer, script_answer

_POINTED_JS = (Path(__file__).parent / "pointed.js").read_text(encoding="utf-8")
_CLICKS = {"mouse_click": "click", "mouse_dblclick": "dblclick"}
_KEYS = frozenset({"keyboard_type", "keyboard_press"})
_MOVES_ONLY = frozenset({"tab", "shift+tab", "pageup", "pagedown", "home", "end", "shift", "control", "alt", "meta"})
"""Keys that only move the focus or the window: an action on an element brings both."""
_LEAVES = frozenset({"enter", "numpadenter", "escape"})
"""Keys that do something beside what they write."""
_SHORTEST = 3
"""Characters of a typed text that is looked for inside of other texts."""
_VARIES = re.compile(r"[0-9]{3}")
"""Texts with such numbers are of one run only: an order's number, a date."""
_WORDS = re.compile(r"[^\W_]+")
_MOST_SAID = 5


@dataclass(frozen=True, slots=True)
class Pointed:
    """The target of a person's action, before it runs."""

    url: str
    pointed_at: Mapping[str, Json] | None = None  # the element, as `pointed.js` tells; None: the page as a whole
    element: Described | None = None
    lost: str = ""  # why nothing is known of its element
    sends: bool = False  # it may send something
    messages: frozenset[str] = frozenset()  # headings and messages of the page


@dataclass(slots=True)
class HandBook:
    """The actions that a person has done so far."""

    hide: Callable[[str], str] = lambda text: text  # a text without what the job holds to be secret
    actions: list[ActionEvidence] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    _typed: set[str] = field(default_factory=set)
    _names: dict[tuple[str, str], str] = field(default_factory=dict)  # fields by address and path: their parameters
    _stood: frozenset[str] = frozenset()  # headings and messages of the page before the last action
    _chooses: bool = False  # the last action typed into a field whose options may be chosen from now
    # What was clicked last, by its path, and its click, which is left out if it is written into, or chosen in.
    _opened: tuple[str, ActionEvidence] | None = None

    async def before(self, page: Context, action: Action) -> Pointed | None:
        """The element that an action is about; None for one that is left out."""
        if action.name not in _CLICKS and action.name not in _KEYS:
            return Pointed(page.url)
        if action.name == "keyboard_press" and str(action.args["key_comb"]).lower() in _MOVES_ONLY:
            return None
        try:
            asked = {name: action.args[name] for name in ("x", "y")} if action.name in _CLICKS else {}
            pointed_at = await page.read(_POINTED_JS, asked)
            messages = frozenset(await read_messages(page))
            if not isinstance(pointed_at, Mapping):
                return Pointed(page.url, messages=messages, lost="" if action.name in _KEYS else "there is no element")
            if pointed_at["kind"] == "lost":
                return Pointed(page.url, lost=str(pointed_at["why"]), messages=messages)
            element = described(script_answer(await page.read(LOCATORS_JS, {"describe": pointed_at["path"]})))
            return Pointed(
                page.url, pointed_at, element, sends=await _sends(page, action, pointed_at), messages=messages
            )
        except (AgentError, NoScriptAnswer) as error:
            return Pointed(page.url, lost=str(error))

    async def after(self, page: Context, result: ActionResult, pointed: Pointed | None) -> None:
        """Notes an action that worked."""
        if pointed is None or result.error is not None:
            return
        action = result.action
        if action.name == "keyboard_type":
            self._learn(str(action.args["text"]))
        if pointed.lost:
            self.lost.append(f"step {len(self.actions) + 1} ({action.name}): {pointed.lost}")
        elif action.name in _KEYS:
            await self._key(page, result, pointed)
        elif action.name in _CLICKS:
            await self._click(page, result, pointed)
        elif action.name == "goto":
            self._note("goto", {"url": self.hide(str(action.args["url"]))}, pointed, result)
        elif action.name == "go_back":
            self._note("go_back", {}, pointed, result)

    async def _click(self, page: Context, result: ActionResult, pointed: Pointed) -> None:
        assert pointed.pointed_at is not None
        kind, path = pointed.pointed_at["kind"], str(pointed.pointed_at["path"])
        name = _CLICKS[result.action.name]
        if kind == "check":
            now = await self._now(page, path)
            name = name if now is None else "check" if now["checked"] else "uncheck"
        if kind == "choice" or (self._chooses and pointed.element is not None and pointed.element.is_option):
            self._choose(result, pointed, pointed.pointed_at)
            return
        clicked = self._note(name, {}, pointed, result, messages=await self._news(page, result, pointed))
        self._opened = (path, clicked) if clicked is not None else None

    def _choose(self, result: ActionResult, pointed: Pointed, field_state: Mapping[str, Json]) -> None:
        """One action for the click that opened a list, what was typed there, and the click on an option."""
        path, label = str(field_state["path"]), pointed.element.target.name if pointed.element is not None else ""
        self._learn(str(field_state["value"]))
        self._leave_out_opening(path)
        noted = self._chooses or (pointed.url, path) in self._names
        self._chooses = False
        if not noted:
            param = self._parameter(label or str(field_state["name"]), path, pointed)
            self._note("select_option", {"options": ""}, pointed, result, origins={"options": param})

    async def _key(self, page: Context, result: ActionResult, pointed: Pointed) -> None:
        action, field_state = result.action, pointed.pointed_at
        key = str(action.args.get("key_comb", "")).lower()
        if field_state is None or field_state["kind"] not in ("field", "select", "secret"):
            if action.name == "keyboard_type":
                param = self._parameter("text", "", pointed)
                self._note("keyboard_type", {"text": ""}, pointed, result, origins={"text": param}, focused=False)
            else:
                args = {"key_comb": str(action.args["key_comb"])}
                messages = await self._news(page, result, pointed)
                self._note("keyboard_press", args, pointed, result, messages=messages, focused=False)
            return
        if key in _LEAVES and field_state["kind"] != "select" and not (field_state["long"] and key != "escape"):
            messages = await self._news(page, result, pointed)
            self._note(
                "press", {"key_comb": str(action.args["key_comb"])}, pointed, result, messages=messages, sends=True
            )
            return
        await self._write(page, result, pointed, field_state)

    async def _write(
        self, page: Context, result: ActionResult, pointed: Pointed, field_state: Mapping[str, Json]
    ) -> None:
        """A field was written into: one action for all that is typed there."""
        path, label = str(field_state["path"]), pointed.element.target.name if pointed.element is not None else ""
        secret = field_state["kind"] == "secret" or names_secret(f"{field_state['name']} {label}")
        now = None if secret else await self._now(page, path)
        if now is not None:
            self._learn(str(now["value"]))
        self._leave_out_opening(path)
        if (pointed.url, path) in self._names:
            return
        if field_state["kind"] == "select" and (field_state["many"] or now is None):
            self.lost.append(f"step {len(self.actions) + 1} (select_option): what was chosen is not known")
            return
        param = self._parameter(label or str(field_state["name"]), path, pointed, secret=secret)
        chooses = pointed.element is not None and pointed.element.chooses
        if field_state["kind"] == "select" or chooses:
            self._note("select_option", {"options": ""}, pointed, result, origins={"options": param})
            self._chooses = chooses
        else:
            self._note("fill", {"value": ""}, pointed, result, origins={"value": param})

    def _leave_out_opening(self, path: str) -> None:
        """Takes out the click that only led into the element at `path`."""
        if self._opened is not None and self._opened[0] == path:
            self.actions = [action for action in self.actions if action is not self._opened[1]]
        self._opened = None

    def _parameter(self, label: str, path: str, pointed: Pointed, *, secret: bool = False) -> Origin:
        """Return where the value of a field is from in a later run: a part of its data of the field's name."""
        base = "_".join(_WORDS.findall(fold(label))[:4]) or "value"
        base = base if base[0].isascii() and base[0].isalpha() else f"_{base}"
        name, number = base, 2
        while name in self._names.values():
            name, number = f"{base}_{number}", number + 1
        self._names[(pointed.url, path or name)] = name
        return Origin(kind="secret", path=name) if secret else Origin(kind="data", path=f"$.{name}")

    def _note(
        self,
        name: str,
        args: dict[str, Json],
        pointed: Pointed,
        result: ActionResult,
        *,
        origins: Mapping[str, Origin] | None = None,
        messages: Sequence[str] = (),
        sends: bool = False,
        focused: bool = True,
    ) -> ActionEvidence | None:
        """Notes an action, and gives what was noted; None where nothing finds its element."""
        element = pointed.element if focused else None
        if focused and pointed.pointed_at is not None and element is None:
            self.lost.append(f"step {len(self.actions) + 1} ({name}): nothing finds its element")
            return None
        noted = ActionEvidence(
            action=name,
            args=args,
            origins=dict(origins or {}),
            target=element.target if element else None,
            box=element.box if element else None,
            submits=sends or pointed.sends,
            url=pointed.url,
            led_to=address_of_all_runs(result.effect.url or ""),
            said=tuple(messages),
            step=len(self.actions),
        )
        self.actions.append(noted)
        self._stood = pointed.messages
        self._opened, self._chooses = None, False
        if result.effect.url or result.effect.new_tab:
            self._names = {("", name): name for name in self._names.values()}  # the fields of this page are gone
        return noted

    async def _now(self, page: Context, path: str) -> Mapping[str, Json] | None:
        """Return what the element holds now; None where it is gone."""
        try:
            now = await page.read(_POINTED_JS, {"path": path})
        except AgentError:
            return None
        return now if isinstance(now, Mapping) and now["kind"] != "lost" else None

    async def _news(self, page: Context, result: ActionResult, pointed: Pointed) -> list[str]:
        """Headings, messages and texts that are there now and were not before."""
        try:
            now = await read_messages(page)
        except AgentError:
            now = ()
        return [text for text in (*now, *result.effect.appeared) if text not in pointed.messages]

    def _learn(self, typed: str) -> None:
        for text in (typed.strip(), *typed.split()):
            if len(text) >= _SHORTEST:
                self._typed.add(text.lower())

    def _is_of_one_run(self, text: str) -> bool:
        """Return whether a text says what was typed, or has a number that another run will not have."""
        low = text.lower()
        return bool(_VARIES.search(text)) or self.hide(text) != text or any(typed in low for typed in self._typed)

    async def book(self, page: Context) -> SessionEvidence:
        """All of it, when the person is done, without anything that was typed."""
        try:
            messages = await read_messages(page)
        except AgentError:
            messages = ()
        return SessionEvidence(
            actions=tuple(self._without_values(action) for action in self.actions),
            said=tuple(text for text in messages if text not in self._stood and not self._is_of_one_run(text)),
            lost=tuple(self.lost),
        )

    def _without_values(self, action: ActionEvidence) -> ActionEvidence:
        messages = tuple(text for text in action.said if text.strip() and not self._is_of_one_run(text))[:_MOST_SAID]
        target = action.target
        if target is not None:
            typed = tuple(self._typed)
            target = target.model_copy(
                update={
                    "name": "" if _holds(target.name, typed) else target.name,
                    "locators": tuple(way for way in target.locators if not _holds(way.value, typed)),
                    "fingerprint": tuple(trait for trait in target.fingerprint if not _holds(trait, typed)),
                }
            )
        return action.model_copy(update={"said": messages, "target": target})


def _holds(text: str, typed: Sequence[str]) -> bool:
    low = text.lower()
    return any(part in low for part in typed)


async def _sends(page: Context, action: Action, pointed_at: Mapping[str, Json]) -> bool:
    """Return whether a click may send something, as far as the page can tell."""
    if action.name not in _CLICKS or pointed_at["kind"] in ("field", "select", "secret", "choice"):
        return False
    (bid,) = await page.locate([str(pointed_at["path"])])
    if bid is None:
        return True
    try:
        name = "check" if pointed_at["kind"] == "check" else _CLICKS[action.name]
        return not await page.harmless(replace(action, name=name, args={"bid": bid}))
    except ElementMissing:
        return True
