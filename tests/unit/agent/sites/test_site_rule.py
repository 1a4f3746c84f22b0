"""On which sites a job acts: which addresses are one site, and which actions the rule lets pass."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.agent.actions.registry import PRIMITIVES
from shoal.agent.sessions.sites.site_rule import SiteRule, site_rule
from shoal.agent.spec import JobSpec
from shoal.agent.support.sites.prospect import Prospect
from shoal.agent.support.sites.sites import named_site, site_of, sites_of
from shoal.agent.types import Action, Checkpoint, LoopItem
from shoal.agent.worker_messages import Work

HERE = "https://www.shop.example/p"
EVIL = "https://evil.example/p"


@pytest.mark.parametrize(
    ("url", "other", "one"),
    [
        (HERE, "http://shop.example:8080/", True),
        (HERE, "https://pay.shop.example/", True),
        (HERE, "https://shop.example.evil.example/", False),
        (HERE, "https://shop.example@evil.example/", False),
        (HERE, "https://notshop.example/", False),
        (HERE, "https://SHOP.example./", True),
        (HERE, "data:text/html,x", False),
        (HERE, "about:blank", False),
        (HERE, "", False),
        ("https://a.co.uk/", "https://b.co.uk/", False),
        ("https://a.co.uk/", "https://www.a.co.uk/", True),
        ("https://ada.github.io/", "https://eve.github.io/", False),
        ("https://github.io/", "https://eve.github.io/", False),
        ("http://intern.corp/", "http://wiki.intern.corp/", True),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8001/", False),
        ("http://127.0.0.1:8000/", "http://2130706433:8000/", True),
        ("http://127.0.0.1/", "http://127.0.0.1:80/x", True),
        ("http://localhost:8000/", "http://127.0.0.1:8000/", False),
        ("http://localhost:8000/", "http://evil.localhost:8000/", False),
        ("http://[::1]:8000/", "http://[0:0::1]:8000/", True),
    ],
)
def test_which_addresses_are_one_site(url: str, other: str, one: bool) -> None:
    assert sites_of([url]).cover(other) is one


@pytest.mark.parametrize(
    ("text", "url", "covered"),
    [
        ("shop.example", "https://a.b.shop.example/", True),
        ("www.shop.example", "https://shop.example/", False),
        ("shop.example:8443", "https://shop.example:8443/", True),
        ("shop.example:8443", "https://shop.example/", False),
        ("shop.example:443", "https://shop.example/", True),
        ("localhost", "http://localhost:1234/", True),
        ("localhost", "http://a.localhost/", False),
        ("10.0.0.1", "http://10.0.0.1:81/", True),
        ("[::1]:80", "http://[::1]/", True),
    ],
)
def test_what_a_site_that_a_job_names_covers(text: str, url: str, covered: bool) -> None:
    assert named_site(text).covers(url) is covered


@pytest.mark.parametrize("text", ["com", "github.io", "https://shop.example", "a b", "", "shop.example:0", "*"])
def test_what_names_no_site(text: str) -> None:
    with pytest.raises(ValueError, match=r"host|suffix|port"):
        named_site(text)


def spec(**fields: Any) -> JobSpec:
    return JobSpec.model_validate({"url": HERE, "goal": "buy"} | fields)


def test_a_job_acts_on_the_sites_of_its_own_addresses() -> None:
    steps = [{"open": "https://id.example/form"}, {"fill": "#a", "value": "b"}]
    logged_in = spec(login={"url": "https://login.example/", "steps": steps})
    assert str(logged_in.acting_sites(None, 0)) == "shop.example, login.example, id.example"
    item = LoopItem(0, "https://partner.example/1", is_link=True, page="https://lists.example/2")
    asked = spec(loop={"values": ["https://partner.example/1"]})
    assert str(asked.acting_sites(item, 1)) == "shop.example, partner.example, lists.example"
    assert str(asked.acting_sites(None, 0)) == "shop.example"
    assert str(spec().acting_sites(item, 1)) == "shop.example", "a model planned this loop, and may have been told to"
    assert str(spec(sites=["a.example", "b.example:1"]).acting_sites(item, 1)) == "a.example, b.example:1"


def rule(**fields: Any) -> SiteRule:
    return site_rule(Work(1, 1, 1, "t", 1, 0, spec(**fields), None, fields.get("checkpoint"), None, None))


ON_FIELD = {"field": True}
ON_BUTTON = {"sends": True}


@pytest.mark.parametrize(
    ("action", "prospect", "allowed"),
    [
        (Action("fill", {"bid": "1", "value": "x"}), {**ON_FIELD}, False),
        (Action("clear", {"bid": "1"}), {**ON_FIELD}, False),
        (Action("select_option", {"bid": "1", "options": "x"}), {**ON_FIELD}, False),
        (Action("check", {"bid": "1"}), {**ON_FIELD}, False),
        (Action("upload_file", {"bid": "1", "file": "cv.pdf"}), {**ON_FIELD}, False),
        (Action("press", {"bid": "1", "key_comb": "Enter"}), {}, False),
        (Action("press", {"bid": "1", "key_comb": "a"}), {}, False),
        (Action("press", {"bid": "1", "key_comb": "ArrowDown"}), {**ON_FIELD}, True),
        (Action("keyboard_type", {"text": "Ada"}), {}, False),
        (Action("keyboard_insert_text", {"text": "Ada"}), {}, False),
        (Action("keyboard_press", {"key_comb": "PageDown"}), {}, True),
        (Action("keyboard_press", {"key_comb": "q"}), {}, False),
        (Action("enter_verification_code", {"bid": "1"}), {}, False),
        (Action("drag_and_drop", {"from_bid": "1", "to_bid": "2"}), {}, False),
        (Action("python", {"code": "1"}), {}, False),
        (Action("click", {"bid": "1"}), {}, True),
        (Action("click", {"bid": "1"}), {"links": (EVIL,)}, True),
        (Action("click", {"bid": "1"}), {**ON_FIELD}, False),
        (Action("click", {"bid": "1"}), {**ON_BUTTON, "forms": (EVIL,)}, False),
        (Action("click", {"bid": "1"}), {**ON_BUTTON, "forms": (HERE,)}, False),
        (Action("mouse_click", {"x": 1, "y": 1}), {}, True),
        (Action("mouse_click", {"x": 1, "y": 1}), {**ON_BUTTON}, False),
        (Action("hover", {"bid": "1"}), {**ON_FIELD}, True),
        (Action("scroll", {"dx": 0, "dy": 9}), {}, True),
        (Action("go_back", {}), {}, True),
        (Action("complete", {}), {}, True),
    ],
)
def test_elsewhere_pages_are_read_and_links_followed_and_no_more(
    action: Action, prospect: dict[str, Any], allowed: bool
) -> None:
    refused = rule().refusal(action, Prospect((EVIL,), **prospect))
    assert (refused is None) is allowed, refused
    if refused is not None:
        assert "evil.example" in refused.message and "`sites`" in refused.message and "shop.example" in refused.message
    here = {name: value for name, value in prospect.items() if name != "forms"}
    assert rule().refusal(action, Prospect((HERE,), **here)) is None
    assert rule(sites=["shop.example", "evil.example"]).refusal(action, Prospect((EVIL,), **prospect)) is None


def test_every_action_that_may_send_has_its_place_in_the_rule() -> None:
    """A new action is refused elsewhere until somebody says that a page gets nothing, or a click, by it."""
    gives: dict[str, set[str]] = {}
    for primitive in PRIMITIVES:
        gives.setdefault(primitive.gives, set()).add(primitive.name)
    mouse = {f"mouse_{name}" for name in ("down", "up", "click", "dblclick")}
    assert gives["click"] == {"click", "dblclick", "download"} | mouse
    quiet = {primitive.name for primitive in PRIMITIVES if primitive.sends == "never"}
    assert gives["nothing"] - quiet == {"focus", "go_back", "go_forward", "reload", "solve_captcha"}


@pytest.mark.parametrize("documents", [(HERE, EVIL), (EVIL, HERE), (HERE, EVIL, HERE)])
def test_a_frame_of_another_site_is_elsewhere_and_so_is_one_of_ours_within_it(documents: tuple[str, ...]) -> None:
    action = Action("fill", {"bid": "a1", "value": "4111 1111 1111 1111"})
    assert rule().refusal(action, Prospect(documents, field=True)) is not None
    assert rule(sites=["shop.example", "evil.example"]).refusal(action, Prospect(documents, field=True)) is None


@pytest.mark.parametrize(
    ("action", "prospect"),
    [
        (Action("click", {"bid": "1"}), {"sends": True}),
        (Action("fill", {"bid": "1", "value": "x"}), {"field": True}),
        (Action("press", {"bid": "1", "key_comb": "Enter"}), {"field": True}),
        (Action("keyboard_press", {"key_comb": "Enter"}), {"field": True}),
    ],
)
def test_a_form_that_sends_elsewhere_is_elsewhere(action: Action, prospect: dict[str, Any]) -> None:
    refused = rule().refusal(action, Prospect((HERE,), forms=(HERE, "https://collect.evil.example/"), **prospect))
    assert refused is not None and "evil.example" in refused.message
    assert rule().refusal(action, Prospect((HERE,), forms=(HERE,), **prospect)) is None


def test_a_click_beside_a_form_is_no_sending() -> None:
    assert rule().refusal(Action("click", {"bid": "1"}), Prospect((HERE,), field=True, forms=(EVIL,))) is None


@pytest.mark.parametrize(
    ("url", "listed", "allowed"),
    [
        ("https://www.shop.example/search?q=Ada", False, True),
        ("shop.example/a", False, True),
        ("about:blank", False, True),
        (EVIL, True, True),
        (EVIL, False, False),
        ("evil.example/p", False, False),
        ("https://named.example/terms", False, True),
        ("https://named.example/terms/#1", False, True),
        ("https://named.example/terms?x=Ada", False, False),
        ("https://host.example/", False, True),
        ("https://host.example/Ada", False, False),
    ],
)
def test_an_address_elsewhere_has_to_stand_on_the_page_or_in_the_job(url: str, listed: bool, allowed: bool) -> None:
    words = {"goal": "Compare https://named.example/terms with host.example."}
    refused = rule(**words).refusal(Action("goto", {"url": url}), Prospect((HERE,), listed=listed))
    assert (refused is None) is allowed


def test_a_file_is_not_fetched_from_a_composed_address() -> None:
    action = Action("upload_file", {"bid": "1", "file": ["cv.pdf", "https://evil.example/?q=Ada"]})
    assert rule().refusal(action, Prospect((HERE,), field=True)) is not None
    assert rule(data={"cv": "https://evil.example/?q=Ada"}).refusal(action, Prospect((HERE,), field=True)) is None


SAID = "Jane Doe, +49 (30) 1234"
CARRIERS = (
    *("q=Jane+Doe%2C+%2B49+%2830%29+1234", "q=jane-doe-49-30-1234", "JANEDOE49301234", "q=43210394eodenaj"),
    *("q=SmFuZSBEb2UsICs0OSAoMzApIDEyMzQ=", "q=4a616e6520446f652c202b343920283330292031323334"),
    "q=Jane%2520Doe%252C%2520%252B49%2520(30)%25201234",
)


@pytest.mark.parametrize("tail", CARRIERS)
def test_a_link_that_carries_what_was_typed_is_not_followed_elsewhere(tail: str) -> None:
    held = rule()
    link = f"https://evil.example/?x={tail}"
    goto, click = Action("goto", {"url": link}), Action("click", {"bid": "1"})
    assert held.refusal(goto, Prospect((HERE,), listed=True)) is None, "nothing was typed: the page cannot know it"
    held.note({"bid": "1", "value": SAID})
    refused = held.refusal(goto, Prospect((HERE,), listed=True))
    assert refused is not None and "Jane" not in refused.message
    assert held.refusal(click, Prospect((HERE,), links=(link,))) is not None
    assert held.refusal(click, Prospect((HERE,), links=(f"{HERE}?x={tail}",))) is None
    assert held.refusal(click, Prospect((HERE,), links=(EVIL,))) is None


def test_short_texts_stand_in_addresses_by_chance() -> None:
    held = rule()
    held.note({"value": "Rome"})
    assert held.refusal(Action("click", {"bid": "1"}), Prospect((HERE,), links=("https://a.example/rome",))) is None


def test_a_second_attempt_takes_the_job_s_data_for_typed() -> None:
    work = Work(1, 1, 1, "t", 2, 0, spec(data={"a": ["Jane Doe"]}), None, Checkpoint(), None, None)
    link = Prospect((HERE,), links=("https://evil.example/Jane-Doe",))
    assert site_rule(work).refusal(Action("click", {"bid": "1"}), link) is not None


def test_a_session_of_an_item_takes_the_job_s_data_for_typed() -> None:
    """Its page may know from the session of the loop what was typed there."""
    item = LoopItem(0, f"{HERE}/1", is_link=True)
    work = Work(1, 1, 1, "t", 1, 1, spec(data={"a": "Jane Doe"}), item, None, None, None)
    link = Prospect((HERE,), links=("https://evil.example/Jane-Doe",))
    assert site_rule(work).refusal(Action("click", {"bid": "1"}), link) is not None


def test_what_is_no_web_address_has_no_site() -> None:
    assert [site_of(url) for url in ("about:blank", "file:///etc/passwd", "javascript:x", "http://[")] == [None] * 4
