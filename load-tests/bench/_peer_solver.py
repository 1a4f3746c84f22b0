"""The solvers of `agent_calls.py` behind browser-use: they read its prompts, and answer in its protocol."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from _solver import Counted, Prompt, Task

from shoal.agent.support.json_value import Json

_LINE = re.compile(r"^(\t*)(?:\|SHADOW\(\w+\)\|)?\*?(?:\|scroll element)?\[(\d+)\]<(\w+)([^\n]*?)/>")
_ATTRIBUTE = re.compile(r"([\w-]+)=((?:(?! [\w-]+=)[^\n])*)")
_TASK = re.compile(r"\(task ([a-z0-9 -]+)\)")
_FRAMES = ("div", "label")
"""Elements that it lists because a listener hears of clicks inside of them; without a role their text is enough."""
_ROLES = {"a": "link", "button": "button", "textarea": "textbox", "select": "combobox"}
_INPUTS = {"checkbox": "checkbox", "radio": "radio", "search": "searchbox", "submit": "button", "button": "button"}

_WAITED = "waited for the page"
_ACTED = "navigate, completed"
"""A memory, in the words by which our prompts say that all actions of a mini goal were done."""


def read_page(state: str) -> str:
    """Its list of elements in our notation: `[12 role "name" ="value"]`, text between them as it stands."""
    lines = state.split("\n")
    shown: list[str] = []
    label = ""  # the text before an element: what names a field that has no name of its own
    for at, line in enumerate(lines):
        element = _LINE.match(line)
        if element is None:
            label = line.strip()
            shown.append(label)
            continue
        _, index, tag, rest = element.groups()
        attributes = dict(_ATTRIBUTE.findall(rest))
        if tag in _FRAMES and "role" not in attributes:
            continue
        role = attributes.get("role") or _role(tag, attributes)
        inner = _text_inside(lines, at)
        if role in ("checkbox", "radio") and not inner and at + 1 < len(lines) and not _LINE.match(lines[at + 1]):
            inner = lines[at + 1].strip()
        own = attributes.get("aria-label") or attributes.get("placeholder") or attributes.get("title")
        name = inner or own or (attributes.get("value") if role == "button" else None) or label
        value = f' ="{attributes["value"]}"' if role in ("textbox", "searchbox") and "value" in attributes else ""
        shown.append(f"""[{index} {role} "{name.strip().replace('"', "'")}"{value}]""")
    return "\n".join(shown)


def _role(tag: str, attributes: Mapping[str, str]) -> str:
    return _INPUTS.get(attributes.get("type", ""), "textbox") if tag == "input" else _ROLES.get(tag, tag)


def _text_inside(lines: Sequence[str], at: int) -> str:
    """The text of the element whose line is the one at `at`."""
    words = []
    for line in lines[at + 1 :]:
        if _depth(line) <= _depth(lines[at]) or _LINE.match(line):
            break
        words.append(line.strip())
    return " ".join(words)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip("\t"))


class PeerPrompt(Prompt):
    """One of browser-use's requests, as the solvers read it."""

    def __init__(self, body: Mapping[str, Json]) -> None:
        super().__init__(body)
        self._state = self.messages[-1]  # task, history and page
        self.task = (_TASK.findall(self._state) or [""])[0]

    @cached_property
    def _listed(self) -> str:
        listed = re.search(r"^Interactive elements[^\n]*:\n(.*?)\n</browser_state>", self._state, re.M | re.DOTALL)
        return listed[1].removeprefix("[Start of page]\n").removesuffix("\n[End of page]") if listed else ""

    @cached_property
    def page(self) -> str:
        tab = re.search(r"^Tab \w+: (\S+) - ", self._state, re.MULTILINE)
        return f"\n{read_page(self._listed)}\nurl: {tab[1] if tab else ''}"

    @cached_property
    def query(self) -> str:
        """The text below the element that holds the task of a MiniWoB++ page."""
        lines = self._listed.split("\n")
        at = next((at for at, line in enumerate(lines) if "id=query" in line), None)
        if at is None:
            raise LookupError(f"{self.task}: its page tells no task: {self._listed[:1500]}")
        inside: list[str] = []
        for line in lines[at + 1 :]:
            if _depth(line) <= _depth(lines[at]):
                break
            inside += [] if _LINE.match(line) else [line.strip()]
        return " ".join(inside)

    @cached_property
    def done(self) -> str:
        """Its history, a click as ours tells it."""
        history = re.search(r"<agent_history>(.*?)</agent_history>", self._state, re.DOTALL)
        return history[1].replace("Clicked ", "click() ") if history else ""

    @property
    def goes_on_below(self) -> bool:
        """Return whether the page has more than is listed."""
        below = re.search(r"([\d.]+) pages below", self._state)
        return below is not None and float(below[1]) > 0


