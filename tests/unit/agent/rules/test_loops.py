"""Plans, groups of links and the way to the next page, on plain data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from shoal.agent.browser import Context, Landing
from shoal.agent.errors import BadSelector, GoalNeedsModel
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.page.from_html import page_from_html
from shoal.agent.policies.policy import SessionState
from shoal.agent.policies.rules.lists.list_end import LIST_END_JS
from shoal.agent.policies.rules.lists.onward import find_button, is_page_of, next_step, same_list
from shoal.agent.policies.rules.planning import EXTRACT, OPEN, SEND, details_of, next_plan
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.read.links.choosing import distinct
from shoal.agent.read.links.list_page import ListPage, list_page_of
from shoal.agent.read.links.page_links import ListRow
from shoal.agent.read.links.ways_on import ListControl
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import ChildrenSummary, Element, LoopItem, Task
from tests.page_answers import page_answer

SCHEMA = {"schema": {"type": "object", "properties": {"name": {"type": "string"}}}}


def state(item: LoopItem | None = None, depth: int = 0, done: tuple[Task, ...] = (), **spec: Any) -> SessionState:
    job = JobSpec.model_validate({"url": "http://example.test/", **spec})
    return SessionState(spec=job, loop=job.loop_at(depth), item=item, page=cast(Context, None), history=done)


def finished(kind: Any, plan: str) -> Task:
    return Task(kind, plan, Status.COMPLETED)


@pytest.mark.parametrize(
    "spec", [{"goal": "find the best one"}, {"extract": {"goal": "the price"}}, {"goal": "x", "data": [1]}]
)
def test_a_goal_in_words_needs_a_model(spec: dict[str, Any]) -> None:
    with pytest.raises(GoalNeedsModel):
        next_plan(state(**spec))


def test_an_item_in_words_is_opened_then_its_form_sent_then_read() -> None:
    item = LoopItem(0, "Chair", False)
    done: tuple[Task, ...] = ()
    goals = []
    while True:
        plan = next_plan(state(item, depth=1, done=done, extract=SCHEMA, data={"a": 1}, loop={"values": ["Chair"]}))
        if plan.user_goal_achieved:
            break
        assert plan.plan and plan.task_type
        goals.append(plan.plan)
        done = (*done, finished(plan.task_type, plan.plan))
    assert goals == [f"{OPEN} Chair", SEND, EXTRACT]


def test_given_values_are_limited_and_links_recognised() -> None:
    plan = next_plan(state(loop={"values": ["http://a.test/", "http://b.test/", "http://c.test/"], "max_items": 2}))
    assert plan.loop_values == ("http://a.test/", "http://b.test/")
    assert plan.is_loop_value_link
    assert not next_plan(state(loop={"values": ["some", "words"]})).is_loop_value_link
    assert next_plan(state(loop={"values": ["HTTP://A.test/"]})).is_loop_value_link


async def test_each_of_the_values_is_a_link_or_is_none() -> None:
    """Among words, addresses were looked up on the page like words."""
    here = state(loop={"values": ["http://a.test/", "two words", "HTTPS://B.test/x"], "max_items": 3})
    plan = next_plan(here)
    assert (plan.task_type, plan.loop_values) == ("loop", None)
    assert [item.is_link async for item in RulesPolicy().collect(here, plan)] == [True, False, True]


def test_a_loop_that_is_done_is_all() -> None:
    here = state(loop={"from": {"select": "a"}}, extract=SCHEMA)
    assert next_plan(here).task_type == "loop"
    here.children = ChildrenSummary(2, 2, 0)
    assert next_plan(here).user_goal_achieved


def test_an_item_that_is_a_row_of_data_fills_the_form_and_opens_nothing() -> None:
    item = LoopItem(0, '{"name": "Ann", "age": 4}', False)
    here = state(item, depth=1, goal="send", data={"name": "?", "kind": "x"}, loop={"values": ["{}"]})
    assert next_plan(here).plan == SEND
    assert details_of(here) == {"name": "Ann", "kind": "x", "age": 4}


@pytest.mark.parametrize(
    ("spec", "may"),
    [
        ({"loop": {"values": ["Chair", "Table"]}}, True),
        ({"loop": {"values": ["Chair", ' {"name": "Ann"}']}}, False),
        ({"loop": {"values": ["a"], "loop": {"values": ['{"name": "Ann"}']}}}, False),
        ({"loop": {"values": ['{"name": "Ann"}']}, "repeatable": True}, True),
        ({"loop": {"from": {"select": "a"}}}, True),
        ({"loop": {"from": {"select": "a"}}, "data": {"name": "Ann"}}, False),
    ],
)
def test_a_form_that_is_filled_from_a_loop_s_rows_is_not_sent_again(spec: dict[str, Any], may: bool) -> None:
    assert state(goal="send", **spec).spec.may_repeat is may


def control(text: str, href: str = "", **more: Any) -> ListControl:
    told = {"aria_label": "", "tip": "", "names": "", "rel": "", "sends": False, "disabled": False, "visible": True}
    return ListControl(link=href, text=text, **{**told, **more})


def view(*controls: ListControl, url: str = "http://example.test/?p=2", **more: Any) -> ListPage:
    """A page with these controls."""
    return replace(list_page_of(page_from_html("", url)), controls=controls, **more)


@pytest.mark.parametrize("text", ["Next", "Weiter ›", "»", "Page suivante", "Další", "next page →"])
def test_the_next_page_by_its_text(text: str) -> None:
    step = next_step(view(control("Prev", "/1"), control(text, "/3")), None)
    assert step is not None and step.url == "/3"


def test_the_arrow_to_the_last_page_is_not_the_next() -> None:
    arrows = [control("«", "/1"), control("‹", "/2"), control("›", "/4"), control("»", "/9")]
    assert next_step(view(*arrows), None).url == "/4"  # type: ignore[union-attr]
    named = [control("›", "/4", aria_label="Next"), control("»", "/9", aria_label="Last")]
    assert next_step(view(*named), None).url == "/4"  # type: ignore[union-attr]
    assert next_step(view(named[1]), None) is None, "it is called otherwise"


def test_an_arrow_that_is_named_by_its_page_s_number_leads_on() -> None:
    pager = [control("1", aria_label="Page 1"), control("2", aria_label="Page 2"), control("›", aria_label="Page 2")]
    step = next_step(view(*pager), None)
    assert step is not None
    assert (step.label, step.aria_label) == ("›", "Page 2")
    arrow = Element(bid="9", tag="button", role="button", name="Page 2")
    assert find_button(Element(bid="", tag="body", role="", name="", children=(arrow,)), step) is arrow


def test_the_next_page_by_rel_label_number_or_wish() -> None:
    one = control("1", "http://example.test/?p=1")
    three = control("3", "http://example.test/?p=3")
    assert next_step(view(rel_next="/n"), None).url == "/n"  # type: ignore[union-attr]
    assert next_step(view(control("", "/3", aria_label="Next page")), None).url == "/3"  # type: ignore[union-attr]
    assert next_step(view(one, three, current="2"), None).url == three.link  # type: ignore[union-attr]
    assert next_step(view(one, three), None).url == three.link  # type: ignore[union-attr]
    assert next_step(view(control("Onwards!", "/x")), "onwards").url == "/x"  # type: ignore[union-attr]
    assert next_step(view(control("Show more")), None).label == "Show more"  # type: ignore[union-attr]
    assert next_step(view(one, current="2"), None) is None
    assert next_step(view(control("Next", "/3", disabled=True)), None) is None
    assert next_step(view(control("Next", "/3")), "a.onwards") is None, "the caller's selector decides"


class Pages:
    """A browser whose pages are made of HTML; a page's number is in its address."""

    def __init__(self, last: int, html: str = "") -> None:
        self.last, self.html, self.now = last, html, 1
        self.opened: list[str] = []

    @property
    def url(self) -> str:
        return f"http://example.test/?p={self.now}"

    async def read(self, script: str, arg: Any = None) -> Any:
        if script == LIST_END_JS:
            return {"url": self.url, "title": "", "text": "", "waits": "", "retry": "", "requests": []}
        items = "".join(f"<li class=hit><a href='/{self.now}/{n}'>{self.now} {n}</a>" for n in range(2))
        onwards = f"<link rel=next href='?p={self.now + 1}'>" if self.now < self.last else ""
        return page_answer(onwards + (self.html or f"<ul>{items}</ul>"), self.url, arg)

    async def goto(self, url: str) -> Landing:
        self.opened.append(url)
        self.now += 1
        return Landing(url, 200)


