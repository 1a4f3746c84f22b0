"""One task in one browser context, step by step and without awaiting anything.

    with Episode(lambda seed: MiniWob("click-test", seed)) as episode:
        seen = episode.reset(seed=1)
        step = episode.step("click('1')")

Needs no Gymnasium; `agent.gym.env` puts its interface around this.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from types import TracebackType

from shoal.agent.actions.dialects.notations import Dialect, read_reply_on
from shoal.agent.actions.registry import primitives_of
from shoal.agent.browser import Browser, ContextOptions, ObserveOptions
from shoal.agent.chromium.acting.acting_context import ActingContext
from shoal.agent.chromium.process.launch import launch
from shoal.agent.errors import ActionError, BrowserError, ReplyUnparsable
from shoal.agent.gym.blocking import Blocking, Handlers
from shoal.agent.gym.chat import Chat
from shoal.agent.gym.dom import FrameCopy, frame_copies
from shoal.agent.gym.peer_actions import PeerActions, PeerCall
from shoal.agent.gym.task import GymTask, goal_object, goal_text
from shoal.agent.gym.used_tab import UsedTab
from shoal.agent.support.json_value import Json
from shoal.agent.support.loop_thread import LoopThread
from shoal.agent.types import Action, ActionResult, Observation

_GREETING = "I act on the page for you. What is to be done?"
_ENDING = frozenset({"answer", "complete", "terminate"})
"""Actions with which an agent ends its task."""
_PEER_SETS = {"bid": ("element", "misc"), "coord": ("coord", "keyboard", "misc"), "infeas": ("infeasible",)}
"""BrowserGym's names for action subsets where ours differ."""
_PLACES = frozenset({"x", "y", "from_x", "from_y", "to_x", "to_y"})
"""Arguments that are places in the picture."""
_PEER_SCALE = "_bgym_scale_factor"
"""Tasks of BrowserGym's write it to their page."""
_LOOKS = 3
"""Looks at a page that goes elsewhere meanwhile, at most."""
_SETTLE_S = 1.5


@dataclass(frozen=True, slots=True)
class EpisodeOptions:
    """Options of an episode."""

    dialect: Dialect = "browsergym"
    action_sets: tuple[str, ...] = ("all",)  # what may be called; names of ours or of BrowserGym's subsets
    observe: ObserveOptions = ObserveOptions()
    context: ContextOptions = ContextOptions()
    delay_s: float = 0.0  # waited after an action, before the page is observed; pages settle by themselves as well
    ends_on_infeasible: bool = True
    waits_for_user: bool = False  # after each message of the agent's
    documents: bool = False  # whether a copy of the page's documents goes with each observation
    peer: PeerActions | None = None  # decides what may be called, in place of `dialect` and `action_sets`


@dataclass(frozen=True, slots=True)
class EpisodeStep:
    """The outcome of one reply."""

    seen: Observation
    reward: float
    done: bool  # the task is over, by its own account or by the agent's
    results: tuple[ActionResult, ...]
    info: Mapping[str, Json]  # the task's own
    began: float  # seconds since 1970: of the actions
    ended: float


