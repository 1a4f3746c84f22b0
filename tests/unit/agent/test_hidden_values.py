"""Values are found in every spelling that a page, an address or a script may give them, and fast."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal.agent.redaction.hidden_values import HiddenValues
from shoal.agent.redaction.spellings import is_weak
from tests.spelled import SPELLED

PASSWORD = 'Tr0ub4dor & "3"/ü€'
REFERENCE = "secret:SHOP"


@pytest.mark.parametrize("name", SPELLED)
@pytest.mark.parametrize(
    "value", [PASSWORD, "hunter2-hunter2", "päßwörter", "a+b=c/d?e", "eyJhbGciOi.J9", "😀😀secret"]
)
def test_a_value_is_hidden_however_it_is_spelled(name: str, value: str) -> None:
    spelled = SPELLED[name](value)
    shown = HiddenValues({value: REFERENCE}).text(f"before {spelled} behind")
    assert shown.startswith("before ") and shown.endswith(" behind")
    left = shown.removeprefix("before ").removesuffix(" behind")
    # Of base64 with other bytes around it, characters that hold none of the value may stay.
    assert REFERENCE in left and len(left) <= len(REFERENCE) + 8, (spelled, shown)


@given(
    value=st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=6, max_size=40),
    name=st.sampled_from(sorted(SPELLED)),
    around=st.tuples(st.sampled_from(["", " ", "x", "?p=", '{"a": "']), st.sampled_from(["", " ", "&q=1", '"}', "x"])),
)
@settings(max_examples=60, deadline=None)
def test_no_spelling_of_any_value_is_left(value: str, name: str, around: tuple[str, str]) -> None:
    assume(not is_weak(value) and value.strip() == value)
    spelled = SPELLED[name](value)
    shown = HiddenValues({value: REFERENCE}).text(around[0] + spelled + around[1])
    assert REFERENCE in shown, spelled


@given(text=st.text(max_size=200), value=st.text(min_size=1, max_size=20))
@settings(max_examples=60, deadline=None)
def test_what_was_looked_through_stays_as_it_is(text: str, value: str) -> None:
    hidden = HiddenValues({value: REFERENCE, "hidden": "(hidden)", "secret": "secret:secret"})
    once = hidden.text(f"{text} {value} secret hidden {text}")
    assert hidden.text(once) == once


@given(text=st.text(st.characters(), max_size=200))
@settings(max_examples=60, deadline=None)
def test_a_text_without_the_value_stays_as_it_is(text: str) -> None:
    assert HiddenValues({"correct-horse-battery": REFERENCE}).text(text) == text


def test_words_of_a_value_may_stand_apart_or_together() -> None:
    hidden = HiddenValues({"correct horse\nbattery": REFERENCE})
    for text in (
        "correct  horse\tbattery",
        "correcthorsebattery",
        "correct+horse%0D%0Abattery",
        "correct&nbsp;horse battery",
        "correct horse\\nbattery",
    ):
        assert hidden.text(f"<{text}>") == f"<{REFERENCE}>"


def test_a_long_value_is_hidden_to_its_end() -> None:
    key = "".join(f"line {n} of a key: {n * 7919:x}\n" for n in range(150))
    hidden = HiddenValues({key: REFERENCE})
    for name, spell in SPELLED.items():
        if "base64" not in name:
            assert hidden.text(f"<pre>{spell(key.strip())}</pre>") == f"<pre>{REFERENCE}</pre>", name
    assert hidden.text(key[:300] + "…") == f"{REFERENCE}…"


def test_two_values_are_told_apart_and_the_longer_one_wins() -> None:
    hidden = HiddenValues({"hunter2": "secret:A", "hunter2-hunter3": "secret:B"})
    assert hidden.text("hunter2, hunter2-hunter3") == "secret:A, secret:B"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1234", "secret:PIN"),
        ("PIN 1234, please", "PIN secret:PIN, please"),
        ("/in?pin=1234&x=1", "/in?pin=secret:PIN&x=1"),
        ("/in?q=my%201234%20", "/in?q=my%20secret:PIN%20"),
        ('{"pin": "1234"}', '{"pin": "secret:PIN"}'),
        ("is\\n1234", "is\\nsecret:PIN"),
        ("pin_1234", "pin_secret:PIN"),
        ("%31%32%33%34", "secret:PIN"),
        ("MTIzNA==", "secret:PIN"),
        ("31323334", "secret:PIN"),
        ("12345", "12345"),
        ("€1234.5x", "€secret:PIN.5x"),
        ("A1234", "A1234"),
        ("4321", "4321"),
    ],
)
def test_a_weak_value_is_hidden_as_a_word_only(text: str, shown: str) -> None:
    hidden = HiddenValues({"1234": "secret:PIN"})
    assert hidden.text(text) == shown
    assert hidden.text(text, weak=False) == text


def test_halves_of_characters_and_blank_values_do_no_harm() -> None:
    hidden = HiddenValues({"  ": "secret:BLANK", "hunter2": REFERENCE})
    assert hidden.text("\ud83d a b hunter2 \udc80") == f"\ud83d a b {REFERENCE} \udc80"
    assert HiddenValues({" ": "secret:BLANK"}).text("a b") == "a b"


def test_many_and_large_values_are_found_too() -> None:
    values = {f"{n:05}-{'x' * n}-pass-word": f"secret:S{n}" for n in range(40)}
    values |= {"k3y/" * 3_000: "secret:KEY"}
    hidden = HiddenValues(values)
    assert hidden.text(" ".join(values)) == " ".join(values.values())


def test_a_page_of_one_megabyte_costs_milliseconds() -> None:
    """Bounded by the same work done with one pass of the interpreter's own search a value: 20 of them take as long."""
    values = {f"p4ss/{n}+w%rd &{n * 7919}": f"secret:S{n}" for n in range(20)}
    hidden = HiddenValues(values)
    line = '<a href="/item?id=%20a&amp;b=1">Ein schöner Text&nbsp;mit vielen Worten, Passwort inklusive</a>\n'
    page = (line * 12_000)[:1_000_000]
    hidden.text(page)  # the first text makes the pattern's states

    def seconds(work: Callable[[], object]) -> float:
        began = time.process_time()
        work()
        return time.process_time() - began

    took = min(seconds(lambda: hidden.text(page)) for _ in range(5))
    plain = min(seconds(lambda: [page.lower().find(value) for value in values]) for _ in range(5))
    assert took < max(0.05, 5 * plain), f"{took * 1000:.1f} ms, and {plain * 1000:.1f} ms to look for the values alone"
