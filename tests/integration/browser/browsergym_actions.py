"""BrowserGym's own action sets decide what may be called: subsets, several calls in a reply, functions of one's own.

Its package comes from PyPI. `scripts/test-gym` runs this.
"""

from __future__ import annotations

from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from tests.integration.browser.test_gym_options import nodes, opened
from tests.sites.registry import cache

_PAGE = (
    "<input id=name><button onclick='document.title = \"Sent\"'>Send</button><iframe srcdoc='<input id=in>'></iframe>"
)


@pytest.fixture
def action_set(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The class `HighLevelActionSet`."""
    monkeypatch.syspath_prepend(str(cache.modules("browsergym-core", ("browsergym-core==0.14.3", "pyparsing==3.2.5"))))
    return import_module("browsergym.core.action.highlevel").HighLevelActionSet


def write_name(bid: str, text: str) -> None:
    """Writes a text in capitals.

    Examples:
        write_name('12', 'Ann')
    """
    get_elem_by_bid(page, bid).fill(text.upper())  # type: ignore[name-defined]  # noqa: F821
    if text == "nobody":
        report_infeasible_instructions("no name")  # type: ignore[name-defined]  # noqa: F821
    send_message_to_user(f"wrote {text}")  # type: ignore[name-defined]  # noqa: F821


def bid_of(seen: dict[str, Any], tag: str) -> str:
    return next(given["bid"] for name, given, _ in nodes(seen) if name == tag and "bid" in given)


def test_what_is_not_in_its_subsets_is_refused(tmp_path: Path, action_set: Any) -> None:
    mapping = action_set(["bid"]).to_python_code
    with opened(tmp_path, _PAGE, action_mapping=mapping) as (env, seen):
        seen = env.step("goto('about:blank')")[0]
        assert seen["last_action_error"] == "NameError: Invalid action type 'goto'."
        assert seen["url"].endswith("page.html")
        seen = env.step(f"I press it: click({bid_of(seen, 'BUTTON')!r}) and wait")[0]
        assert (seen["last_action_error"], seen["open_pages_titles"]) == ("", ("Sent",))


def test_a_reply_of_several_calls_is_refused_where_one_is_allowed(tmp_path: Path, action_set: Any) -> None:
    with opened(tmp_path, _PAGE, action_mapping=action_set(["bid"], multiaction=False).to_python_code) as (env, seen):
        click = f"click({bid_of(seen, 'BUTTON')!r})"
        seen = env.step(f"{click}\n{click}")[0]
        assert "only single-actions are allowed" in seen["last_action_error"]
        assert seen["open_pages_titles"] == ("Page",)
        assert env.step(click)[0]["open_pages_titles"] == ("Sent",)


def test_a_function_of_ones_own_is_run_between_the_others(tmp_path: Path, action_set: Any) -> None:
    mapping = action_set(["bid", "custom"], custom_actions=[write_name]).to_python_code
    with opened(tmp_path, _PAGE, action_mapping=mapping) as (env, seen):
        name, button = bid_of(seen, "INPUT"), bid_of(seen, "BUTTON")
        seen = env.step(f"write_name({name!r}, 'Ann')\nclick({button!r})")[0]
        assert (seen["last_action_error"], seen["open_pages_titles"]) == ("", ("Sent",))
        assert next(given["value"] for _, given, _ in nodes(seen) if given.get("id") == "name") == "ANN"
        assert seen["chat_messages"][-1]["message"] == "wrote Ann"
        shown = {bid for bid, given in seen["extra_element_properties"].items() if given["clickable"]}
        inner = next(bid for bid in shown if bid.startswith("a"))  # in the frame
        assert env.step(f"write_name({inner!r}, 'Bea')")[0]["last_action_error"] == ""
        assert env.unwrapped.page.evaluate("() => frames[0].document.querySelector('input').value") == "BEA"
        assert env.step("write_name('999', 'Ann')")[0]["last_action_error"] != ""
        assert env.step(f"write_name({name!r}, 'nobody')")[2] is True


def test_a_mapping_of_another_kind_rewrites_the_reply(tmp_path: Path) -> None:
    with closing(
        gymnasium.make(
            "shoal/openended", task_kwargs={"start_url": "about:blank"}, action_mapping=lambda reply: f"noop({reply})"
        )
    ) as env:
        env.reset()
        assert env.step("1")[0]["last_action_error"] == ""
