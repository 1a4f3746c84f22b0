"""When actions are enough by themselves, and when the page has to be read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shoal.agent.error_info import ErrorInfo
from shoal.agent.models.decisions.expectation import changed_page, expected, leads_to, took_place
from shoal.agent.types import Action, ActionResult, Effect
from tests.unit.agent.model.pages import el, page

CLICK = Action("click", {"bid": "4"})
CHANGED = Effect(dom_changed=True, appeared=('link "Edit"',), appeared_count=1)


@pytest.mark.parametrize(
    "effect",
    [CHANGED, Effect(url="https://shop.example/x"), Effect(value="7"), Effect(focus="4"), Effect(download=True)],
)
def test_an_action_that_changed_something_took_place(effect: Effect) -> None:
    assert took_place([ActionResult(CLICK, effect=effect)])


@pytest.mark.parametrize(
    "effect",
    [
        Effect(unchanged=True),
        Effect(dom_changed=True, appeared=('alert "Could not save"',), appeared_count=1),
        Effect(dom_changed=True, appeared=('alertdialog "Sure?"', 'button "Yes"'), appeared_count=2),
        Effect(dom_changed=True, appeared=('status "Saving failed"',), appeared_count=1),
        Effect(dom_changed=True, invalid=('textbox "E-mail"',)),
        Effect(dom_changed=True, dialog=True),
    ],
)
def test_what_the_page_says_of_an_action_has_to_be_read(effect: Effect) -> None:
    assert not took_place([ActionResult(CLICK, effect=effect)])
    assert not took_place([ActionResult(CLICK, effect=effect), ActionResult(CLICK, effect=CHANGED)]) or effect.unchanged


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("https://shop.example/basket?added=7", "/basket"),
        ("https://shop.example/Basket", "basket"),
        ("https://shop.example/search?q=drill", "/search?q=drill"),
        ("https://shop.example/list?page=2&sort=price", "sort=price"),
        ("https://shop.example/list?page=2", "?page=2"),
        ("https://shop.example/#/basket", "/basket"),
        ("https://shop.example/app#!/basket", "#!/basket"),
        ("https://basket.example/", "basket.example"),
    ],
)
def test_an_address_leads_to_what_it_names(url: str, part: str) -> None:
    assert leads_to(url, part)


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("https://shop.example/login?next=/basket", "/basket"),
        ("https://shop.example/login?next=/basket#top", "/basket"),
        ("https://shop.example/login?next=%2Fbasket&from=basket", "basket"),
        ("https://shop.example/error?from=https://shop.example/basket", "shop.example/basket"),
        ("https://shop.example/login#from=/basket", "/basket"),
        ("https://shop.example/", "/basket"),
    ],
)
def test_a_login_that_leads_on_to_it_later_is_not_there(url: str, part: str) -> None:
    assert not leads_to(url, part)


def test_a_failed_action_did_not_take_place() -> None:
    error = ErrorInfo("ActionTimeout", "action_timeout", "it took too long", retryable=False)
    assert not took_place([ActionResult(CLICK, error), ActionResult(CLICK, effect=CHANGED)])
    assert not took_place([])


def test_words_beyond_a_cut_view_are_looked_for_after_actions_that_change_the_page() -> None:
    cut = replace(page(el("1", "button", "Add")), cut=True)
    words = expected({"text": "Added to the basket"}, cut, {}, (CLICK,))
    assert words is not None
    assert words.beyond_view  # they may stand there already, out of the view
    whole = expected({"text": "Added to the basket"}, replace(cut, cut=False), {}, (CLICK,))
    assert whole is not None
    assert not whole.beyond_view
    assert expected({"element": "Add"}, cut, {}, (CLICK,)) is None
    assert changed_page([ActionResult(CLICK, effect=CHANGED)])
    assert not changed_page([ActionResult(Action("scroll", {"dy": 400}), effect=Effect(dom_changed=True))])
