"""A model without weights: it decides each request from the prompt alone, by a solver of the task that the goal names.

It speaks the shapes of replies before and after plans could begin with actions; the schema of a request says which.
What it is asked, it counts: calls, characters, and which calls did nothing but say that something is done.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from shoal.agent.support.json_value import Json

CHARS_PER_TOKEN = 4
"""Tokens are estimated: the same rule for all that is compared."""
_ELEMENT = re.compile(r'\[(?:([A-Za-z]*\d+) )?([a-z]+)(?: "((?:[^"\\]|\\.)*)")?([^\[\]]*)\]')
_LINES = re.compile(r"^⟦lines (\d+)-(\d+)⟧$", re.MULTILINE)
_TASK = re.compile(r"\(task ([a-z0-9 -]+)\)")


@dataclass(frozen=True)
class Shown:
    """One element of a prompt's page."""

    id: str
    role: str
    name: str
    state: str


class Prompt:
    """One request, as the solver reads it."""

    def __init__(self, body: Mapping[str, Json]) -> None:
        texts = [_text(message["content"]) for message in body["messages"]]
        self.messages = texts
        self.whole = "\n".join(texts)
        shape = body.get("response_format", {}).get("json_schema", {})
        self.kind: str = shape.get("name", "")
        self.schema: Mapping[str, Json] = shape.get("schema", {})
        self.goal = _after(self.whole, r"^(?:The job's goal|Goal): (.*)$")
        self.task = (_TASK.findall(self.goal) or [""])[0]

    @property
    def takes_actions(self) -> bool:
        """Return whether a plan may begin with actions, and what then holds may be said."""
        return "ends_goal" in self.schema.get("properties", {}) or "then_done" in self.schema.get("properties", {})

    @cached_property
    def page(self) -> str:
        """The page's text, what its loop's pages repeat put back into its place."""
        shown = _fenced(self.whole, "page")
        told = dict(re.findall(r"^(\d+): (.*)$", _fenced(self.whole, "repeated"), re.MULTILINE))
        lines = lambda found: "\n".join(told.get(str(n), "") for n in range(int(found[1]), int(found[2]) + 1))  # noqa: E731
        return _LINES.sub(lines, shown)

    @cached_property
    def query(self) -> str:
        """The field at the top of a MiniWoB++ page: its text before the first control."""
        return " ".join(re.split(r"\[\d", self.page, maxsplit=1)[0].split())

    @cached_property
    def url(self) -> str:
        return _after(self.page, r"^url: (.*)$")

    @cached_property
    def done(self) -> str:
        """Return what was done so far: the finished tasks and the steps of this one."""
        return _fenced(self.whole, "tasks") + _fenced(self.whole, "steps")

    @cached_property
    def elements(self) -> list[Shown]:
        return [Shown(*(part or "" for part in found)) for found in _ELEMENT.findall(self.page)]

    def find(self, role: str, name: str, at: int = 0) -> Shown:
        """The element of this role whose name the pattern matches: the first one, or the one at `at`."""
        found = [one for one in self.elements if re.fullmatch(role, one.role) and re.search(name, one.name)]
        if not found:
            raise LookupError(f"{self.task}: no {role} {name!r} on {self.url}: {self.page[:1500]}")
        return found[at]

    def behind(self, name: str) -> Prompt:
        """The same request, with only those elements that follow the first of this name."""
        at = next((n for n, one in enumerate(self.elements) if re.search(name, one.name)), None)
        if at is None:
            raise LookupError(f"{self.task}: nothing is called {name!r} on {self.url}: {self.page[:1500]}")
        rest = copy.copy(self)
        rest.__dict__["elements"] = self.elements[at:]
        return rest


def _text(content: Json) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def _fenced(text: str, name: str) -> str:
    return "\n".join(re.findall(rf"^⟦{name}⟧$(.*?)^⟦/{name}⟧$", text, re.MULTILINE | re.DOTALL))


