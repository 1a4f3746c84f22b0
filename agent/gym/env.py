"""The Gymnasium environment: `gym.make("shoal/miniwob.click-test-v0")`, with the observations of BrowserGym."""

from __future__ import annotations

import io
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import gymnasium
import numpy as np
from PIL import Image

from shoal.agent.actions.dialects.notations import Dialect
from shoal.agent.actions.registry import primitives_of
from shoal.agent.browser import Browser, ContextOptions, ObserveOptions
from shoal.agent.chromium.process.launch import LaunchOptions, launch
from shoal.agent.errors import ActionTimeout
from shoal.agent.gym import accessibility
from shoal.agent.gym.blocking import Blocking
from shoal.agent.gym.chat import Chat
from shoal.agent.gym.dom import hidden_elements, snapshot
from shoal.agent.gym.episode import EpisodeOptions, EpisodeRunner
from shoal.agent.gym.peer_actions import PeerActions
from shoal.agent.gym.spaces import CallSpace, observation_space
from shoal.agent.gym.task import GymTask, goal_text
from shoal.agent.observe.renderings import render
from shoal.agent.observe.tree import walk_elements
from shoal.agent.spec import BrowserSpec, Viewport
from shoal.agent.types import ActionResult, Observation


class BrowserEnv(gymnasium.Env[dict[str, Any], str]):
    """A task in a browser. Actions are text in any dialect; an observation has BrowserGym's keys.

    Args:
        task_entrypoint: makes the task of an episode from its `seed` and `task_kwargs`.
        viewport, timeout, locale, timezone_id: in place of what the task asks for; `timeout` in milliseconds, of one
            action.
        slow_mo: milliseconds that Playwright waits before each of its operations.
        tags_to_mark: "standard_html" leaves elements of other tags without an id.
        wait_for_user_message: after each message of the agent's `user_message` is asked (standard input by default).
        terminate_on_infeasible: whether `report_infeasible` ends the episode.
        resizeable_window: whether the page has the size of its window, instead of a fixed one.
        record_video_dir: where videos of the pages come to lie, which needs Playwright's ffmpeg.
        pw_chromium_kwargs, pw_context_kwargs: further arguments of Playwright's `launch` and `new_context`.
        action_mapping: rewrites an action before it is read. Of `to_python_code` of a BrowserGym's action set, which
            AgentLab hands over, the set decides what may be called (`peer_actions`), in place of `action_sets`.
        action_sets: which actions may be called, by the names of `shoal actions` or of BrowserGym's subsets.
        pre_observation_delay: seconds between an action and the look at the page, which also waits for it to settle.
    """

    def __init__(
        self,
        task_entrypoint: Callable[..., GymTask],
        task_kwargs: Mapping[str, Any] | None = None,
        *,
        viewport: Mapping[str, int] | None = None,
        timeout: float | None = None,
        locale: str | None = None,
        timezone_id: str | None = None,
        slow_mo: float | None = None,
        resizeable_window: bool = False,
        record_video_dir: str | None = None,
        pw_chromium_kwargs: Mapping[str, Any] | None = None,
        pw_context_kwargs: Mapping[str, Any] | None = None,
        tags_to_mark: Literal["all", "standard_html"] = "all",
        headless: bool = True,
        wait_for_user_message: bool = False,
        user_message: Callable[[], str] = input,
        terminate_on_infeasible: bool = True,
        action_mapping: Callable[[str], str] | None = None,
        dialect: Dialect = "browsergym",
        action_sets: Sequence[str] = ("all",),
        pre_observation_delay: float = 0.0,
        use_raw_page_output: bool = False,
        render_mode: str | None = "rgb_array",
        start: Callable[[], Awaitable[Browser]] | None = None,
    ) -> None:
        super().__init__()
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": 1}
        if tags_to_mark not in ("all", "standard_html"):
            raise ValueError(f"tags_to_mark is all or standard_html, not {tags_to_mark!r}")
        if use_raw_page_output:
            raise ValueError("use_raw_page_output: an observation holds no page; use env.unwrapped.page")
        self.render_mode = render_mode
        self.observation_space = observation_space()
        self._tags = tags_to_mark
        peer = PeerActions.behind(action_mapping)
        self._mapping = action_mapping if peer is None else None
        asked = {"viewport": viewport, "locale": locale, "timezone": timezone_id}
        spec = BrowserSpec.model_validate({name: value for name, value in asked.items() if value is not None})
        self._spec = spec
        video = {"record_video_dir": Path(record_video_dir) / "task_video"} if record_video_dir else {}
        context = ContextOptions(browser=spec, playwright={**video, **(pw_context_kwargs or {})})
        self._timeout = timeout
        self._window = resizeable_window
        self._launch_options = _launch_options(headless, slow_mo, pw_chromium_kwargs or {})
        self.task_kwargs = dict(task_kwargs or {})
        self._episode = EpisodeRunner(
            partial(self._task, partial(task_entrypoint, **self.task_kwargs)),
            EpisodeOptions(
                dialect,
                tuple(action_sets),
                ObserveOptions(screenshot=True, marks=True),
                context,
                pre_observation_delay,
                terminate_on_infeasible,
                wait_for_user_message,
                documents=True,
                peer=peer,
            ),
            start=start or self._launch,
            ask=user_message,
        )
        self.action_space = CallSpace(
            [example for primitive in primitives_of(self._episode.sets) for example in primitive.examples]
        )
        self._seen: Observation | None = None
        self._last_action = ""

    @property
    def task(self) -> GymTask | None:
        """The task of the running episode."""
        return self._episode.task

    @property
    def chat(self) -> Chat:
        """Return what was said in the running episode."""
        return self._episode.chat

    @property
    def page(self) -> Blocking:
        """The active tab, whose calls block; for scripts beside the agent."""
        return self._episode.page

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """A fresh context at the beginning of a new task."""
        super().reset(seed=seed)
        self._last_action = ""
        self._seen = self._episode.reset(seed=seed)
        return self._observed(self._seen), {"task_info": dict(self._episode.task_info), "observation": self._seen}

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Takes the actions of a reply. Gymnasium's `max_episode_steps` counts steps, so none is truncated here."""
        step = self._episode.step(self._mapping(action) if self._mapping is not None else action)
        self._last_action, self._seen = action, step.seen
        info = {
            "task_info": dict(step.info),
            "action_exec_start": step.began,
            "action_exec_stop": step.ended,
            "action_exec_timeout": sum(result.seconds for result in step.results if _timed_out(result)),
            "results": step.results,
            "observation": step.seen,
        }
        return self._observed(step.seen), step.reward, step.done, False, info

    def render(self) -> Any:
        """Return what the window shows: an array of height, width and red, green, blue."""
        return _picture(self._seen.screenshot) if self._seen is not None else None

    def close(self) -> None:
        """Ends the browser."""
        self._episode.close()

    async def _launch(self) -> Browser:
        """A browser; one whose window may be resized has the task's size at first."""
        size = self._spec.viewport if "viewport" in self._spec.model_fields_set else None
        task = self._episode.task
        if size is None and task is not None and task.viewport is not None:
            size = Viewport.model_validate(task.viewport)
        window = size if self._window and size is not None else Viewport()
        return await launch(replace(self._launch_options, window=window))

    def _task(self, make: Callable[..., GymTask], seed: int | None) -> GymTask:
        task = make(seed=seed)
        if self._timeout is not None:
            task.timeout = self._timeout
        return task

    def _observed(self, seen: Observation) -> dict[str, Any]:
        root = seen.elements if self._tags == "all" else accessibility.standard_only(seen.elements)
        bids = {element.bid for element in walk_elements(root)} - {""}
        documents = self._episode.documents
        hidden = {
            bid: accessibility.no_properties()
            for bid, tag in hidden_elements(documents).items()
            if bid not in bids and (self._tags == "all" or tag in accessibility.STANDARD)
        }
        return {
            "chat_messages": tuple(dict(message) for message in self.chat.messages),
            "goal": goal_text(self._episode.goal),
            "goal_object": tuple(dict(message) for message in self._episode.goal),
            "open_pages_urls": tuple(tab.url for tab in seen.tabs),
            "open_pages_titles": tuple(tab.title for tab in seen.tabs),
            "active_page_index": np.asarray([seen.active_tab], dtype=np.int64),
            "url": seen.url,
            "screenshot": _picture(seen.screenshot),
            "dom_object": snapshot(documents, {*bids, *hidden}),
            "axtree_object": accessibility.axtree(root),
            "extra_element_properties": hidden | accessibility.properties(seen, root, self._episode.scale),
            "focused_element_bid": seen.focused,
            "last_action": self._last_action,
            "last_action_error": seen.last_error,
            "elapsed_time": np.asarray([time.time() - self._episode.started], dtype=np.float64),
            "text": render(replace(seen, elements=root)),
        }


def _launch_options(headless: bool, slow_mo: float | None, given: Mapping[str, Any]) -> LaunchOptions:
    """The options of a launch, with arguments of Playwright's own `launch`."""
    further = {**({} if slow_mo is None else {"slow_mo": slow_mo}), **given}
    executable, args = further.pop("executable_path", None), further.pop("args", ())
    return LaunchOptions(
        executable=str(executable) if executable is not None else None,
        headless=headless,
        args=tuple(args),
        playwright={"ignore_default_args": ["--hide-scrollbars"], **further},  # as BrowserGym: bars make pages narrower
    )


def _timed_out(result: ActionResult) -> bool:
    return result.error is not None and result.error.code == ActionTimeout.code


def _picture(data: bytes | None) -> Any:
    if data is None:
        raise RuntimeError("the page gave no picture")
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
