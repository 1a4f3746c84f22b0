"""Plans, groups of links and the way to the next page, on plain data."""

from __future__ import annotations

from typing import Any, cast

import pytest

from shoal.agent.browser import Context, Landing
from shoal.agent.decisions.plan import Plan
from shoal.agent.errors import BadSelector, GoalNeedsModel
from shoal.agent.policies.policy import SessionState
from shoal.agent.policies.rules import RulesPolicy
from shoal.agent.policies.rules.lists.collect import choose_group, distinct
from shoal.agent.policies.rules.lists.list_end import LIST_END_JS
from shoal.agent.policies.rules.lists.list_page import LinkGroup, ListPage, ListRow
from shoal.agent.policies.rules.lists.onward import find_button, is_page_of, next_step, same_list
from shoal.agent.policies.rules.planning import EXTRACT, OPEN, SEND, form_data, next_plan
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import ChildrenSummary, Element, LoopItem, Task

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
    assert form_data(here) == {"name": "Ann", "kind": "x", "age": 4}


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


def group(key: str, count: int, **more: Any) -> dict[str, Any]:
    items = [{"h": f"http://example.test/{key}/{n}", "t": f"{key} {n}"} for n in range(count)]
    base = {"k": key, "n": count, "w": "", "head": "", "mark": "", "cap": "", "rich": 0, "away": count, "texts": count,
            "v": count, "items": items}  # fmt: skip
    return {**base, **more}


def test_groups_are_chosen_by_words_and_else_by_structure() -> None:
    menu = LinkGroup.of(group("menu", 20, mark="nav"))
    cards = LinkGroup.of(group("cards", 12, mark="main", rich=2, head="Our lamps"))
    news = LinkGroup.of(group("news", 10, mark="main", head="Latest news"))
    groups = [menu, cards, news]
    assert choose_group(groups, "all items") is cards
    assert choose_group(groups, "news") is news
    assert choose_group(groups, "every lamp") is cards
    assert choose_group(groups, "items", settled="news") is news
    assert choose_group([LinkGroup.of(group("self", 5, away=0))], "items") is None


def test_a_fragment_of_a_page_that_is_an_item_itself_is_no_second_item() -> None:
    rows = [ListRow(url, "x") for url in ("a.html", "a.html#reviews", "b.html#x", "b.html#y")]
    assert [row.link for row in distinct(rows)] == ["a.html", "b.html#x", "b.html#y"]
    routes = [ListRow(f"https://app.example/{route}", "x") for route in ("", "#/item/1", "#/item/2")]
    assert distinct(routes) == routes
    words = [ListRow("", "one"), ListRow("", "two")]
    assert distinct(words) == words


def control(text: str, href: str = "", **more: Any) -> dict[str, Any]:
    return {"h": href, "t": text, "a": "", "ti": "", "c": "", "rel": "", "post": 0, "off": 0, "v": 1, **more}


