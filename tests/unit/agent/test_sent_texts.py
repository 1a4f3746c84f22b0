"""Texts of fields in the requests that a page sends."""

from __future__ import annotations

import json

import pytest

from shoal.agent.chromium.acting.reach.sent_texts import _holds
from shoal.agent.support.sites.prospect import Unchosen

FORM, JSON, PARTS = "application/x-www-form-urlencoded", "application/json", "multipart/form-data; boundary=x1"
PART = '--x1\r\nContent-Disposition: form-data; name="town"\r\n\r\n{}\r\n--x1--\r\n'
HOLDS = {
    "a form": (FORM, "town=Z%C3%BCrich+1&name=Ann", True),
    "a form with a part of it": (FORM, "town=Z%C3%BCrich+12", False),
    "a form with JSON in it": (FORM, "all=%7B%22town%22%3A%22Z%C3%BCrich+1%22%7D", True),
    "JSON": (JSON, json.dumps({"entries": [{"town": "Zürich 1"}]}), True),
    "JSON within JSON": (JSON, json.dumps({"body": json.dumps(["Zürich  1"])}), True),
    "JSON without it": (JSON, json.dumps({"town": None, "told": "Zürich 1 is none"}), False),
    "parts": (PARTS, PART.format("Zürich 1"), True),
    "parts without it": (PARTS, PART.format(""), False),
    "text": ("text/plain", "Zürich 1", True),
    "nothing": ("", "", False),
}


@pytest.mark.parametrize(("kind", "body", "holds"), HOLDS.values(), ids=HOLDS)
def test_a_request_holds_a_text_as_a_whole_value(kind: str, body: str, holds: bool) -> None:
    request = {"url": "http://a.example/save?q=1", "headers": {"Content-Type": kind}, "postData": body}
    assert _holds(request, [Unchosen("combobox", "Zürich 1", ())]) is holds


def test_as_many_values_are_wanted_as_controls_hold_the_text() -> None:
    field = Unchosen("combobox", "7", (), alike=2)
    for body, holds in (({"a": 7, "b": "7"}, True), ({"a": 7, "b": None}, False)):
        asked = {"url": "http://a.example/?x=8", "headers": {"content-type": JSON}, "postData": json.dumps(body)}
        assert _holds(asked, [field]) is holds
