"""The gym, on MiniWoB++ and on tasks of one's own."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

import gymnasium
import pytest

from shoal.agent.gym.blocking import Blocking
from shoal.agent.gym.chat import ChatMessage
from shoal.agent.gym.env import BrowserEnv
from shoal.agent.gym.episode import EpisodeOptions, EpisodeRunner, EpisodeStep
from shoal.agent.gym.miniwob import MiniWob
from shoal.agent.gym.registration import register_task
from shoal.agent.gym.task import GymTask
from shoal.agent.observe.tree import clickable_elements, walk_elements
from tests.integration.browser.solvers import Script
from tests.integration.browser.solvers_of_all import ALL, NEEDS_SIGHT, SHORT

pytest.importorskip("miniwob")


STEPS = 40
FOLLOWED = {"chase-circle", "hover-shape"}
"""Tasks in which only the pointer's place counts: there is nothing to be clicked on."""
TIMED = {"button-delay"}
"""The task itself gives less for each tenth of a second that the wait was longer than it asks for."""


class Plain(MiniWob):
    """The task in a picture of the window's size: scripts read boxes of the page, and point at them."""

    scale = 1.0


@pytest.fixture(scope="module")
def episode() -> Iterator[EpisodeRunner]:
    """One browser for all tasks."""
    with EpisodeRunner(partial(MiniWob, "click-test")) as episode:
        yield episode


@pytest.mark.parametrize("task", SHORT)
def test_scripted_solutions_are_rewarded(task: str, episode: EpisodeRunner) -> None:
    solve(episode, task, seed=1)


def solve(episode: EpisodeRunner, task: str, seed: int) -> None:
    """Plays the episode of `seed`, or where that needs sight the next one that does not."""
    episode.make_task = partial(Plain, task)
    needs_sight = NEEDS_SIGHT.get(task, lambda seen: False)
    while needs_sight(seen := episode.reset(seed=seed)):
        seed += 3
    assert seen.goal != ""
    step = play(episode, ALL[task](seen))
    assert step.done, (seen.goal, step.info, step.results)
    assert step.reward > 0 if task in TIMED else step.reward == 1.0, (seen.goal, step.info, step.results)


def play(episode: EpisodeRunner, script: str | Script) -> EpisodeStep:
    """Plays a solution to its end."""
    if isinstance(script, str):
        return episode.step(script)
    reply = next(script)
    for _ in range(STEPS):
        step = episode.step(reply)
        if step.done:
            break
        reply = script.send(step.seen)
    return step


@pytest.mark.parametrize("task", sorted(random.Random(19).sample(MiniWob.names(), 6)))
def test_tasks_load_can_be_seen_and_acted_on_and_say_how_they_stand(task: str, episode: EpisodeRunner) -> None:
    look_and_act(episode, task)


def look_and_act(episode: EpisodeRunner, task: str) -> None:
    """Looks at a task and takes one action; `miniwob_all.py` does so with all of them."""
    episode.make_task = partial(Plain, task)
    seen = episode.reset(seed=3)
    assert len(list(walk_elements(seen.elements))) > 1
    usable = [one for one in clickable_elements(seen.elements) if "disabled" not in one.states]
    assert bool(usable) is (task not in FOLLOWED)
    step = episode.step(f"click('{usable[-1].bid}')" if usable else "mouse_click(80, 120)")
    assert step.seen.last_error == ""
    assert -1 <= step.reward <= 1


def test_an_unreadable_reply_is_told_in_the_next_observation() -> None:
    with EpisodeRunner(partial(MiniWob, "click-test"), EpisodeOptions(action_sets=("bid",))) as episode:
        episode.reset(seed=1)
        step = episode.step("please click")
        assert "line 1" in step.seen.last_error
        assert (step.reward, step.done) == (0.0, False)
        assert "'goto' is not among" in episode.step("goto('about:blank')").seen.last_error


# --- Gymnasium --------------------------------------------------------------------------------------------------


