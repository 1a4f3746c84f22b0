"""The questions of BrowserGym's core tests to an environment, asked of ours and read by BrowserGym's own functions.

Its tests import its modules, so they cannot be run on another environment as they are. Each test here is named for one
of them or for some, does what it does on a page of the same kind, and reads the observation by `flatten_dom_to_str` and
`flatten_axtree_to_str` of the package `browsergym-core`, which run in a virtual environment of their own. What is not
asked here, and why, stands in docs/gym.md. `scripts/test-gym` runs it.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import gymnasium
import pytest

import shoal.agent.gym  # noqa: F401  # registers the environments
from tests.sites.registry import cache
from tests.sites.registry import serving as sites

_READER = Path(__file__).with_name("browsergym_reader.py")
_BOX = "<label><input type=checkbox name=car> I have a car</label>"
_FIELDS = "<label>First <input name=first></label><label>Last <input name=last></label>"
_INNER = f"<p>Within</p><input type=checkbox name=inner checked><input name=note placeholder='Write here'>{'<br>' * 80}"
_SHADOW = """<p>Before</p><div id=host></div><script>
  const root = document.getElementById('host').attachShadow({ mode: 'open' });
  root.innerHTML = '<div id=deeper></div>';
  const deeper = root.getElementById('deeper').attachShadow({ mode: 'open' });
  deeper.innerHTML = '<input name=deep placeholder="Deep field">';
</script>"""
_COVERED = "<input type=checkbox name=covered style='position:fixed;left:40px;top:40px'><div \
style='position:fixed;left:0;top:0;width:300px;height:300px;background:#eee'>In front</div>"


_EXPERIMENTS = (
    *("browsergym-core==0.14.3", "browsergym-miniwob==0.14.3", "browsergym-experiments==0.14.3"),
    *("dataclasses-json==0.6.7", "marshmallow==3.26.1", "typing-inspect==0.9.0"),
    *("tiktoken==0.14.0", "regex==2026.11.19", "tqdm==4.70.1"),
)
"""BrowserGym's loop of experiments, and what it needs that is not here already."""


