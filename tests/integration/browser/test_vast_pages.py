"""Pages of more text than one look gives: it is bounded, what is left out is told, and the walk ends there."""

from __future__ import annotations

import pytest

from shoal.agent.browser import Context, ObserveOptions
from shoal.agent.chromium.acting.acting_context import ActingContext
from shoal.agent.observe.renderings import compact, render
from shoal.agent.observe.tree import clickable_elements, walk_elements
from tests.integration.browser.test_mended import show

pytestmark = pytest.mark.asyncio(loop_scope="session")

FIRST, LAST = "<button>First</button>", "<button>Last</button>"
WORDS = "of many words " * 10
LINES = {
    "paragraphs": (9_000, f"Array.from({{length: n}}, (_, i) => `<p>Line ${{i}} {WORDS}</p>`).join('')"),
    "breaks": (
        62_000,
        "'<div>' + Array.from({length: n}, (_, i) => `Line ${i} of many<br>`).join('') + '</div>'",
    ),
    "beside each other": (
        9_000,
        f"'<p>' + Array.from({{length: n}}, (_, i) => `<b>Line ${{i}} {WORDS}</b> `).join('') + '</p>'",
    ),
}


async def fill(context: Context, html: str, n: int = 0) -> None:
    await show(context, FIRST)
    await context.read(f"() => {{ const n = {n}; document.body.innerHTML = `{FIRST}` + {html} + `{LAST}`; }}")


async def seconds(context: Context) -> float:
    """Seconds of computing time that one walk of the page takes."""
    assert isinstance(context, ActingContext)
    session, world = await context.tab.session(), await context.tab.main_world()
    await session.send("Performance.enable", {"timeDomain": "threadTicks"})

    async def spent() -> float:
        told = (await session.send("Performance.getMetrics"))["metrics"]
        return next(float(metric["value"]) for metric in told if metric["name"] == "TaskDuration")

    before = await spent()
    await world.call("shoalWalker.walk({}).length")
    return await spent() - before


@pytest.mark.parametrize(("n", "html"), LINES.values(), ids=LINES)
async def test_a_page_of_very_many_lines_is_told_in_part_and_said_to_be(context: Context, n: int, html: str) -> None:
    await fill(context, html, n)
    seen = await context.observe()
    assert sum(1 for _ in walk_elements(seen.elements)) < 62_000
    text = compact(seen.elements)
    assert "Line 0 of" in text and f"Line {n - 1} of" not in text
    assert max(map(len, text.split("\n"))) < 2_200, "however many stand beside each other"
    assert (seen.beyond, seen.cut, seen.omitted) == (True, True, 1)
    assert "1 more not shown" in render(seen)
    assert await seconds(context) < 10


async def test_one_very_long_text_is_told_in_part_and_goes_on_in_the_next(context: Context) -> None:
    await fill(context, "'<p>' + Array.from({length: 30000}, (_, i) => `word${i}`).join(' ') + '</p>'")
    seen = await context.observe()
    assert max(map(len, compact(seen.elements).split("\n"))) < 201_000
    assert (seen.beyond, seen.cut) == (True, True)
    assert [one.name for one in clickable_elements(seen.elements)] == ["First", "Last"]
    words = compact(seen.elements).split()
    more = compact((await context.observe(ObserveOptions(part=1))).elements).split()
    told = [word for word in (*words, *more) if word.startswith("word")]
    assert told == [f"word{n}" for n in range(30_000)]


async def test_a_page_of_more_than_its_budget_is_not_beyond_every_look(context: Context) -> None:
    await show(context, "<p>Word</p>" * 500)
    seen = await context.observe(ObserveOptions(max_chars=300))
    assert (seen.cut, seen.beyond) == (True, False)


async def test_what_an_editor_holds_is_formatted_as_far_as_it_is_told(context: Context) -> None:
    editor = "'<div contenteditable aria-label=Text>' + '<p>A <b>bold</b> word</p>'.repeat(n) + '</div>'"
    await fill(context, editor, 20_000)
    assert await seconds(context) < 5
    (field,) = [one for one in clickable_elements((await context.observe()).elements) if one.role == "textbox"]
    assert field.attributes["value"].startswith("A **bold** word\nA **bold** word")
    assert len(field.attributes["value"]) <= 2_000