class Letter(GymTask):
    """Wants a name written into a field, and the user told so."""

    viewport: Mapping[str, int] | None = {"width": 640, "height": 480}

    def setup(self, page: Blocking) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        page.set_content("<title>Letter</title><label>Name <input id=name></label><my-tag role=button>Go</my-tag>")
        page.locator("#name").fill("Ada")
        image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}
        return [{"type": "text", "text": "Write Ann."}, image], {"written": str(page.locator("#name").input_value())}

    def validate(self, page: Blocking, chat_messages: Sequence[ChatMessage]) -> tuple[float, bool, str, dict[str, Any]]:
        right = page.evaluate("() => document.querySelector('#name').value") == "Ann"
        told = any(one["role"] == "assistant" and "It is done" in one["message"] for one in chat_messages)
        return float(right and told), right and told, "" if told else "Tell me when it is done.", {"right": right}


register_task("letter", Letter)


@pytest.fixture(scope="module")
def env() -> Iterator[gymnasium.Env[dict[str, Any], str]]:
    made = gymnasium.make("shoal/letter", max_episode_steps=3, pre_observation_delay=0.01)
    yield made
    made.close()


def test_an_environment_of_gymnasium_with_the_observations_of_browsergym(
    env: gymnasium.Env[dict[str, Any], str],
) -> None:
    seen, info = env.reset(seed=7)
    assert env.observation_space.contains(seen)
    assert info["task_info"] == {"written": "Ada"}
    assert seen["goal_object"][0] == {"type": "text", "text": "Write Ann."}
    assert [one["role"] for one in seen["chat_messages"]] == ["assistant", "user", "user_image"]
    assert seen["screenshot"].shape == (480, 640, 3)
    assert (seen["url"], seen["open_pages_titles"]) == ("about:blank", ("Letter",))
    assert seen["active_page_index"].tolist() == [0]
    field = next(one for one in seen["axtree_object"]["nodes"] if one["role"]["value"] == "textbox")
    assert (field["name"]["value"], field["value"]["value"]) == ("Name", "Ada")
    bid = field["browsergym_id"]
    told = seen["extra_element_properties"][bid]
    assert (told["visibility"], told["clickable"], told["set_of_marks"], len(told["bbox"])) == (1.0, True, True, 4)
    own = next(one for one in seen["axtree_object"]["nodes"] if one["name"]["value"] == "Go")
    assert "browsergym_id" in own, "all tags have one, unless it is asked otherwise"
    strings = seen["dom_object"]["strings"]
    (nodes,) = (one["nodes"] for one in seen["dom_object"]["documents"])
    assert "INPUT" in [strings[number] for number in nodes["nodeName"]]

    seen, reward, terminated, truncated, info = env.step(f"fill('{bid}', 'Ann')")
    assert seen["last_action_error"] == ""
    assert (reward, terminated, truncated, info["task_info"]) == (0.0, False, False, {"right": True})
    assert seen["chat_messages"][-1]["message"] == "Tell me when it is done."
    assert (seen["last_action"], seen["last_action_error"]) == (f"fill('{bid}', 'Ann')", "")
    assert env.observation_space.contains(seen)
    _, reward, terminated, truncated, _ = env.step("send_msg_to_user('It is done.')")
    assert (reward, terminated, truncated) == (1.0, True, False)
    env.reset()
    assert [env.step("noop(1)")[3] for _ in range(3)] == [False, False, True]


class Scripted(GymTask):
    """A task whose script hands functions to Playwright's page."""

    def setup(self, page: Blocking) -> tuple[str, dict[str, Any]]:
        self.said: list[Any] = []
        self.asked: list[bool] = []
        page.route("**/*", self.answer)
        page.on("console", self.said.append)
        page.expose_function("both", lambda first, second: [first, second])
        page.goto("http://scripted.example/")
        with page.expect_console_message(lambda said: said.text == "2") as second:
            page.evaluate("() => { console.log(1); console.log(2) }")
        page.remove_listener("console", self.said.append)
        page.evaluate("() => console.log(3)")
        button = page.query_selector("button")
        told = page.evaluate(
            "([button, more]) => [button.innerText, more.button === button]", [button, {"button": button}]
        )
        both = page.evaluate("() => both('a', 7)")
        return "Look.", {"second": second.value.text, "told": told, "both": both}

    def answer(self, route: Blocking) -> None:
        self.asked.append("text/html" in route.request.header_value("accept"))
        if route.request.url.endswith("/"):
            route.fulfill(body="<button>Go</button><img src=/picture.png>", content_type="text/html")
        else:
            route.fulfill(body="", content_type="image/png")

    def validate(self, page: Blocking, chat_messages: Sequence[ChatMessage]) -> tuple[float, bool, str, dict[str, Any]]:
        waits = page.expect_event("console", lambda said: page.title() == "")
        with pytest.raises(RuntimeError, match="within a predicate"), waits:
            page.evaluate("() => console.log(4)")
        return 1.0, True, "", {"said": [one.text for one in self.said], "asked": self.asked}


