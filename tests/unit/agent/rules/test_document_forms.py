"""Forms of a document beside their fields: labels, groups, headings, messages, and what covers the page."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from shoal.agent.browser import Context
from shoal.agent.page.from_browser import SCRIPT
from shoal.agent.page.from_html import page_from_html
from shoal.agent.policies.rules.forms.document_forms import (
    STATE_JS,
    FormState,
    form_document,
    read_form_page,
    read_opening_page,
)
from shoal.agent.policies.rules.forms.form import DocumentField, FormDocument, FormNotice, Overlay
from shoal.agent.types import Element, Observation
from tests.page_answers import page_answer


def document(html: str, errors: Mapping[str, str] = {}, middle: str = "") -> FormDocument:
    """The forms of a page.

    Args:
        errors: the browser's own complaints, by the names of fields.
        middle: the id of what lies in the middle of the window.
    """
    page = page_from_html(f"<!doctype html><title>T</title><body>{html}", "https://forms.test/")
    numbers = {el: number for number, el in enumerate(page.elements)}
    fields = [el for el in page.elements if el.tag in ("input", "select", "textarea")]
    state = FormState(
        {numbers[el]: numbers.get(next(el.iterancestors("form"), None), -1) for el in fields},
        {numbers[el]: errors.get(el.get("name") or "", "") for el in fields},
        next((numbers[el] for el in page.elements if middle and el.get("id") == middle), -1),
        5.0,
    )
    return form_document(page, state)


def only(html: str) -> DocumentField:
    """The only field of a page."""
    (field,) = document(html).fields
    return field


@pytest.mark.parametrize(
    ("html", "label"),
    [
        ("<label for=a>Your <b>city</b></label><input id=a>", "Your city"),
        ("<label>City <select><option>Bern</select></label>", "City"),
        ("<label for=gone>City</label><p><b>Town</b> <input></p>", "Town"),
        ("<input aria-label=' City '>", "City"),
        ("<i id=l>City</i><i id=m hidden>no</i><input aria-labelledby='l m'>", "City"),
        ("<table><tr><td>City<td><input></table>", "City"),
        ("<p>City: <span><input></span>", "City:"),
        (f"<p>{'City ' * 20}<input>", ""),
        ("<p>City <button>Find</button><input>", ""),
        ("<label for=a>One</label><label for=a>Two</label><input id=a>", "One Two"),
    ],
)
def test_a_field_is_called_by_its_label_or_by_what_stands_right_before_it(html: str, label: str) -> None:
    assert only(html).label == label


def test_a_field_states_its_group_its_form_and_what_it_requires() -> None:
    one, two, three = document(
        "<form></form><form><fieldset><legend> Ship to </legend><input name=a required autocomplete='shipping city'>"
        "</fieldset><div role=radiogroup aria-label=Size><input type=radio name=s value=L></div></form>"
        "<select name=b aria-required=true style='visibility:hidden'></select><input type=hidden name=h>",
        errors={"a": "Fill this in."},
    ).fields
    assert (one.group, one.form, one.required, one.autocomplete) == ("Ship to", 1, True, "shipping city")
    assert (one.native_error, one.visible) == ("Fill this in.", True)
    assert (two.group, two.type, two.value, two.native_error) == ("Size", "radio", "L", "")
    assert (three.tag, three.type, three.form, three.required, three.visible) == ("select", "", -1, True, False)


@pytest.mark.parametrize(
    ("html", "error"),
    [
        ("<input aria-errormessage=e><p id=e>Too short", "Too short"),
        ("<input aria-invalid=true aria-describedby=e><p id=e>Too short", "Too short"),
        ("<input aria-describedby=e><p id=e>As in your passport", ""),
        ("<div><input><span class=field-error>Too short <button>×</button></span></div>", "Too short"),
        ("<div><input><span class=fieldError>Too short</span></div>", "Too short"),
        ("<div><input><span class=error>*</span></div>", ""),
        ("<div><input><span class=error hidden>Too short</span></div>", ""),
        ("<div><p><input></p><p><input></p><p class=error>Too short</p></div>", ""),
    ],
)
def test_the_message_beside_a_field_is_its_own(html: str, error: str) -> None:
    assert document(f"<form>{html}</form>").fields[0].error == error


@pytest.mark.parametrize(
    ("html", "notice"),
    [
        ("<p class='alert alert-danger'>Card refused</p>", FormNotice("Card refused", "error")),
        ("<p class='text-danger'>Card refused</p>", None),
        ("<p role=alert>Card refused</p>", FormNotice("Card refused", "alert")),
        ("<p role=status>One moment</p>", FormNotice("One moment", "status")),
        ("<p id=thank-you>We got it</p>", FormNotice("We got it", "success")),
        ("<aside><p role=alert>Sale ends</p></aside>", FormNotice("Sale ends", "alert", aside=True)),
        ("<p role=alert hidden>Card refused</p>", None),
        ("<div class=error><input></div>", None),
        ("<button class=danger>Delete</button>", None),
        (f"<p role=alert>{'Long ' * 100}</p>", None),
    ],
)
def test_what_is_marked_as_a_message_is_one(html: str, notice: FormNotice | None) -> None:
    assert document(html).messages == (() if notice is None else (notice,))


def test_short_plain_texts_in_and_around_a_form_are_notes() -> None:
    notices = document(
        "<div><p>Before</p><form><p>Within <label>City <input></label></p><span>Beside</span><a href=/x><b>Go</b></a>"
        f"</form></div><p>{'Long ' * 60}</p><div><p>After</p><form><p>Another's</p></form></div>"
    ).messages
    assert notices == tuple(FormNotice(text, "note") for text in ("Beside", "Before", "Another's", "After"))
    lone = document("<div><p>Say who you are</p><input><button>Send</button></div>").messages
    assert lone == (FormNotice("Say who you are", "note"),)


@pytest.mark.parametrize(
    ("html", "heading"),
    [
        ("<form aria-label='Log in'><h2>Welcome</h2></form>", "Log in"),
        ("<h1>Shop</h1><form><h2>Welcome</h2></form>", "Welcome"),
        ("<h1>Shop</h1><section><h2>News</h2><div><h3>Join</h3></div><p>Now<div><form></form></div></section>", "Join"),
        ("<h1>Shop</h1><form><h2>One</h2></form><form></form>", ""),
    ],
)
def test_a_form_has_the_heading_over_it(html: str, heading: str) -> None:
    assert document(html).forms[-1].heading == heading


def test_a_form_tells_where_it_is_sent_and_by_which_buttons() -> None:
    (form,) = document(
        "<form action=/go method=POST name=n id=i class='c d' role=search><button>Send</button><button type=button>No"
        "</button><input type=submit value=Go><button type=submit hidden>Never</button><button></button></form>"
    ).forms
    assert (form.action, form.method, form.named) == ("/go", "post", "n i c d search")
    assert form.send == ("Send", "Go")


def test_what_lies_over_the_middle_of_the_window_is_told_with_its_buttons() -> None:
    html = (
        "<div style='position:fixed'><section aria-modal=true>We use cookies.<input type=checkbox>"
        "<button aria-label=Close></button><a href=/p>Policy</a><button hidden aria-label=Never></button>"
        "<input type=submit value=Accept><p id=m>Hm</p></section></div><p id=n>Page</p>"
    )
    assert document(html, middle="m").overlay == Overlay(
        "We use cookies.PolicyHm", ("Close", "Policy", "Accept"), fields=1
    )
    assert document(html, middle="n").overlay is None
    assert document(html).overlay is None
    page = document("<h1>Shop</h1><p hidden>x<div aria-busy=true>Wait</div>")
    assert (page.heading, page.text, page.busy, page.loaded) == ("Shop", "Shop Wait", True, 5.0)


def test_each_choice_of_a_list_is_text_of_the_page_whichever_is_chosen() -> None:
    html = "<form>Country<select><option>Peru<option selected>Chad</select><p style='opacity:0'>Sent<p hidden>No</form>"
    assert document(html).text == "Country Peru Chad Sent"


@pytest.mark.parametrize("covered", [False, True])
async def test_to_open_an_item_the_tree_is_taken_only_where_something_covers_the_page(covered: bool) -> None:
    html = "<h1>Shop 5</h1><dialog open>We use cookies.<button>Fine</button></dialog><i aria-busy=true>…</i>"
    known = len(page_from_html(html, "https://forms.test/").elements)
    state = {"fields": {}, "known": known, "middle": 5, "covered": covered, "loaded": 5.0}
    state |= {"heading": "Shop  5", "busy": True}
    asked = []

    async def read(script: str, arg: Any = None) -> Any:
        asked.append(script)
        return state if script == STATE_JS else page_answer(html, "https://forms.test/", arg)

    seen = Observation("https://forms.test/", "", Element("", "body"))
    page = await read_opening_page(cast(Context, SimpleNamespace(read=read)), seen)
    assert (page.heading, page.busy) == ("Shop 5", True)
    assert page.overlay == (Overlay("We use cookies.Fine", ("Fine",), 0) if covered else None)
    assert (SCRIPT in asked) is covered


async def test_what_a_later_document_tells_is_not_joined_with_the_forms_of_an_earlier_one() -> None:
    """A form that was sent leads on at any moment; when its page was loaded says whether another one answered."""
    page = page_from_html("<!doctype html><h1>Thanks</h1>", "https://forms.test/")
    loads = iter([0, len(page.elements)])

    async def read(script: str, arg: Any = None) -> Any:
        if script == SCRIPT:
            return page_answer("<!doctype html><h1>Thanks</h1>", "https://forms.test/", arg)
        known = next(loads)
        return {"fields": {}, "known": known, "middle": -1, "loaded": 7.0 if known else 5.0}

    seen = Observation("https://forms.test/", "", Element("", "body"))
    assert (await read_form_page(cast(Context, SimpleNamespace(read=read)), seen)).loaded == 7.0
    assert next(loads, None) is None, "the page is read again"


def test_many_forms_cost_no_more_than_their_number() -> None:
    """A page of 1,000 forms took 17 s where each looked at the siblings of all."""
    few, many = (_seconds("<form><input><p>note</p></form>" * count) for count in (500, 4_000))
    assert many < 30 * few


def _seconds(html: str) -> float:
    page = page_from_html(f"<!doctype html><body>{html}", "https://forms.test/")
    owners = {number: number - 1 for number, el in enumerate(page.elements) if el.tag == "input"}
    began = time.process_time()
    read = form_document(page, FormState(owners, dict.fromkeys(owners, ""), -1, 5.0))
    assert {message.text for message in read.messages} == {"note"}
    return time.process_time() - began