def sent(*controls: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What `links.js` sends of a page with these controls."""
    return {
        "url": "http://example.test/?p=2",
        "title": "Things",
        "h1": "Things",
        "css": None,
        "groups": [],
        "unread": [],
        "cut": 0,
        "astray": [],
        "about": "",
        "heard": [],
        "says": "",
        "controls": list(controls),
        "relNext": "",
        "nextCss": None,
        "current": "",
        "scripts": False,
        "busy": False,
        "ready": "complete",
        "height": 1,
        "viewport": 1,
        **more,
    }


def view(*controls: dict[str, Any], **more: Any) -> ListPage:
    return ListPage.of(sent(*controls, **more))


@pytest.mark.parametrize("text", ["Next", "Weiter ›", "»", "Page suivante", "Další", "next page →"])
def test_the_next_page_by_its_text(text: str) -> None:
    step = next_step(view(control("Prev", "/1"), control(text, "/3")), None)
    assert step is not None and step.url == "/3"


def test_the_arrow_to_the_last_page_is_not_the_next() -> None:
    arrows = [control("«", "/1"), control("‹", "/2"), control("›", "/4"), control("»", "/9")]
    assert next_step(view(*arrows), None).url == "/4"  # type: ignore[union-attr]
    named = [control("›", "/4", a="Next"), control("»", "/9", a="Last")]
    assert next_step(view(*named), None).url == "/4"  # type: ignore[union-attr]
    assert next_step(view(named[1]), None) is None, "it is called otherwise"


def test_an_arrow_that_is_named_by_its_page_s_number_leads_on() -> None:
    pager = [control("1", a="Page 1"), control("2", a="Page 2"), control("›", a="Page 2")]
    step = next_step(view(*pager), None)
    assert step is not None
    assert (step.label, step.aria_label) == ("›", "Page 2")
    arrow = Element(bid="9", tag="button", role="button", name="Page 2")
    assert find_button(Element(bid="", tag="body", role="", name="", children=(arrow,)), step) is arrow


def test_the_next_page_by_rel_label_number_or_wish() -> None:
    one = control("1", "http://example.test/?p=1")
    three = control("3", "http://example.test/?p=3")
    assert next_step(view(relNext="/n"), None).url == "/n"  # type: ignore[union-attr]
    assert next_step(view(control("", "/3", a="Next page")), None).url == "/3"  # type: ignore[union-attr]
    assert next_step(view(one, three, current="2"), None).url == three["h"]  # type: ignore[union-attr]
    assert next_step(view(one, three), None).url == three["h"]  # type: ignore[union-attr]
    assert next_step(view(control("Onwards!", "/x")), "onwards").url == "/x"  # type: ignore[union-attr]
    assert next_step(view(control("Show more")), None).label == "Show more"  # type: ignore[union-attr]
    assert next_step(view(one, current="2"), None) is None
    assert next_step(view(control("Next", "/3", off=1)), None) is None
    assert next_step(view(control("Next", "/3")), "a.onwards") is None, "the caller's selector decides"


def row(address: str, text: str, astray: str = "") -> dict[str, Any]:
    return {"h": address, "t": text, "x": astray}


class Pages:
    """A browser whose pages say what they offer to loop over; a page's number is in its address."""

    def __init__(self, last: int, **more: Any) -> None:
        self.last, self.more, self.now = last, more, 1
        self.opened: list[str] = []

    async def read(self, script: str, arg: Any = None) -> Any:
        if script == LIST_END_JS:
            url = f"http://example.test/?p={self.now}"
            return {"url": url, "title": "", "text": "", "waits": "", "retry": "", "requests": []}
        items = [row(f"http://example.test/{self.now}/{n}", f"{self.now} {n}") for n in range(2)]
        onwards = f"http://example.test/?p={self.now + 1}" if self.now < self.last else ""
        return sent(**{"url": f"http://example.test/?p={self.now}", "relNext": onwards, "css": items, **self.more})

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
    rows = [row("http://example.test/1", "One"), *(row("", f"File {n}", f"file:///{n}") for n in range(3))]
    here = state(loop={"from": {"select": "li.hit", "max_pages": 2}})
    here.page = cast(Context, Pages(3, css=rows, astray=["file:///next"]))
    assert [item.value async for item in RulesPolicy().collect(here, Plan())] == ["http://example.test/1"]
    assert here.left_out == 4, "the same links of the second page are no others"


async def test_where_texts_are_asked_for_it_does_not_matter_where_links_lead() -> None:
    here = state(loop={"from": {"select": "li.hit"}, "is_link": False})
    here.page = cast(Context, Pages(1, css=[row("", "One", "file:///1"), row("http://example.test/2", "Two")]))
    assert [item.value async for item in RulesPolicy().collect(here, Plan())] == ["One", "Two"]


async def test_a_page_with_more_than_is_read_is_said_to_have_it() -> None:
    values, cut = await collected(Pages(1, cut=20_000))
    assert (len(values), cut) == (2, "http://example.test/?p=1 shows more than 20,000 things; the rest was not read")


def of_words(about: str = "", heard: tuple[str, ...] = (), **group: Any) -> Pages:
    """A page whose only list is one of lamps."""
    items = [{"h": f"http://example.test/p/{n}", "t": f"Lamp {n}", "v": 1} for n in range(3)]
    frame = {"k": "a<li", "n": 3, "off": [], "w": "", "head": "New this week", "cap": "", "mark": "main", "rich": 1}
    lamps = {**frame, "away": 3, "texts": 3, "chars": 6, "v": 3, "area": 100, "items": items, **group}
    return Pages(1, css=None, groups=[lamps], about=about, heard=list(heard))


@pytest.mark.parametrize(
    ("pages", "select"),
    [
        (of_words(), "lamps"),
        (of_words(), "all of the items"),
        (of_words(), "every product"),
        (of_words(head="Submarines"), "submarines"),
        (of_words(w="submarine-card tile"), "submarines"),
        (of_words(about="All about Submarines http://example.test/"), "submarines"),
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
    here.page = cast(Context, of_words())
    assert [item async for item in RulesPolicy().collect(here, Plan())] == []
    assert here.doubt == "nothing there is called 'submarines'"


async def test_a_list_that_is_taken_though_it_is_not_called_so_is_told() -> None:
    here = state(loop={"from": {"select": "submarines"}})
    here.page = cast(Context, of_words(heard=("submarine",)))
    assert len([item async for item in RulesPolicy().collect(here, Plan())]) == 3
    assert here.doubt == "no list there is called 'submarines'; taken was one of 3 links, such as 'Lamp 0'"


async def test_a_list_in_which_a_few_items_are_called_so_is_told_too() -> None:
    """A front page's list of offers was taken for the department of one of them, without a word."""
    offers = of_words(heard=("submarine",))
    offers.more["groups"][0]["items"][2]["t"] = "Yellow Submarine"
    here = state(loop={"from": {"select": "submarines"}})
    here.page = cast(Context, offers)
    assert len([item async for item in RulesPolicy().collect(here, Plan())]) == 3
    assert here.doubt == "no list there is called 'submarines'; taken was one of 3 links, such as 'Lamp 0'"


@pytest.mark.parametrize("text", ["ul.items > li[", "li:has-text('x')", ".items >> li"])
async def test_css_with_a_fault_is_refused_by_its_field(text: str) -> None:
    with pytest.raises(BadSelector, match=r"loop\.from\.select is no valid CSS selector"):
        await collected(Pages(1, unread=["select"], css=None), select=text)
    with pytest.raises(BadSelector, match=r"loop\.from\.next is no valid CSS selector"):
        await collected(Pages(1, unread=["next"]), next=text)
    values, _ = await collected(Pages(1, unread=["next"]), next="the arrow (e.g. C#)")
    assert len(values) == 2, "words are words"


@pytest.mark.parametrize(
    ("first", "other", "alike"),
    [
        ("/list", "/list?page=2", True),
        ("/list?page=1&sort=name", "/list?sort=name&page=2", True),
        ("/issue?@startwith=0", "/issue?@startwith=50", True),
        ("/blog/", "/blog/page/2/", True),
        ("/catalogue/index.html", "/catalogue/page-2.html", True),
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
        view(url=f"https://a.example/{n}.html", title=name, h1=name) for n, name in zip("xy", names, strict=True)
    )
    assert same_list(first, other) is alike