class Reader:
    """BrowserGym's functions that turn observations into text."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def dom(self, seen: dict[str, Any], **options: Any) -> str:
        return str(self._ask("dom", seen["dom_object"], options))

    def axtree(self, seen: dict[str, Any], **options: Any) -> str:
        return str(self._ask("axtree", seen["axtree_object"], options))

    def find(self, seen: dict[str, Any], tag: str, attributes: dict[str, str], **options: Any) -> dict[str, str]:
        """The attributes of the first element that fits."""
        found = self._ask("dom", seen["dom_object"], options, [tag, attributes])
        assert found is not None, (tag, attributes, self.dom(seen))
        return dict(found)

    def middle(self, seen: dict[str, Any], tag: str, attributes: dict[str, str]) -> tuple[float, float]:
        told = self.find(
            seen, tag, attributes, extra_properties=seen["extra_element_properties"], with_center_coords=True
        )
        x, y = ast.literal_eval(told["center"])
        return float(x), float(y)

    def _ask(self, call: str, tree: Any, options: dict[str, Any], find: Any = None) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        asked = {"call": call, "tree": tree, "options": options, "find": find}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    python = cache.pypi("browsergym", ("browsergym-core==0.14.3",))
    pipe = subprocess.PIPE
    with subprocess.Popen([str(python), str(_READER)], stdin=pipe, stdout=pipe, text=True) as process:
        yield Reader(process)
        assert process.stdin is not None
        process.stdin.close()


@contextmanager
def opened(folder: Path, page: str, **options: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    """An environment whose task begins at a page with this body, and its first observation."""
    (folder / "page.html").write_text(f"<!doctype html><title>Page</title><body>{page}</body>")
    with sites.folder(folder) as site:
        made = gymnasium.make("shoal/openended", task_kwargs={"start_url": f"{site}/page.html"}, **options)
        with closing(made) as env:
            yield env, env.reset()[0]


def framed(folder: Path) -> str:
    """A page with a frame in a frame."""
    (folder / "inner.html").write_text(f"<!doctype html><body style='height:1500px'>{_INNER}")
    (folder / "outer.html").write_text(
        "<!doctype html><body><p>Between</p><iframe src=inner.html width=500 height=400></iframe>"
        "<div style='height:900px'></div>"
    )
    return f"<p>Outside</p>{_BOX}<br><iframe src=outer.html width=700 height=500></iframe>"


def test_a_valid_action_is_taken_in_any_of_its_notations(tmp_path: Path, reader: Reader) -> None:
    """`test_valid_action`, `test_click`: several lines, several on one line, comments, code blocks, amid words."""
    with opened(tmp_path, _BOX) as (env, seen):
        box = reader.find(seen, "input", {"name": "car"})
        assert "checked" not in box
        click = f"click({box['bid']!r})"
        replies = [
            (click, True),
            (f"{click}\n{click}", True),
            (f"{click}\n{click}\n{click}", False),
            (f"{click} {click} {click}", True),
            (f"   {click} {click}\t\n    noop(0) noop (0)\n  # {click}\n noop(0) # a noop\n{click}\n#{click}", False),
            (f"Below is code\n   ```python\n {click} {click}\n{click}\n```\nThis is an explanation", True),
            (f"One\n```python\n{click}\n```\nand more\n```python\n{click} {click}\n```\n", False),
        ]
        for reply, checked in replies:
            seen, reward, terminated, truncated, _ = env.step(reply)
            assert (seen["last_action_error"], reward, terminated, truncated) == ("", 0, False, False), reply
            assert ("checked" in reader.find(seen, "input", {"name": "car"})) is checked, reply


@pytest.mark.parametrize(
    "reply",
    [
        *("click('INVALID')", "click(None)", "click(42.7)", "click([])", "click({'k': 'a'})", "click()"),
        *("click('1', 'aa', 'bb')", "not_an_action()", "import numpy as np", "[", "click"),
    ],
)
def test_an_invalid_action_is_an_error_that_the_next_observation_tells(reply: str, tmp_path: Path) -> None:
    """`test_invalid_action`."""
    with opened(tmp_path, _BOX) as (env, _):
        seen, reward, terminated, _, _ = env.step(reply)
        assert seen["last_action_error"] != ""
        assert (reward, terminated) == (0, False)


def test_a_subset_refuses_actions_of_another(tmp_path: Path, reader: Reader) -> None:
    """`test_invalid_action`, its forbidden fill."""
    with opened(tmp_path, _FIELDS, action_sets=("coord",)) as (env, seen):
        field = reader.find(seen, "input", {"name": "first"})["bid"]
        seen = env.step(f"fill({field!r}, 'text')")[0]
        assert "fill" in seen["last_action_error"]
        assert reader.find(seen, "input", {"name": "first"}).get("value", "") == ""


def test_elements_in_frames_take_actions_and_have_the_focus(tmp_path: Path, reader: Reader) -> None:
    """`test_click_through_frames`, `test_fill_through_iframe`, `test_extract_focused_element_bid_through_iframes`."""
    with opened(tmp_path, framed(tmp_path)) as (env, seen):
        assert len(seen["dom_object"]["documents"]) == 3
        box = reader.find(seen, "input", {"name": "inner"})
        assert "checked" in box
        seen = env.step(f"click({box['bid']!r})")[0]
        assert seen["last_action_error"] == ""
        assert "checked" not in reader.find(seen, "input", {"name": "inner"})
        assert seen["focused_element_bid"] == box["bid"]
        field = reader.find(seen, "input", {"name": "note"})
        assert field.get("value", "") == ""
        seen = env.step(f"fill({field['bid']!r}, 'This is a test value.')")[0]
        assert seen["last_action_error"] == ""
        assert reader.find(seen, "input", {"name": "note"})["value"] == "This is a test value."


def test_boxes_are_where_a_mouse_finds_them_in_frames_too(tmp_path: Path, reader: Reader) -> None:
    """`test_simple_webpage`, `test_basic_iframe_webpage`."""
    with opened(tmp_path, framed(tmp_path), viewport={"width": 800, "height": 600}) as (env, seen):
        for name, checked in (("car", True), ("inner", False)):
            x, y = reader.middle(seen, "input", {"name": name})
            env.unwrapped.page.mouse.click(x, y)
            seen = env.step("noop(0)")[0]
            assert ("checked" in reader.find(seen, "input", {"name": name})) is checked
        env.unwrapped.page.evaluate("() => frames[0].scrollTo(0, 40)")
        seen = env.step("noop(0)")[0]
        x, y = reader.middle(seen, "input", {"name": "inner"})
        env.unwrapped.page.mouse.click(x, y)
        assert "checked" in reader.find(env.step("noop(0)")[0], "input", {"name": "inner"})


def test_elements_in_shadow_roots_have_ids_and_the_focus(tmp_path: Path, reader: Reader) -> None:
    """`test_simple_shadowdom`, `test_nested_shadowdom`, `test_extract_focused_element_bid_through_shadowdom`."""
    with opened(tmp_path, _SHADOW) as (env, seen):
        field = reader.find(seen, "input", {"name": "deep"})["bid"]
        seen = env.step(f"click({field!r})")[0]
        assert (seen["last_action_error"], seen["focused_element_bid"]) == ("", field)


def test_hovering_and_leaving_change_the_page(tmp_path: Path, reader: Reader) -> None:
    """`test_hover`."""
    page = "<input type=button value=Rest onmouseover=\"this.value='Over'\" onmouseout=\"this.value='Rest'\" \
style='margin:60px'>"
    with opened(tmp_path, page, action_sets=("bid", "coord")) as (env, seen):
        button = reader.find(seen, "input", {"type": "button"})
        assert button["value"] == "Rest"
        seen = env.step(f"hover({button['bid']!r})")[0]
        assert reader.find(seen, "input", {"type": "button"})["value"] == "Over"
        seen = env.step("mouse_move(0, 0)")[0]
        assert seen["last_action_error"] == ""
        assert reader.find(seen, "input", {"type": "button"})["value"] == "Rest"


def test_filling_typing_and_pressing_keys(tmp_path: Path, reader: Reader) -> None:
    """`test_fill_type_press`, `test_key_press`."""
    with opened(tmp_path, _FIELDS, action_sets=("bid", "coord")) as (env, seen):
        first = reader.find(seen, "input", {"name": "first"})["bid"]
        last = reader.find(seen, "input", {"name": "last"})["bid"]
        chosen = "keyboard_press('End')\nkeyboard_down('Shift')\nkeyboard_press('Home')\nkeyboard_up('Shift')"
        copied, pasted = (f"keyboard_press('Control+a')\nkeyboard_press('Control+{key}')" for key in "cv")
        replies = [
            (f"fill({first!r}, 'Chris')", "Chris", ""),
            (f"fill({last!r}, 'Clav')", "Chris", "Clav"),
            (f"focus({first!r}) keyboard_type('Gérard')", "ChrisGérard", "Clav"),
            (f"click({last!r}) keyboard_insert_text('Jug')", "ChrisGérard", "ClavJug"),
            (f"clear({last!r}) keyboard_insert_text('Jug')", "ChrisGérard", "Jug"),
            (f"click({first!r})\n{chosen}\nkeyboard_press('Backspace')\nkeyboard_insert_text('G')", "G", "Jug"),
            (f"fill({first!r}, '')", "", "Jug"),
            ("keyboard_type('Jean')", "Jean", "Jug"),
            ("mouse_click(0, 0)", "Jean", "Jug"),
            ("keyboard_type('Reno')", "Jean", "Jug"),
            (f"fill({first!r}, 'Copy')\n{copied}\nclick({last!r})\n{pasted}", "Copy", "Copy"),
        ]
        for reply, *values in replies:
            seen = env.step(reply)[0]
            assert seen["last_action_error"] == "", reply
            held = [reader.find(seen, "input", {"name": name}).get("value", "") for name in ("first", "last")]
            assert held == values, reply


def test_going_to_a_page_and_back(tmp_path: Path) -> None:
    """`test_goto`."""
    (tmp_path / "other.html").write_text("<!doctype html><title>Other</title><p>Other</p>")
    with opened(tmp_path, _BOX) as (env, seen):
        start = seen["url"]
        other = start.replace("page.html", "other.html")
        for reply, url in ((f"goto({other!r})", other), ("go_back()", start), ("go_forward()", other)):
            seen = env.step(reply)[0]
            assert (seen["last_action_error"], seen["url"]) == ("", url)


def test_scrolling_moves_what_is_seen_and_is_no_error_at_an_end(tmp_path: Path, reader: Reader) -> None:
    """`test_scroll`."""
    page = "<input type=checkbox name=top><div style='height:3000px'></div><input type=checkbox name=bottom>"
    with opened(tmp_path, page, action_sets=("coord",)) as (env, seen):
        x, y = reader.middle(seen, "input", {"name": "top"})
        seen = env.step(f"mouse_click({x}, {y})")[0]
        assert "checked" in reader.find(seen, "input", {"name": "top"})
        places = {}
        for reply in ("scroll(0, -500)", "scroll(0, 500)"):
            seen = env.step(reply)[0]
            assert seen["last_action_error"] == "", reply
            places[reply] = [reader.middle(seen, "input", {"name": name}) for name in ("top", "bottom")]
        (top, bottom), (moved_top, moved_bottom) = places.values()
        assert top == (x, y)
        assert moved_top[1] < top[1] and moved_bottom[1] < bottom[1]


def test_a_mouse_that_is_held_down_and_let_go_clicks(tmp_path: Path, reader: Reader) -> None:
    """`test_mouse_down_up`."""
    with opened(tmp_path, _BOX, action_sets=("bid", "coord")) as (env, seen):
        x, y = reader.middle(seen, "input", {"name": "car"})
        press = f"mouse_down({x}, {y})\nmouse_up({x}, {y})"
        twice = f'mouse_down({x}, {y}, button="left")\nmouse_up({x}, {y}, "left")\n{press}'
        for reply, checked in ((press, True), (f"mouse_move(0, 0)\n{press}", False), (twice, False)):
            seen = env.step(reply)[0]
            assert seen["last_action_error"] == "", reply
            assert ("checked" in reader.find(seen, "input", {"name": "car"})) is checked, reply


def test_a_covered_element_is_not_clicked_in_silence(tmp_path: Path, reader: Reader) -> None:
    """`test_forced_actions` without force: here what is covered is not listed, and its id is refused."""
    with opened(tmp_path, _COVERED) as (env, seen):
        assert "bid" not in reader.find(seen, "input", {"name": "covered"})
        assert env.step("click('1')")[0]["last_action_error"] != ""
        assert env.unwrapped.page.evaluate("() => document.querySelector('[name=covered]').checked") is False


def test_ids_in_the_frames_of_a_page_with_many_begin_with_their_frame(tmp_path: Path, reader: Reader) -> None:
    """`test_iframe_bid`: thirty frames."""
    frames = [f"<iframe width=120 height=60 srcdoc='<input type=checkbox name=box{n}>'></iframe>" for n in range(30)]
    with opened(tmp_path, "".join(frames), viewport={"width": 1280, "height": 1000}) as (env, seen):
        for n in (0, 29):
            bid = reader.find(seen, "input", {"name": f"box{n}"})["bid"]
            assert bid.rstrip("0123456789") != ""
            seen = env.step(f"click({bid!r})")[0]
            assert seen["last_action_error"] == ""
            assert "checked" in reader.find(seen, "input", {"name": f"box{n}"})


def test_steps_are_counted(tmp_path: Path) -> None:
    """`test_max_episode_steps`; an empty reply takes no action."""
    with opened(tmp_path, _BOX, max_episode_steps=2) as (env, _):
        assert env.step("")[2:4] == (False, False)
        assert env.step("")[2:4] == (False, True)


def test_the_active_page_is_the_one_that_was_used_last(tmp_path: Path) -> None:
    """`test_active_page`."""
    with opened(tmp_path, _BOX) as (env, seen):
        assert (len(seen["open_pages_urls"]), seen["active_page_index"][0]) == (1, 0)
        for reply, pages, active in (
            ("new_tab()", 2, 1),
            ("tab_focus(0)", 2, 0),
            ("tab_focus(1)", 2, 1),
            ("tab_close()", 1, 0),
            ("tab_close()", 1, 0),
            ("new_tab()", 2, 1),
        ):
            seen = env.step(reply)[0]
            assert (len(seen["open_pages_urls"]), seen["active_page_index"][0]) == (pages, active), reply


@pytest.mark.parametrize("size", [(1600, 1200), (800, 800)])
def test_the_picture_has_the_size_of_the_window(size: tuple[int, int], tmp_path: Path) -> None:
    """`test_resizeable_window`, `test_extract_screenshot`."""
    with opened(tmp_path, _BOX, viewport={"width": size[0], "height": size[1]}) as (_, seen):
        assert seen["screenshot"].shape == (size[1], size[0], 3)


_FORM = """<h1>Simple form</h1><p>Text in a paragraph.</p>
<nonhtmltag onclick="0">Text in a tag of no standard</nonhtmltag>
<p style="display:none">Text that is hidden</p>
<form><label for=email>Email:</label> <input type=email name=email id=email>
<label><input type=checkbox name=news> Subscribe to newsletter</label> <input type=submit value=Submit></form>"""


_ALL = dict.fromkeys(
    ("with_visible", "with_clickable", "with_center_coords", "with_bounding_box_coords", "with_som"), True
)
"""Properties of each element that BrowserGym's texts of a page can tell."""