async def collected(pages: Pages, **source: Any) -> tuple[list[str], str]:
    here = state(loop={"from": {"select": "li.hit", **source}})
    here.page = cast(Context, pages)
    return [item.value async for item in RulesPolicy().collect(here, Plan())], here.cut


async def test_a_list_is_followed_as_far_as_max_pages_and_said_to_go_on() -> None:
    pages = Pages(3)
    values, cut = await collected(pages, max_pages=2)
    assert (len(values), cut) == (4, "the list goes on after page 2, where max_pages ended it")
    assert pages.opened == ["http://example.test/?p=2"], "a page that is not wanted is not opened"
    values, cut = await collected(Pages(3), max_pages=3)
    assert (len(values), cut) == (6, "")


async def test_links_that_lead_off_the_web_are_no_items_and_each_is_counted_once() -> None:
    hits = ["http://example.test/1", *(f"file:///{n}" for n in range(3))]
    html = "<link rel=next href='file:///next'>" + "".join(f"<p class=hit><a href='{to}'>{to}</a>" for to in hits)
    here = state(loop={"from": {"select": "p.hit", "max_pages": 2}})
    here.page = cast(Context, Pages(3, html))
    assert [item.value async for item in RulesPolicy().collect(here, Plan())] == ["http://example.test/1"]
    assert here.left_out == 3, "the same links of the second page are no others"
    alone = state(loop={"from": {"select": "p.hit", "max_pages": 2}})
    alone.page = cast(Context, Pages(1, html))
    assert [item.value async for item in RulesPolicy().collect(alone, Plan())] == ["http://example.test/1"]
    assert alone.left_out == 4, "the way on is one, too"


