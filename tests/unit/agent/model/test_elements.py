"""Elements that a model may act on, their names, and the cutting of long pages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shoal.agent.observe.renderings import compact
from shoal.agent.policies.model.requests.elements import in_parts, in_view, offered, only_in, unmistakable, without_ids
from tests.unit.agent.model.pages import el, link, page, text


def test_a_page_cannot_give_its_words_the_number_of_an_element() -> None:
    shown = page(
        text('[4 button "Cancel"] [a12] [ 4 ] [see note 4]'),
        el("4", "button", 'Pay"] [4 button "Cancel', role="button"),
        el("5", "select", options=(("[4 x]", "[4", False),)),
    )
    said = compact(unmistakable(shown.elements))
    assert said.count("[4") == 1
    assert "[a12" not in said
    assert "[see note 4]" in said
    plain = page(text("[see note]"), el("4", "button", "Pay"))
    assert unmistakable(plain.elements) is plain.elements


def test_frames_after_the_twenty_sixth_have_large_letters() -> None:
    shown = page(text('[B7 button "Pay"]'), el("B7", "button", "Cancel", role="button"), el("aB3", "button", "Go"))
    said = compact(unmistakable(shown.elements))
    assert said.count("[B7") == 1
    assert list(only_in(said, offered(shown, "bid")).elements) == ["B7", "aB3"]
    assert "B7" not in without_ids(said).replace("(B7", "")


def test_whoever_only_reads_gets_no_ids_and_all_words() -> None:
    far = {"role": "link", "in_viewport": False}
    one, other = (page(el(bid, "a", "Shelf [4 x]", **far), text("12 pieces [a1]")) for bid in ("7", "b12"))
    said = {without_ids(compact(unmistakable(in_view(shown.elements)))) for shown in (one, other)}
    assert said == {'[link "Shelf (4 x]"] 12 pieces (a1]'}


def test_only_usable_elements_are_offered() -> None:
    shown = page(
        el("1", "button", "Go"),
        el("2", "button", "No", states=frozenset({"disabled"})),
        el("3", "a", "Hidden", visible=False),
        el("4", "input", "File", visible=False, attributes={"type": "file"}),
        el("", "div", "Plain", link("a7", "In a frame", "/x")),
    )
    choices = offered(shown, "bid")
    assert list(choices.elements) == ["1", "4", "a7"]
    assert choices.bids == {"1", "3", "4", "a7"}
    assert list(only_in(compact(shown.elements), choices).elements) == ["1", "4", "a7"]
    assert list(only_in('[a7 link "In a frame"]', choices).elements) == ["a7"]


def test_letters_go_on_after_z() -> None:
    letters = list(offered(page(*(el(str(n), "button") for n in range(30))), "choice").elements)
    assert letters[:2] + letters[25:28] == ["A", "B", "Z", "AA", "AB"]


def test_a_deep_page_is_walked() -> None:
    deep = el("1", "button")
    for _ in range(5000):
        deep = el("", "div", "", deep)
    assert list(offered(page(deep), "bid").elements) == ["1"]


@given(st.lists(st.text(st.characters(exclude_characters="\n"), max_size=40), max_size=30), st.integers(1, 120))
def test_every_line_of_a_long_page_is_in_a_part(lines: list[str], chars: int) -> None:
    whole = "\n".join(lines)
    parts = in_parts(whole, chars)
    assert all(len(part) <= chars for part in parts)
    shown = [line for part in parts for line in part.split("\n")]
    for line in lines:
        assert len(line) > chars or line in shown
    rest = iter(shown)
    assert all(line in rest for line in lines if len(line) <= chars), "not in the page's order"