def test_what_a_task_hands_to_the_page_is_called_with_objects_that_block() -> None:
    register_task("scripted", Scripted)
    with gymnasium.make("shoal/scripted") as env:
        _, info = env.reset()
        assert info["task_info"] == {"second": "2", "told": ["Go", True], "both": ["a", 7]}
        _, reward, _, _, info = env.step("noop(0)")
        assert reward == 1.0
        assert info["task_info"] == {"said": ["1", "2"], "asked": [True, False]}


def test_what_a_registration_fixes_is_not_replaced_and_what_it_suggests_is() -> None:
    class Asked(Letter):
        def __init__(self, seed: int | None = None, *, place: str, name: str) -> None:
            super().__init__(seed)
            self.told = (place, name)

    with pytest.raises(ValueError, match="task_kwargs and in default_task_kwargs: name"):
        register_task("asked", Asked, {"name": "Ann"}, {"name": "Bob"})
    register_task("asked", Asked, {"name": "Ann"}, {"place": "Ulm"})
    for given, place in (({}, "Ulm"), ({"place": "Graz"}, "Graz")):
        with gymnasium.make("shoal/asked", task_kwargs=given) as env:
            env.reset()
            own = cast(BrowserEnv, env.unwrapped)
            assert (own.task_kwargs, cast(Asked, own.task).told) == (given, (place, "Ann"))
    with (
        gymnasium.make("shoal/asked", task_kwargs={"name": "Bob"}) as env,
        pytest.raises(ValueError, match="fixes name"),
    ):
        env.reset()


@pytest.mark.parametrize("ending", ["answer('42')", "report_infeasible('no such thing')"])
def test_an_answer_and_what_is_infeasible_end_an_episode(env: gymnasium.Env[dict[str, Any], str], ending: str) -> None:
    env.reset()
    seen, reward, terminated, _, _ = env.step(ending)
    assert (reward, terminated) == (0.0, True)
    assert {one["message"] for one in seen["chat_messages"]} & {"42", "no such thing"}


def test_tags_of_no_standard_have_no_ids_where_that_is_asked() -> None:
    env = gymnasium.make("shoal/letter", tags_to_mark="standard_html")
    seen, _ = env.reset()
    node = next(one for one in seen["axtree_object"]["nodes"] if one["name"]["value"] == "Go")
    assert "browsergym_id" not in node
    env.close()


def test_the_user_is_waited_for_after_each_message() -> None:
    said = iter(["go on", "exit"])
    env = gymnasium.make(
        "shoal/openended",
        task_kwargs={"start_url": "about:blank", "goal": "Talk."},
        wait_for_user_message=True,
        user_message=lambda: next(said),
    )
    env.reset()
    assert env.step("send_msg_to_user('Hello')")[2] is False
    seen, _, terminated, _, _ = env.step("send_msg_to_user('Again')")
    assert terminated and seen["chat_messages"][-1]["message"] == "exit"
    env.close()


def test_every_task_has_a_name_that_gymnasium_knows() -> None:
    ids = {id for id in gymnasium.registry if id.startswith("shoal/miniwob.")}
    assert ids == {f"shoal/miniwob.{name}-v0" for name in MiniWob.names()}
    env = gymnasium.make("shoal/miniwob.click-test-v0")
    seen, _ = env.reset(seed=1)
    button = next(one for one in seen["axtree_object"]["nodes"] if one["role"]["value"] == "button")
    assert env.step(f"click('{button['browsergym_id']}')")[1:3] == (1.0, True)
    env.close()
