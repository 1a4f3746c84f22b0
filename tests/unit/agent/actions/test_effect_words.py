"""The effect of an action, in words."""

from __future__ import annotations

import pytest

from shoal.agent.actions.effect_words import effect_words
from shoal.agent.types import Effect


@pytest.mark.parametrize(
    ("effect", "words"),
    [
        (Effect(), ()),
        (Effect(dom_changed=True, focus="3"), ()),
        (Effect(unchanged=True), ("nothing changed",)),
        (Effect(url="https://a.example/b", new_tab=True), ("the page is now https://a.example/b", "a new tab opened")),
        (Effect(dialog=True, download=True), ("a dialog came", "a file was downloaded")),
        (
            Effect(fields=(('textbox "City"', "Ulm"), ('checkbox "A"', "checked")), fields_count=4),
            ("textbox \"City\" now holds 'Ulm'", 'checkbox "A" is now checked', "2 more fields changed"),
        ),
        (Effect(appeared=('"Saved"',), appeared_count=1), ('1 element appeared: "Saved"',)),
        (
            Effect(went=('link "A"', 'link "B"'), went_count=7, invalid=('textbox "Email"',)),
            ('7 elements went: link "A", link "B", …', 'marked as wrong: textbox "Email"'),
        ),
        (
            Effect(appeared=(f'"{"x" * 99}"',), appeared_count=1, invalid=(f'textbox "{"y" * 99}"',)),
            (f'1 element appeared: "{"x" * 57}…"', f'marked as wrong: textbox "{"y" * 49}…"'),
        ),
        (
            Effect(fields=((f'textbox "{"y" * 99}"', "z" * 101),), fields_count=1),
            (f"textbox \"{'y' * 49}…\" now holds '{'z' * 99}…'",),
        ),
        (Effect(value=""), ("the field now holds ''",)),
        (Effect(value="x" * 101), (f"the field now holds '{'x' * 99}…'",)),
    ],
)
def test_each_change_is_a_clause(effect: Effect, words: tuple[str, ...]) -> None:
    assert effect_words(effect) == words