def _after(text: str, pattern: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found[1].strip() if found else ""


Acts = Callable[[Prompt], list[dict[str, Json]]]
Told = Callable[[Prompt], Json]


@dataclass(frozen=True)
class Move:
    """One step of a task: what to do on a page where `here` holds, and what the page shows after it."""

    here: str  # pattern of the page's text or address
    acts: Acts
    then: Mapping[str, Json] | None = None
    last: bool = True  # the goal is reached by it


@dataclass(frozen=True)
class Task:
    """One task, and how it is solved."""

    name: str
    spec: Mapping[str, Json]  # of the job; its goal ends with "(task NAME)"
    over: str = ""  # pattern of a page where the work on pages is over; "": there is none to do
    moves: Sequence[Move] = ()
    answer: Told | None = None  # {"text": …} with what it rests on, of a page where the work is over
    record: Told | None = None  # the records of a page
    right: Callable[[Mapping[str, Json]], bool] = lambda told: True  # whether what a run gave is right
    loop: bool = False
    perfect: int = 1  # calls of an agent that never looks in vain

    def is_over(self, prompt: Prompt) -> bool:
        """Return whether the work on pages is done."""
        return not self.over or re.search(self.over, f"{prompt.page}\n{prompt.done}") is not None

    def move(self, prompt: Prompt) -> Move:
        """The step that this page is for.

        Raises:
            LookupError: the task has none for it.
        """
        for move in self.moves:
            if re.search(move.here, prompt.page):
                return move
        raise LookupError(f"{self.name}: no move fits {prompt.url}: {prompt.page[:1500]}")


@dataclass
class Counted:
    """Counts of the requests of one task."""

    calls: int = 0
    prompt: int = 0  # characters
    reply: int = 0
    pictured: int = 0  # calls with a picture
    only_done: int = 0  # calls whose reply did nothing but say that something is done
    lost: list[str] = field(default_factory=list)  # what prompts lacked
    prompts: list[str] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)