class EpisodeRunner:
    """Runs tasks one after another; owns its browser."""

    def __init__(
        self,
        make_task: Callable[[int | None], GymTask],
        options: EpisodeOptions = EpisodeOptions(),
        *,
        start: Callable[[], Awaitable[Browser]] = launch,
        ask: Callable[[], str] = input,
    ) -> None:
        self.make_task = make_task
        self.task: GymTask | None = None
        self.chat = Chat(ask)
        self.goal: tuple[Mapping[str, Json], ...] = ()
        self.task_info: Mapping[str, Json] = {}
        self.documents: Mapping[str, FrameCopy] = {}  # of the last observation, where they are asked for
        self.scale = 1.0  # pixels of the picture for one of the page's
        self.started = 0.0  # seconds since 1970
        self._options = options
        self.sets = tuple(subset for name in options.action_sets for subset in _PEER_SETS.get(name, (name,)))
        primitives_of(self.sets)  # a wrong name is told now
        self._start, self._ask = start, ask
        self._loop = LoopThread("shoal-gym")
        self._handlers: Handlers = {}
        self._browser: Browser | None = None
        self._context: ActingContext | None = None
        self._seen: Observation | None = None
        self._refused = False  # a function of the agent's own said that the task cannot be done

    @property
    def page(self) -> Blocking:
        """The active tab, with all of Playwright's page, for tasks and scripts."""
        return Blocking(self._open().tab.page, self._loop, self._handlers)

    def reset(self, *, seed: int | None = None) -> Observation:
        """A fresh context at the beginning of a new task."""
        self._leave()
        self.task = self.make_task(seed)
        self.chat = Chat(self._ask)
        self._context = self._loop.run(self._new_context(self.task))
        page = self.page
        goal, self.task_info = self.task.setup(page)
        self.scale = float(vars(page).get(_PEER_SCALE, getattr(self.task, "scale", 1.0)))
        self._loop.run(self._enlarge())
        self.goal = goal_object(goal)
        self.chat.add_message("assistant", _GREETING)
        for message in self.goal:
            self.chat.add_message("user" if message["type"] == "text" else "user_image", _message_content(message))
        self._user_speaks()
        self.started = time.time()
        self._loop.run(self._context.settle(quiet_s=0.05, budget_s=2))
        return self._look("")

    def step(self, reply: str) -> EpisodeStep:
        """Return what the page shows after the actions of `reply`;
        actions after one that fails are not taken.

        Raises:
            RuntimeError: there was no reset.
        """
        if self.task is None or self._seen is None:
            raise RuntimeError("reset comes before the first step")
        context, began = self._open(), time.time()
        results, unread = self._take(context, reply, self._seen)
        ended = time.time()
        over = self._tell(results)
        if self._options.delay_s:
            time.sleep(self._options.delay_s)
        self._user_speaks()
        tab = context.tab
        reward, done, message, info = self.task.validate(self.page, self.chat.messages)
        context.tab = tab if not tab.page.is_closed() else context.tab  # a task may look at other tabs
        if message:
            self.chat.add_message("user", message)
        return EpisodeStep(self._look(unread), reward, done or over, results, info, began, ended)

    def close(self) -> None:
        """Ends task, context, browser and event loop."""
        self._leave()
        if self._browser is not None:
            self._loop.run(self._browser.close())
            self._browser = None
        self._loop.close()

    def __enter__(self) -> EpisodeRunner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> ActingContext:
        if self._context is None:
            raise RuntimeError("reset comes before the first step")
        return self._context

    async def _new_context(self, task: GymTask) -> ActingContext:
        if self._browser is None:
            self._browser = await self._start()
        context = await self._browser.new_context(_context_options(self._options.context, task))
        if not isinstance(context, ActingContext):
            raise TypeError("an episode needs a browser whose pages can be scripted")
        await context.allow_scripts()
        await UsedTab(context).follow_all()
        return context

    async def _enlarge(self) -> None:
        """Has the picture drawn with `scale` pixels for each of the page's."""
        if self.scale == 1.0:
            return
        tab = self._open().tab
        size = await tab.read("() => [innerWidth, innerHeight]")
        asked = {"width": size[0], "height": size[1], "deviceScaleFactor": self.scale, "mobile": False}
        await (await tab.session()).send("Emulation.setDeviceMetricsOverride", asked)

    def _take(self, context: ActingContext, reply: str, seen: Observation) -> tuple[tuple[ActionResult, ...], str]:
        """Return what the actions of a reply came to;
        why the reply could not be read or was refused, "" when it could.
        """
        peer = self._options.peer
        results: list[ActionResult] = []
        try:
            parts = peer.calls(reply) if peer is not None else [PeerCall(reply, own=False)]
            for part in parts:
                if part.own:
                    error = self._run_own(context, part)
                    if error:
                        return tuple(results), error
                    continue
                results += self._loop.run(self._act(context, part.text, seen))
                if results and results[-1].error is not None:
                    break
        except ReplyUnparsable as error:
            return tuple(results), error.message
        return tuple(results), ""

    async def _act(self, context: ActingContext, text: str, seen: Observation) -> list[ActionResult]:
        dialect = "browsergym" if self._options.peer is not None else self._options.dialect
        sets = None if self._options.peer is not None else self.sets
        results: list[ActionResult] = []
        for action in await read_reply_on(dialect, text, seen.elements, context, sets=sets):
            results.append(await context.act(_on_page(action, self.scale)))
            if results[-1].error is not None:
                break
        return results

    def _run_own(self, context: ActingContext, call: PeerCall) -> str:
        """Runs a function that the owner of the action set added; what it raised, "" when it came to its end."""
        assert self._options.peer is not None
        page = self.page

        def find(_: object, bid: str, scroll_into_view: bool = False) -> Blocking:
            element = Blocking(self._loop.run(context.locator(bid)), self._loop, self._handlers)
            if scroll_into_view:
                element.scroll_into_view_if_needed()
            return element

        def say(text: str) -> None:
            self.chat.add_message("assistant", text)

        def refuse(reason: str) -> None:
            self.chat.add_message("infeasible", reason)
            self._refused = True

        given = {
            "page": page,
            "send_message_to_user": say,
            "report_infeasible_instructions": refuse,
            "DEMO_MODE": "off",
        }
        try:
            self._options.peer.run(call, given, find)
        except Exception as error:  # noqa: BLE001  # the owner's code: what it raises is what the agent is told
            return f"{type(error).__name__}: {error}"
        finally:
            self._loop.run(context.settle(quiet_s=0.05, budget_s=_SETTLE_S))
        return ""

    def _tell(self, results: tuple[ActionResult, ...]) -> bool:
        """Writes into the chat what the agent said; whether it ended its task."""
        over, self._refused = self._refused and self._options.ends_on_infeasible, False
        for result in results:
            name, args = result.action.name, result.action.args
            if result.error is not None:
                continue
            if name in ("send_msg_to_user", "answer"):
                self.chat.add_message("assistant", str(args["text"]))
            if name == "report_infeasible":
                self.chat.add_message("infeasible", str(args["reason"]))
                over = over or self._options.ends_on_infeasible
            over = over or name in _ENDING
        return over

    def _user_speaks(self) -> None:
        if self._options.waits_for_user and self.chat.messages[-1]["role"] == "assistant":
            self.chat.wait_for_user_message()

    def _look(self, unread: str) -> Observation:
        seen = self._loop.run(self._observe(self._open()))
        seen = replace(seen, goal=goal_text(self.goal))
        self._seen = replace(seen, last_error=unread) if unread else seen
        return self._seen

    async def _observe(self, context: ActingContext) -> Observation:
        for left in reversed(range(_LOOKS)):
            seen = await context.observe(self._options.observe)
            if not self._options.documents:
                return seen
            try:
                self.documents = await frame_copies(context)
                return seen
            except (ActionError, BrowserError):
                if not left:
                    raise
        raise AssertionError("unreachable: the last look returns or raises")

    def _leave(self) -> None:
        if self.task is not None:
            self.task.teardown()
            self.task = None
        if self._context is not None:
            self._loop.run(self._context.close())
            self._handlers.clear()
            self._context = None


def _message_content(message: Mapping[str, Json]) -> str:
    if message["type"] == "text":
        return str(message["text"])
    image = message["image_url"]
    return str(image["url"] if isinstance(image, Mapping) else image)


def _context_options(options: ContextOptions, task: GymTask) -> ContextOptions:
    """The options with what the task asks for; tasks are pages of packages on this machine, too."""
    spec = options.browser
    asked = {"viewport": task.viewport, "locale": task.locale, "timezone": task.timezone_id}
    given = {name: value for name, value in asked.items() if value is not None and name not in spec.model_fields_set}
    browser = type(spec).model_validate({**spec.model_dump(exclude_unset=True), **given})
    limit = task.timeout / 1000 if task.timeout is not None else options.action_timeout_s
    return replace(
        options,
        browser=browser,
        action_timeout_s=limit,
        look_timeout_s=options.action_timeout_s,  # a task's limit is that of an action
        schemes=(*options.schemes, "file"),
    )


def _on_page(action: Action, scale: float) -> Action:
    """The action with places in the picture as places on the page."""
    if scale == 1.0:
        return action
    moved = {
        name: value / scale if name in _PLACES and isinstance(value, int | float) else value
        for name, value in action.args.items()
    }
    return replace(action, args=moved)
