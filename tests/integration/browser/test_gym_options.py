"""Options of `gym.make` by BrowserGym's names, and observations in its terms."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import gymnasium
import pytest

import shoal.agent.gym  # noqa: F401  # registers the environments
from shoal.agent.actions.registry import primitives_of
from tests.sites.registry import serving as sites

_BUSY = (
    "<script>addEventListener('keydown', () => { const ends = Date.now() + 1500; while (Date.now() < ends); })</script>"
)
_LABELS = """<label class="wide first" for=name id=told>Your name</label><input id=name class=field>
<button><span>Send</span> <b>now</b></button><p hidden id=later>Later</p><!-- nothing -->"""


@contextmanager
def opened(folder: Path, body: str, **options: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    """An environment whose task begins at a page with this body, and its first observation."""
    (folder / "page.html").write_text(f"<!doctype html><title>Page</title><body>{body}</body>")
    with sites.folder(folder) as site:
        made = gymnasium.make("shoal/openended", task_kwargs={"start_url": f"{site}/page.html"}, **options)
        with closing(made) as env:
            yield env, env.reset()[0]


def nodes(seen: dict[str, Any]) -> list[tuple[str, dict[str, str], str]]:
    """Tag, attributes and text of each node of the page's snapshot."""
    text = seen["dom_object"]["strings"]
    held = seen["dom_object"]["documents"][0]["nodes"]
    told = []
    for name, value, parts in zip(held["nodeName"], held["nodeValue"], held["attributes"], strict=True):
        words = [text[part] for part in parts]
        told.append((text[name], dict(zip(words[::2], words[1::2], strict=True)), text[value] if value >= 0 else ""))
    return told


def test_the_snapshot_is_the_document_with_ids_and_classes_and_its_text_in_its_place(tmp_path: Path) -> None:
    with opened(tmp_path, _LABELS) as (env, seen):
        told = nodes(seen)
        assert ("LABEL", {"class": "wide first", "for": "name", "id": "told"}) in [
            (tag, {name: value for name, value in given.items() if name != "bid"}) for tag, given, _ in told
        ]
        field = next(given for tag, given, _ in told if tag == "INPUT")
        assert (field["id"], field["class"], field["value"]) == ("name", "field", "")
        assert not any("aria-label" in given for _, given, _ in told)
        assert [text for tag, _, text in told if tag == "#text" and text.strip()] == [
            *("Page", "Your name", "Send", "now", "Later")
        ]
        later = next(given for _, given, _ in told if given.get("id") == "later")
        assert seen["extra_element_properties"][later["bid"]]["visibility"] == 0.0, "what is hidden says so"
        seen = env.step(f"fill({field['bid']!r}, 'Ann')")[0]
        assert next(given for tag, given, _ in nodes(seen) if tag == "INPUT")["value"] == "Ann"
        assert "bid" not in env.unwrapped.page.content(), "the page is left as it is"


def test_a_tab_that_is_used_beside_the_agent_is_the_active_one(tmp_path: Path) -> None:
    with opened(tmp_path, _LABELS) as (env, _):
        seen = env.step("new_tab()")[0]
        assert seen["active_page_index"].tolist() == [1]
        env.unwrapped.page.context.pages[0].click("button")
        seen = env.step("noop(0)")[0]
        assert (seen["active_page_index"].tolist(), seen["url"].rpartition("/")[2]) == ([0], "page.html")
        assert env.step("tab_focus(1)")[0]["active_page_index"].tolist() == [1]


def test_a_timeout_is_that_of_an_action_and_not_of_looking(tmp_path: Path) -> None:
    with opened(tmp_path, f"{_BUSY}<input id=name>", timeout=500) as (env, _):
        env.unwrapped.page.evaluate(
            "() => setTimeout(() => { const e = Date.now() + 1500; while (Date.now() < e); }, 30)"
        )
        seen = env.step("noop(100)")[0]
        assert seen["open_pages_titles"] == ("Page",)
        _, _, _, _, info = env.step("click('99')")
        assert info["observation"].last_error != ""


def test_arguments_of_browsergym_are_taken_at_their_defaults(tmp_path: Path) -> None:
    defaults = {"slow_mo": None, "resizeable_window": False, "record_video_dir": None}
    with opened(tmp_path, _LABELS, **defaults, pw_chromium_kwargs={}, pw_context_kwargs={}) as (_, seen):
        assert seen["open_pages_titles"] == ("Page",)


def test_bars_for_scrolling_take_room_as_in_browsergym(tmp_path: Path) -> None:
    with opened(tmp_path, "<div id=long style='overflow-y:scroll;width:100px;height:50px'></div>") as (env, _):
        assert env.unwrapped.page.evaluate("() => document.getElementById('long').clientWidth") < 100


def test_arguments_of_browsergym_do_what_they_say(tmp_path: Path) -> None:
    further = {
        "slow_mo": 1,
        "resizeable_window": True,
        "viewport": {"width": 700, "height": 500},
        "pw_context_kwargs": {"color_scheme": "dark", "extra_http_headers": {"x-asked": "yes"}},
        "pw_chromium_kwargs": {"args": ["--lang=de"]},
    }
    with opened(tmp_path, _LABELS, **further) as (env, seen):
        assert seen["screenshot"].shape == (500, 700, 3)
        page = env.unwrapped.page
        assert page.viewport_size is None, "the page has the size of its window"
        assert page.evaluate("() => matchMedia('(prefers-color-scheme: dark)').matches") is True
    with (
        pytest.raises(TypeError, match="no_such_argument"),
        opened(tmp_path, "", pw_context_kwargs={"no_such_argument": 1}),
    ):
        pass


def test_a_sampled_action_is_a_call_of_an_action_that_may_be_called(tmp_path: Path) -> None:
    with opened(tmp_path, _LABELS, action_sets=("nav", "tab")) as (env, _):
        env.action_space.seed(3)
        sampled = {env.action_space.sample() for _ in range(40)}
        names = {primitive.name for primitive in primitives_of(("nav", "tab"))}
        assert {call.partition("(")[0] for call in sampled} <= names
        assert len(sampled) > 3 and all(env.action_space.contains(call) for call in sampled)