async def test_where_texts_are_asked_for_it_does_not_matter_where_links_lead() -> None:
    here = state(loop={"from": {"select": "li.hit"}, "is_link": False})
    html = "<ul><li class=hit><a href='file:///1'>One</a><li class=hit><a href='/2'>Two</a></ul>"
    here.page = cast(Context, Pages(1, html))
    assert [item.value async for item in RulesPolicy().collect(here, Plan())] == ["One", "Two"]


async def test_a_page_with_more_than_is_read_is_said_to_have_it() -> None:
    crowd = "".join(f"<li class=hit>{n}" for n in range(20_001))
    values, cut = await collected(Pages(1, crowd))
    told = "http://example.test/?p=1 shows more than 20,000 things; the rest was not read"
    assert (len(values), cut) == (20_000, told)


def of_lamps(
    heading: str = "New this week", kind: str = "card", title: str = "", beside: str = "", last: str = ""
) -> Pages:
    """A page whose only list is one of lamps."""
    names = ["Lamp 0", "Lamp 1", last or "Lamp 2"]
    cards = "".join(f"<li class='{kind}'><a href='/p/{n}'>{name}</a>" for n, name in enumerate(names))
    return Pages(1, f"<title>{title}</title><main><p>{beside}</p><h2>{heading}</h2><ul>{cards}</ul></main>")


@pytest.mark.parametrize(
    ("pages", "select"),
    [
        (of_lamps(), "lamps"),
        (of_lamps(), "all of the items"),
        (of_lamps(), "every product"),
        (of_lamps(heading="Submarines"), "submarines"),
        (of_lamps(kind="submarine-card tile"), "submarines"),
        (of_lamps(title="All about Submarines"), "submarines"),
    ],
)
async def test_a_list_that_the_words_may_mean_is_taken(pages: Pages, select: str) -> None:
    here = state(loop={"from": {"select": select}})
    here.page = cast(Context, pages)
    assert len([item async for item in RulesPolicy().collect(here, Plan())]) == 3
    assert here.doubt == ""


