"""Evidence that is kept of a run while it runs: each action with its element and the origin of its values, and each
page.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pydantic import Field, ValidationError

from shoal.agent.actions.sending import sends
from shoal.agent.browser import Context, FetchedJson
from shoal.agent.errors import AgentError, BrowserError
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action, ActionResult, Box, LoopItem, Record
from shoal.agent.workflows.elements.describing import Described, describe
from shoal.agent.workflows.format.param import value_hash
from shoal.agent.workflows.format.part import WorkflowPart
from shoal.agent.workflows.format.target import Target
from shoal.agent.workflows.learning.origin import Origin, Sources, origin_of
from shoal.agent.workflows.learning.page_sample import PageLook, PageSample, sample_page
from shoal.agent.workflows.learning.proposals import json_leaves
from shoal.agent.workflows.script_answer import NoScriptAnswer

KIND: Final = "evidence"
"""Of the artifact that holds it: zlib-compressed JSON."""
SNAPSHOT: Final = "snapshot"
"""Of the artifacts that hold pages: zlib-compressed HTML."""
_TEXT_JS = "() => document.body ? document.body.innerText : ''"
_SAID_JS = """() => [...document.querySelectorAll('h1,h2,h3,[role=alert],[role=status],.message')]
  .filter((el) => el.checkVisibility()).map((el) => el.textContent.replace(/\\s+/g, ' ').trim().slice(0, 120))
  .filter(Boolean).slice(0, 20)"""
_NO_VALUES = frozenset({"bid", "from_bid", "to_bid"})
_CONTROL = frozenset({"complete", "terminate", "answer", "report_infeasible", "noop"})


class ActionEvidence(WorkflowPart):
    """One action that worked."""

    action: str = Field(description="the primitive")
    args: dict[str, Json] = Field(default_factory=dict, description="its arguments without the element's id")
    origins: dict[str, Origin] = Field(default_factory=dict, description="where each argument came from")
    target: Target | None = Field(None, description="its element with every way to find it")
    lost: str = Field("", description="why nothing is known of its element")
    box: Box | None = Field(None, description="where the element was")
    submits: bool = Field(False, description="it may have sent something")
    url: str = Field("", description="address before it")
    led_to: str = Field("", description="address after it, where it changed")
    value: str = Field("", description="what the field said after it")
    said: tuple[str, ...] = Field((), description="headings and messages that came with it, where they were noted")
    offered: tuple[str, ...] | None = Field(None, description="hashes of what could be acted on before it, if known")
    screenshot: str | None = Field(None, description="artifact id of the page before it")
    task: int = Field(0, description="index of its task")
    step: int = Field(0, description="index of its step in the task")


class SessionEvidence(WorkflowPart):
    """The evidence of one session, for learning."""

    item: str = Field("", description="the loop's value")
    label: str = Field("", description="what the list calls the item")
    is_link: bool = Field(False, description="the value is an address")
    leaves: dict[str, str] = Field(
        default_factory=dict, description="hashes of all values that the run was given, by source and path"
    )
    actions: tuple[ActionEvidence, ...] = Field((), description="in the order in which they ran")
    ended: str = Field("", description="address at the end")
    said: tuple[str, ...] = Field((), description="headings and messages of the last page")
    pages: tuple[PageSample, ...] = Field((), description="pages that were extracted from")
    lost: tuple[str, ...] = Field((), description="what could not be kept, and why")
    seconds: float = Field(0.0, description="what keeping it took")

    def packed(self) -> bytes:
        """As the artifact holds it."""
        return zlib.compress(json.dumps(self.as_json(), ensure_ascii=True).encode("ascii"), 6)


def unpacked(data: bytes) -> SessionEvidence:
    """The evidence that an artifact holds.

    Raises:
        ValueError: the artifact holds something else.
    """
    try:
        return SessionEvidence.model_validate(json.loads(zlib.decompress(data)))
    except (zlib.error, ValidationError) as error:
        raise ValueError(f"no evidence of a session: {error}") from None


@dataclass(frozen=True, slots=True)
class NotedBefore:
    """Notes on an action from just before it ran."""

    url: str
    element: Described | None = None
    lost: str = ""  # why the element that the action is about is not known
    origins: Mapping[str, Origin] = field(default_factory=dict)
    text: str = ""  # of the page, where the action may send something


@dataclass(slots=True)
class EvidenceBook:
    """Notes evidence while a session runs. What cannot be noted is told in `lost`, and never ends the session."""

    item: LoopItem | None = None
    exact: bool = False  # only places that state the very value of a field are noted
    actions: list[ActionEvidence] = field(default_factory=list)
    pages: list[PageSample] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    seconds: float = 0.0
    _chooses: bool = False  # the last action typed into a field whose options may be chosen from now
    _stood: str = ""  # text of the page before the last action, where that may have sent something

    async def before(self, page: Context, action: Action, sources: Sources) -> NotedBefore | None:
        """The element and the origins of an action that is about to run; None for one that teaches nothing."""
        if action.name in _CONTROL:
            return None
        began, bid = time.monotonic(), action.args.get("bid")
        try:
            known = await describe(page, bid) if isinstance(bid, str) else ""
            element, lost = (known, "") if isinstance(known, Described) else (None, known)
            origins = {
                name: origin_of(value, sources, answer=action.detail)
                for name, value in action.args.items()
                if name not in _NO_VALUES and _is_value(value)
            }
            from_model = any(origin.kind == "model" for origin in origins.values())
            may_send = _may_send(action, element)
            text = str(await page.read(_TEXT_JS)) if from_model or may_send else ""
            if from_model:
                seen = replace(sources, page=text)
                origins = {name: origin_of(action.args[name], seen, answer=action.detail) for name in origins}
            if action.name == "click" and element is not None and element.is_option:
                origins["options"] = origin_of(element.target.name, sources, answer=action.detail)
            if action.name == "enter_verification_code":
                origins["code"] = Origin(kind="otp")
            return NotedBefore(page.url, element, lost, origins, text if may_send else "")
        except BrowserError:
            raise
        except (AgentError, NoScriptAnswer) as error:
            self.lost.append(f"{action.name}: {error}")
            return NotedBefore(page.url, lost=f"the page could not be asked: {error}" if isinstance(bid, str) else "")
        finally:
            self.seconds += time.monotonic() - began

    def after(
        self, result: ActionResult, noted: NotedBefore, *, screenshot: str | None = None, task: int = 0, step: int = 0
    ) -> None:
        """Notes an action that ran. One that failed teaches nothing."""
        action, element = result.action, noted.element
        if result.error is not None:
            return
        self._stood = noted.text
        if self._chooses and action.name == "click" and element is not None and element.is_option:
            self._choose(element.target.name, noted)
            return
        self._chooses = action.name == "fill" and element is not None and element.chooses
        args = {name: value for name, value in action.args.items() if name not in _NO_VALUES}
        origins = {name: origin for name, origin in noted.origins.items() if name in action.args or name == "code"}
        if self._chooses:
            args = {"options": args["value"]}
            origins = {"options": origins["value"]} if "value" in origins else {}
        self.actions.append(
            ActionEvidence(
                action="select_option" if self._chooses else action.name,
                args=args,
                origins=origins,
                target=element.target if element else None,
                lost=noted.lost,
                box=element.box if element else None,
                submits=_may_send(action, element),
                url=noted.url,
                led_to=result.effect.url or "",
                value=result.effect.value or "",
                offered=element.offered if element else None,
                screenshot=screenshot,
                task=task,
                step=step,
            )
        )

    def _choose(self, option: str, noted: NotedBefore) -> None:
        """Notes what was chosen from the list that a field opened, in place of what was typed to find it."""
        self._chooses = False
        typed = self.actions[-1]
        if str(typed.args["options"]).casefold() != option.casefold():
            origins = {"options": noted.origins["options"]} if "options" in noted.origins else {}
            self.actions[-1] = typed.model_copy(update={"args": {"options": option}, "origins": origins})

    async def read(
        self,
        page: Context,
        records: Sequence[Record],
        schema: Mapping[str, Json] | None,
        *,
        look: PageLook | None = None,
        fetched: Sequence[FetchedJson] = (),
        locale: str = "",
        snapshot: str = "",
    ) -> None:
        """Notes a page from which one record was extracted. Lists are not learned."""
        if len(records) != 1 or not isinstance(records[0].value, dict):
            return
        began = time.monotonic()
        try:
            sample = await sample_page(
                *(page, records[0].value, schema, self.item),
                look=look,
                fetched=fetched,
                locale=locale,
                exact=self.exact,
            )
            self.pages.append(sample.model_copy(update={"snapshot": snapshot}))
        except BrowserError:
            raise
        except (AgentError, NoScriptAnswer) as error:
            self.lost.append(f"page {page.url}: {error}")
        finally:
            self.seconds += time.monotonic() - began

    def book(
        self, url: str, messages: Sequence[str], data: Json, hide: Callable[[str], str] = lambda text: text
    ) -> SessionEvidence:
        """All of it, when the session ends.

        Args:
            messages: of the last page, with headings. Those that stood there before something was sent are no sign
                that it was taken, and are left out.
            hide: a text without what the job holds to be secret. Of a value that it changes not even a hash is kept.
        """
        item, stood = self.item, _words(self._stood)
        return SessionEvidence(
            item=hide(item.value) if item else "",
            label=item.label if item else "",
            is_link=bool(item and item.is_link),
            leaves=_leaves("loop", Sources(item=item.value).row if item else None, hide) | _leaves("data", data, hide),
            actions=tuple(action.model_copy(update={"args": _hidden(action.args, hide)}) for action in self.actions),
            ended=url,
            said=tuple(text for text in messages if _words(text) not in stood),
            pages=tuple(self.pages),
            lost=tuple(self.lost),
            seconds=round(self.seconds, 4),
        )


def _may_send(action: Action, element: Described | None) -> bool:
    return action.submits or sends(action) == "always" or bool(element and element.sends)


def _words(text: str) -> str:
    """A text as conditions compare it."""
    return " ".join(text.split()).lower()


def _leaves(source: str, document: Json, hide: Callable[[str], str]) -> dict[str, str]:
    if not isinstance(document, (dict, list)):
        return {}
    leaves = json_leaves(document)
    return {f"{source} {path}": value_hash(value) for path, value in leaves if hide(str(value)) == str(value)}


def _hidden(args: Mapping[str, Json], hide: Callable[[str], str]) -> dict[str, Json]:
    return {name: hide(value) if isinstance(value, str) else value for name, value in args.items()}


def _is_value(value: Json) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool) and value != ""


async def read_messages(page: Context) -> tuple[str, ...]:
    """The headings and messages of the open page.

    Raises:
        BrowserError: the page could not be asked.
    """
    texts = await page.read(_SAID_JS)
    return tuple(map(str, texts)) if isinstance(texts, list) else ()