class _NoSuchActionError(Exception):
    """Its actions cannot do what the next move is."""


class PeerSolver:
    """Answers browser-use's requests, and counts them by task."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = {task.name: task for task in tasks}
        self.counted: dict[str, Counted] = {}

    def __call__(self, body: Mapping[str, Json]) -> str:
        prompt = PeerPrompt(body)
        task = self._tasks[prompt.task]
        counted = self.counted.setdefault(task.name, Counted())
        try:
            actions, memory = _reply_to(prompt, task)
        except (LookupError, AssertionError, _NoSuchActionError) as lack:
            counted.lost.append(str(lack))
            actions, memory = [_done(str(lack), success=False)], ""
        reply = {
            "thinking": "there is work left",
            "evaluation_previous_goal": "as it was meant",
            "memory": memory,
            "next_goal": "as listed",
            "action": actions,
        }
        text = json.dumps(reply)
        counted.calls += 1
        counted.prompt += len(prompt.whole)
        counted.reply += len(text)
        counted.only_done += "done" in actions[0] and task.answer is None and task.record is None
        counted.prompts.append(prompt.whole)
        counted.replies.append(text)
        return text


def _reply_to(prompt: PeerPrompt, task: Task) -> tuple[list[Json], str]:
    """Return actions, and what is to be remembered.

    Raises:
        LookupError, AssertionError: the prompt lacks what the task needs.
        _NoSuchActionError: browser-use has no action for the next move.
    """
    try:
        if task.is_over(prompt):
            return [_done(_final_text(prompt, task))], ""
        move = task.move(prompt)
        actions = [_action(act) for act in move.acts(prompt)]
    except (LookupError, AssertionError):
        if prompt.goes_on_below:
            return [{"scroll": {"down": True, "pages": 1.0}}], ""
        if prompt.done.count(_WAITED) < 2:
            return [{"wait": {"seconds": 2}}], _WAITED
        raise
    return actions, _ACTED if move.last and move.then == {"acted": True} else ""


def _done(text: str, *, success: bool = True) -> Json:
    return {"done": {"text": text, "success": success, "files_to_display": []}}


def _final_text(prompt: PeerPrompt, task: Task) -> str:
    """Return the last text for the user: the answer, the records, or that it is done."""
    if task.answer is not None:
        return str(task.answer(prompt)["text"])
    return "it is done" if task.record is None else json.dumps(task.record(prompt))


def _action(act: Mapping[str, Json]) -> Json:
    if act["action_type"] == "CALL":
        name, args = act["call"]["name"], act["call"]["args"]
        if name == "keyboard_press":
            return {"send_keys": {"keys": args["key_comb"]}}
        if name == "keyboard_type":
            return {"send_keys": {"keys": args["text"]}}
        raise _NoSuchActionError(f"browser-use has no action for {name}")
    index = int(act["id"])
    match act["action_type"]:
        case "CLICK" if "button" not in act:
            return {"click": {"index": index}}
        case "INPUT_TEXT":
            return {"input": {"index": index, "text": act["text"], "clear": True}}
        case "SELECT_OPTION":
            return {"select_dropdown": {"index": index, "text": act["option"]["label"]}}
    raise _NoSuchActionError(f"browser-use has no action for {json.dumps(act)}")