async def test_words_that_the_page_does_not_know_name_no_list() -> None:
    """The largest list was taken for them, and nobody was told."""
    here = state(loop={"from": {"select": "submarines"}})
    here.page = cast(Context, of_lamps())
    assert [item async for item in RulesPolicy().collect(here, Plan())] == []
    assert here.doubt == "nothing there is called 'submarines'"


@pytest.mark.parametrize(
    "pages",
    [of_lamps(beside="No submarine is for sale"), of_lamps(last="Yellow Submarine")],
    ids=["beside", "one of it"],
)
async def test_a_list_that_is_taken_though_it_or_most_of_it_is_not_called_so_is_told(pages: Pages) -> None:
    """A front page's list of offers was taken for the department of one of them, without a word."""
    here = state(loop={"from": {"select": "submarines"}})
    here.page = cast(Context, pages)
    assert len([item async for item in RulesPolicy().collect(here, Plan())]) == 3
    assert here.doubt == "no list there is called 'submarines'; taken was one of 3 links, such as 'Lamp 0'"


@pytest.mark.parametrize("text", ["ul.items > li[", "li:has-text('x')", ".items >> li"])
async def test_css_with_a_fault_is_refused_by_its_field(text: str) -> None:
    with pytest.raises(BadSelector, match=r"loop\.from\.select is no valid CSS selector"):
        await collected(Pages(1), select=text)
    with pytest.raises(BadSelector, match=r"loop\.from\.next is no valid CSS selector"):
        await collected(Pages(1), next=text)
    values, _ = await collected(Pages(1), next="the arrow (e.g. C#)")
    assert len(values) == 2, "words are words"


@pytest.mark.parametrize(
    ("first", "other", "alike"),
    [
        ("/list", "/list?page=2", True),
        ("/list?page=1&sort=name", "/list?sort=name&page=2", True),
        ("/issue?@startwith=0", "/issue?@startwith=50", True),
        ("/blog/", "/blog/page/2/", True),
        ("/catalogue/index.html", "/catalogue/page-2.html", True),
        ("/board", "/board-2", True),
        ("/board.html?of=a", "/board2.html?of=a", True),
        ("/board/", "/board/3", True),
        ("/board?of=a", "/board-2?of=b", False),
        ("/board", "/board/2024", False),
        ("/board", "/board-two", False),
        ("/thread/12", "/thread/123", False),
        ("/", "/2", False),
        ("/manual/ch01.html", "/manual/ch02.html", False),
        ("/manual/installation.html", "/manual/configuration.html", False),
        ("/wiki?title=A", "/wiki?title=B", False),
        ("/list", "/list", False),
    ],
)
def test_addresses_of_the_pages_of_one_list(first: str, other: str, alike: bool) -> None:
    assert is_page_of(f"https://a.example{first}", f"https://a.example{other}") is alike


def test_what_is_no_address_is_no_page_of_a_list() -> None:
    assert not is_page_of("https://a.example/list", "http://[?page=2")
    links = [ListRow("https://a.example/1", "a"), ListRow("http://[#x", "b")]
    assert distinct(links) == links


@pytest.mark.parametrize(
    ("names", "alike"),
    [
        (("All products", "All products"), True),
        (("Parts - page 1 of 6", "Parts - page 2 of 6"), True),
        (("Installation", "Configuration"), False),
        (("", ""), False),
    ],
)
def test_pages_with_other_addresses_are_of_one_list_by_their_names(names: tuple[str, str], alike: bool) -> None:
    first, other = (
        view(url=f"https://a.example/{n}.html", title=name, heading=name) for n, name in zip("xy", names, strict=True)
    )
    assert same_list(first, other) is alike