class Solver:
    """Answers requests, and counts them by task."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = {task.name: task for task in tasks}
        self.counted: dict[str, Counted] = {}

    def __call__(self, body: Mapping[str, Json]) -> str:
        prompt = Prompt(body)
        task = self._tasks[prompt.task]
        counted = self.counted.setdefault(task.name, Counted())
        try:
            reply = getattr(self, f"_{prompt.kind}")(prompt, task)
        except LookupError as error:  # the prompt lacks what the task needs
            counted.lost.append(str(error))
            reply = _failure_reply(prompt, str(error))
        reply = _whole(reply, prompt.schema)
        text = json.dumps(reply, ensure_ascii=False)
        counted.calls += 1
        counted.prompt += len(prompt.whole)
        counted.reply += len(text)
        counted.pictured += "image_url" in json.dumps(body["messages"])
        counted.only_done += _only_done(prompt.kind, reply)
        counted.prompts.append(prompt.whole)
        counted.replies.append(text)
        counted.kinds.append(prompt.kind)
        return text

    # --- plan ----------------------------------------------------------------------------------------

    def _plan(self, prompt: Prompt, task: Task) -> Json:
        in_item = "This session does the job for one value only" in prompt.whole
        if task.loop and not in_item:
            if re.search(r"^\d+\. loop, completed", prompt.done, re.MULTILINE):
                return _achieved("all items were read")
            return _planned(prompt, "the same for each", "loop", items_only_read=True)
        read = re.search(r"^\d+\. extract, completed", prompt.done, re.MULTILINE) is not None
        if not task.is_over(prompt):
            return self._navigate(prompt, task)
        if task.record is not None and not read:
            return _planned(prompt, "Read the data off this page", "extract", require_extraction=True)
        if task.answer is not None and not re.search(r"result: ", prompt.done):
            if "answer" in prompt.schema["properties"]:
                return _planned(prompt, "Tell it", "answer", answer=task.answer(prompt), wants_answer=True)
            return _planned(prompt, "Tell it", "navigate")
        return _achieved("the page shows it")

    def _navigate(self, prompt: Prompt, task: Task) -> Json:
        move = task.move(prompt)
        more: dict[str, Json] = {}
        if "actions" in prompt.schema["properties"]:
            more = {"actions": move.acts(prompt), "then_done": move.then if move.last else None}
        return _planned(prompt, prompt.goal, "navigate", ends_goal=True, wants_answer=task.answer is not None, **more)

    # --- step, extract, … -----------------------------------------------------------------------------

    def _step(self, prompt: Prompt, task: Task) -> Json:
        if task.is_over(prompt):
            if task.answer is not None:
                told = task.answer(prompt)["text"]
                call = {"action_type": "CALL", "call": {"name": "answer", "args": {"text": told}}}
                return _stepped(prompt, [call], "the page tells it")
            return _stepped(prompt, [{"action_type": "COMPLETE"}], "the page shows it", achieved=True)
        move = task.move(prompt)
        return _stepped(prompt, move.acts(prompt), "on the way", then=move.then if move.last else None)

    def _extract(self, prompt: Prompt, task: Task) -> Json:
        assert task.record is not None
        return {"thought": "it stands in the text", "shown": None, "records": task.record(prompt)}


def _whole(reply: Json, schema: Json) -> Json:
    """The reply with what an earlier state of the agent requires beside it, saying nothing."""
    lacking = [name for name in schema.get("required", ()) if name not in reply]
    nothing = {"string": "", "boolean": False}
    return reply | {name: nothing.get(schema["properties"][name].get("type", "")) for name in lacking}


def _planned(prompt: Prompt, plan: str, kind: str, *, require_extraction: bool = False, **more: Json) -> Json:
    told = {
        "require_extraction": require_extraction,
        "thoughts": "there is work left",
        "user_goal_achieved": False,
        "should_terminate": False,
        "termination_reason": None,
        "plan": plan,
        "task_type": kind,
        "loop_values": None,
        "is_loop_value_link": False,
    }
    new = {"ends_goal": True, **more}
    known = prompt.schema["properties"]
    return told | {name: value for name, value in new.items() if name in known}


def _achieved(why: str) -> Json:
    return {
        **{"require_extraction": False, "thoughts": why},
        **{"user_goal_achieved": True, "should_terminate": False, "termination_reason": None, "plan": None},
        **{"task_type": None, "loop_values": None, "is_loop_value_link": False},
    }


def _failure_reply(prompt: Prompt, why: str) -> Json:
    if prompt.kind == "plan":
        return _achieved(why) | {"user_goal_achieved": False, "should_terminate": True, "termination_reason": why}
    return _stepped(prompt, [{"action_type": "TERMINATE", "reasoning": why}], why)


_FRAME: Mapping[str, Json] = {"reasoning": "it leads to the goal", "confidence_float": 0.9}


def _stepped(
    prompt: Prompt, actions: list[dict[str, Json]], stage: str, *, achieved: bool = False, then: Json = None
) -> Json:
    told: dict[str, Json] = {"thoughts": stage, "user_goal_achieved": achieved}
    if prompt.takes_actions:
        return {**told, "actions": actions, **({"then_done": then} if then else {})}
    return {**told, "actions": [_framed(action) for action in actions]}


def _framed(action: dict[str, Json]) -> dict[str, Json]:
    """The action with the frame that each had to have before."""
    framed = {**_FRAME, **action}
    if action["action_type"] in ("CLICK", "INPUT_TEXT", "SELECT_OPTION"):
        framed |= {"user_detail_query": None, "user_detail_answer": None}
    if action["action_type"] == "CLICK":
        framed |= {"download": False, "file_url": None}
    if action["action_type"] == "SELECT_OPTION":
        framed["option"] = {"label": None, "index": None, "value": None, **action["option"]}
    return framed


def _only_done(kind: str, reply: Json) -> bool:
    if kind == "plan":
        return bool(reply["user_goal_achieved"])
    return kind == "step" and [one["action_type"] for one in reply["actions"]] == ["COMPLETE"]


def quoted(pattern: str) -> Told:
    """The answer that a page states: its words that the pattern, or the group in it, matches."""

    def read(prompt: Prompt) -> Json:
        found = re.search(pattern, prompt.page)
        if found is None:
            raise LookupError(f"{prompt.task}: {pattern!r} is not on {prompt.url}: {prompt.page[:1500]}")
        words = found[found.re.groups]
        return {"text": words, "quotes": [words]}

    return read


# --- actions ----------------------------------------------------------------------------------------------


Act = Callable[[Prompt], dict[str, Json]]


def click(role: str, name: str, *, at: int = 0, **how: Json) -> Act:
    return lambda prompt: {"action_type": "CLICK", "id": prompt.find(role, name, at).id, **how}


def fill(role: str, name: str, text: str) -> Act:
    return lambda prompt: {"action_type": "INPUT_TEXT", "id": prompt.find(role, name).id, "text": text}


def choose(role: str, name: str, label: str) -> Act:
    return lambda prompt: {"action_type": "SELECT_OPTION", "id": prompt.find(role, name).id, "option": {"label": label}}


def twice(role: str, name: str) -> Act:
    return lambda prompt: _call("dblclick", bid=prompt.find(role, name).id)


def keys(combination: str, times: int = 1) -> Act:
    return lambda prompt: _call("keyboard_press", key_comb=combination, times=times)


def typed(text: str) -> Act:
    return lambda prompt: _call("keyboard_type", text=text)


def drag(one: tuple[str, str], other: tuple[str, str]) -> Act:
    return lambda prompt: _call("drag_and_drop", from_bid=prompt.find(*one).id, to_bid=prompt.find(*other).id)


def of(name: str, act: Act) -> Act:
    """The act on what follows the first element of this name."""
    return lambda prompt: act(prompt.behind(name))


def all_of(*acts: Act) -> Acts:
    return lambda prompt: [act(prompt) for act in acts]


def _call(name: str, **args: Json) -> dict[str, Json]:
    return {"action_type": "CALL", "call": {"name": name, "args": args}}
