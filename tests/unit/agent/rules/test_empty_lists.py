"""Lists without a record: which words of a page say that the list that is asked for is empty, and which do not."""

from __future__ import annotations

import time

import pytest

from shoal.agent.page.from_html import page_from_html
from shoal.agent.read.lists.empty_page import EmptyPage, is_message_of_emptiness
from shoal.agent.read.values.phrases import phrase

OPINIONS = frozenset(phrase("opinions case name docket number"))


@pytest.mark.parametrize(
    "line",
    [
        "No results found",
        "No results.",
        "There are no items in this list.",
        "There are no opinions at this time.",
        "No matching records found",
        "No opinions were published in 2026.",
        "Your search for 'lamps' returned no results.",
        "Sorry, we couldn't find any matches.",
        "Nothing found here yet",
        "This list is empty",
        "0 results",
        "No data available in table",
        "Keine Einträge vorhanden",
        "Aucun résultat trouvé",
        "No hay resultados.",
        "No se encontraron productos: no hay resultados.",
        "Nessun risultato",
        "Geen resultaten gevonden",
        "No products were found matching your selection.",
    ],
)
def test_a_line_says_that_the_list_is_empty(line: str) -> None:
    assert is_message_of_emptiness(line, OPINIONS)


@pytest.mark.parametrize(
    "line",
    [
        "No FEAR Act Data",
        "No active jobs found",
        "No upcoming events",
        "No shipping costs. 57 products",
        "10 results",
        "Cart (0 items)",
        "No. 57",
        "In the event that no bookmark for the URI is found then -1 is returned.",
        "FALSE is returned when no results are left.",
        "There is no data that we would sell.",
        "The decoder raises UnicodeDecodeError where no entries were found in the table for a byte.",
    ],
)
def test_a_line_that_names_something_else_says_nothing_of_the_list(line: str) -> None:
    assert not is_message_of_emptiness(line, OPINIONS)


def test_what_the_page_itself_is_called_may_be_named_too() -> None:
    assert EmptyPage(("No vacancies found.",), about="Vacancies | Court of Appeals").empty_message(OPINIONS)
    assert not EmptyPage(("No vacancies found.",), about="Opinions | Court of Appeals").empty_message(OPINIONS)


def test_a_page_that_lists_something_says_it_of_another_list() -> None:
    page = EmptyPage(("No results found",), entries=12, first="23-1044 Doe v. Roe")
    assert page.empty_message(OPINIONS) == ""
    assert "12 entries such as '23-1044 Doe v. Roe'" in page.why_not_empty()


def test_what_stands_in_a_menu_or_margin_says_nothing_of_the_list() -> None:
    page = EmptyPage((), beside=("No results found",))
    assert page.empty_message(OPINIONS) == ""
    assert "'No results found' is not taken to speak of this list" in page.why_not_empty()


FOOT = '<footer><a href="/fear">No FEAR Act Data</a> <a href="/jobs">No active jobs found</a></footer>'
OTHER = "".join(f'<li><a href="/news/{n}">Court news of {n} May, in full</a></li>' for n in range(1, 6))
EMPTY = {
    "a message": "<h1>Parts</h1><p>No results found.</p>" + FOOT,
    "in the list's own table": "<h1>Parts</h1><table><tr><th>Name<th>Price<tr><td colspan=2>No data available</table>",
    "with advice": "<h1>Parts</h1><p>No parts match your search.</p><ul><li>Use fewer words<li>Check<li>Ask us</ul>",
    "beside a menu": f"<nav><ul>{OTHER}</ul></nav><main><h1>Parts</h1><p>There are no items.</p></main>",
}
NOT_EMPTY = {
    "prose": ("<h1>Parts</h1><p>We have been making lamps since 1911.</p>", ""),
    "a link of the footer": (f"<h1>Parts</h1><p>Welcome.</p>{FOOT}", "'No FEAR Act Data'"),
    "another thing": ("<h1>Parts</h1><p>No active jobs found</p>", "'No active jobs found'"),
    "another list": (f"<h1>Parts</h1><ul>{OTHER}</ul><p>No results found</p>", "5 entries such as 'Court news of 1"),
    "a table of something else": (
        "<h1>Rooms</h1><p>No results found<table><tr><td>Room 1<td>East wing<tr><td>Room 2<td>West wing</table>",
        "2 entries such as",
    ),
    "a cart": ('<h1>Parts</h1><div class="mini-cart">0 items</div>', "'0 items'"),
    "a message that is not shown": ('<h1>Parts</h1><p style="display:none">No results found</p>', ""),
}


def look(html: str) -> EmptyPage:
    return EmptyPage.of(page_from_html(f"<!doctype html><title>Parts</title>{html}", "https://parts.test/"))


@pytest.mark.parametrize("name", EMPTY)
def test_a_list_is_empty_by_the_page_s_own_words_about_it(name: str) -> None:
    page = look(EMPTY[name])
    assert page.empty_message(frozenset({"name", "price"}))
    assert (page.entries, page.about) == (0, "Parts Parts")


@pytest.mark.parametrize("name", NOT_EMPTY)
def test_a_list_without_a_record_is_not_called_empty(name: str) -> None:
    html, why = NOT_EMPTY[name]
    page = look(html)
    assert page.empty_message(frozenset({"name", "price"})) == ""
    assert why in page.why_not_empty()


@pytest.mark.parametrize("words", ["in a ", "no a ", "found ", "for ", "a no in ", "currently "])
def test_a_long_line_takes_no_time(words: str) -> None:
    began = time.process_time()
    is_message_of_emptiness("no " + (words * 40)[:110] + " ;", OPINIONS)
    assert time.process_time() - began < 0.5