def test_the_accessibility_tree_is_read(tmp_path: Path, reader: Reader) -> None:
    """`test_extract_axtree_*`, `test_axtree_to_text`, `test_axtree_to_text_remove_redundant`."""
    with opened(tmp_path, _FORM) as (env, seen):
        text = reader.axtree(seen)
        assert "checkbox 'Subscribe to newsletter', checked='false'" in text
        assert "heading 'Simple form'" in text and "janice" not in text
        field = reader.find(seen, "input", {"name": "email"})["bid"]
        news = reader.find(seen, "input", {"name": "news"})["bid"]
        seen = env.step(f"fill({field!r}, 'janice@mail.com')\nclick({news!r})")[0]
        text = reader.axtree(seen)
        assert "janice@mail.com" in text
        assert "checkbox 'Subscribe to newsletter', focused, checked='true'" in text
        properties = seen["extra_element_properties"]
        with_all = reader.axtree(seen, extra_properties=properties, **_ALL)
        assert 'box="(' in with_all and 'center="(' in with_all and ", clickable, visible, som" in with_all
        assert "textbox 'Email:' value='janice@mail.com'" in with_all
        marked = reader.axtree(seen, extra_properties=properties, filter_som_only=True)
        assert "button 'Submit'" in marked and "Text in a paragraph" not in marked
        visible = reader.axtree(seen, extra_properties=properties, filter_visible_only=True)
        assert "RootWebArea" in visible and "button 'Submit'" in visible and "Text that is hidden" not in visible


def test_the_snapshot_is_read(tmp_path: Path, reader: Reader) -> None:
    """`test_extract_dom_*`, `test_dom_to_text`, `test_dom_has_bids_no_aria`."""
    with opened(tmp_path, _FORM) as (env, seen):
        assert "Subscribe to newsletter" in reader.dom(seen) and "janice" not in reader.dom(seen)
        field = reader.find(seen, "input", {"name": "email"})["bid"]
        seen = env.step(f"fill({field!r}, 'janice@mail.com')")[0]
        assert "janice@mail.com" in reader.dom(seen)
        properties = seen["extra_element_properties"]
        with_all = reader.dom(seen, extra_properties=properties, **_ALL)
        assert 'box="(' in with_all and 'center="(' in with_all
        assert 'clickable="" som="" type="submit" value="Submit" visible=""' in with_all
        marked = reader.dom(seen, extra_properties=properties, filter_som_only=True)
        assert 'type="submit" value="Submit"' in marked and "Text in a paragraph" not in marked
        visible = reader.dom(seen, extra_properties=properties, filter_visible_only=True)
        assert "Text in a tag of no standard" in visible and "Text that is hidden" not in visible
        bids = [node["browsergym_id"] for node in seen["axtree_object"]["nodes"] if "browsergym_id" in node]
        assert len(bids) == len(set(bids)) > 2


def test_tags_of_no_standard_are_marked_when_asked_for(tmp_path: Path, reader: Reader) -> None:
    """`test_tags_to_mark`."""
    for tags in ("standard_html", "all"):
        with opened(tmp_path, _FORM, tags_to_mark=tags) as (_, seen):
            told = reader.find(seen, "nonhtmltag", {})
            assert ("bid" in told) is (tags == "all")
    with pytest.raises(ValueError, match="tags_to_mark"):
        gymnasium.make("shoal/openended", task_kwargs={"start_url": "about:blank"}, tags_to_mark="some")


def test_an_experiment_of_its_own_loop_with_its_agent_and_its_task_runs(tmp_path: Path) -> None:
    """AgentLab's experiments are made after it."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.browser.browsergym_experiment", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=90,
        env={**os.environ, "PYTHONPATH": str(cache.modules("browsergym", _EXPERIMENTS))},
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told.pop("err_msg") is None
    (goal,) = told.pop("goal")
    assert goal["text"].startswith("Click the button")
    assert told.pop("actions")[0] == "click('99')"
    assert told == {"n_steps": 2, "cum_reward": 1.0, "terminated": True, "truncated": False, "pictures": 3}
