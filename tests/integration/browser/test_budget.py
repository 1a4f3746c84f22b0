"""A budget holds for the page with all its frames; what it cut is said, and the parts of a page make it whole."""

from __future__ import annotations

import time

import pytest

from shoal.agent.browser import Context, ObserveOptions
from shoal.agent.observe.renderings import compact, render
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.types import Action, Observation
from tests.integration.browser.conftest import Site
from tests.integration.browser.test_mended import show

pytestmark = pytest.mark.asyncio(loop_scope="session")


def names(seen: Observation) -> list[str]:
    return [element.name for element in clickable_elements(seen.elements)]


def buttons(prefix: str, count: int) -> str:
    return "".join(f"<p><button>{prefix} {n}</button></p>" for n in range(count))


async def all_parts(context: Context, **budget: int) -> list[Observation]:
    parts: list[Observation] = []
    while not parts or parts[-1].elements.children:
        parts.append(await context.observe(ObserveOptions(**budget, part=len(parts))))
        assert len(parts) < 60
    return parts


async def test_frames_share_one_budget_and_the_one_that_needs_it_gets_more(context: Context) -> None:
    frames = "".join(f'<iframe height=90 srcdoc="{buttons(f"f{n}", 3)}"></iframe>' for n in range(8))
    large = f'<iframe height=400 srcdoc="{buttons("large", 100)}"></iframe>'
    await show(context, buttons("own", 5) + large + frames)
    await context.settle(quiet_s=0.1)
    seen = await context.observe(ObserveOptions(max_elements=60))
    listed = names(seen)
    assert len(listed) <= 60
    assert sum(name.startswith("own") for name in listed) == 5
    assert sum(name.startswith("large") for name in listed) > 20
    assert {f"f{n} 0" for n in range(8)} <= set(listed)
    assert seen.omitted > 0


async def test_a_page_that_would_use_up_the_budget_leaves_some_to_a_frame_that_can_be_seen(context: Context) -> None:
    await show(context, f'<iframe height=200 srcdoc="{buttons("inner", 3)}"></iframe>{buttons("own", 300)}')
    await context.settle(quiet_s=0.1)
    listed = names(await context.observe(ObserveOptions(max_elements=40)))
    assert len(listed) <= 40
    assert {"inner 0", "inner 1", "inner 2", "own 0"} <= set(listed)


async def test_fifty_frames_take_one_budget_of_time(context: Context) -> None:
    frames = "".join(f'<iframe height=60 width=80 srcdoc="{buttons(f"f{n}", 40)}"></iframe>' for n in range(50))
    await show(context, frames)
    await context.settle(quiet_s=0.1)
    budget = ObserveOptions(max_elements=100)
    await context.observe(budget)
    started = time.monotonic()
    seen = await context.observe(budget)
    assert len(names(seen)) <= 100
    assert seen.omitted >= 30  # of the frames that were not looked at each counts as one
    assert time.monotonic() - started < 10


LISTENERS = """() => {
  for (const name of ['heard', 'pointed', 'shadowed']) {
    for (let i = 0; i < 20; i++) {
      const one = document.createElement('div');
      if (name === 'shadowed') one.attachShadow({ mode: 'open' }).innerHTML = `<button>${name} ${i}</button>`;
      else one.textContent = `${name} ${i}`;
      if (name === 'heard') one.addEventListener('click', () => {});
      if (name === 'pointed') one.style.cursor = 'pointer';
      one.style.margin = '60px';
      document.body.append(one);
    }
  }
}"""


async def test_parts_make_the_page_whole_with_listeners_cursors_and_shadow_roots(context: Context, site: Site) -> None:
    await context.goto(f"{site.url}/second")
    await context.read(LISTENERS)
    whole = set(names(await context.observe()))
    assert len(whole) >= 60
    parts = await all_parts(context, max_elements=15)
    listed = [name for part in parts for name in names(part)]
    assert set(listed) == whole
    assert len(listed) == len(set(listed))
    assert parts[0].omitted == len(whole) - 15
    found = await context.observe(ObserveOptions(max_elements=10, words=("heard 19", "shadowed 19", "pointed 19")))
    assert {"heard 19", "shadowed 19", "pointed 19"} <= set(names(found))


async def test_a_part_is_the_same_when_it_is_asked_for_again(context: Context) -> None:
    await show(context, buttons("b", 100))
    parts = [await context.observe(ObserveOptions(max_elements=20, part=part)) for part in (0, 1, 2, 1)]
    assert names(parts[3]) == names(parts[1])
    assert not set(names(parts[2])) & set(names(parts[1]))


@pytest.mark.parametrize("end", ["</p>", "<br>"])
async def test_text_that_is_cut_is_said_and_comes_in_the_next_parts(context: Context, end: str) -> None:
    lines = [f"line {n} of a long text" for n in range(400)]
    begin = "<p>" if end == "</p>" else ""
    await show(context, "".join(f"{begin}{line}{end}" for line in lines))
    first = await context.observe(ObserveOptions(max_chars=1500))
    assert first.cut
    assert lines[0] in compact(first.elements)
    assert "some not shown" in render(first)
    assert len(compact(first.elements)) < 2500
    parts = await all_parts(context, max_chars=1500)
    told = "\n".join(compact(part.elements) for part in parts)
    assert [line for line in lines if line not in told] == []


async def test_a_container_that_listens_for_all_that_is_in_it_keeps_to_the_budget(context: Context) -> None:
    text = "".join(f"<p>paragraph {n} says a few words</p>" for n in range(400))
    await show(context, f"<div id=root><button>one</button>{text}</div>")
    await context.read("() => { root.addEventListener('click', () => {}) }")
    seen = await context.observe(ObserveOptions(max_chars=1000))
    assert len(compact(seen.elements)) < 2000
    assert seen.cut


async def test_one_long_text_is_whole_without_a_budget_and_comes_in_parts_within_one(context: Context) -> None:
    words = [f"word{n}" for n in range(2000)]
    bold = "".join(f"<b>bold{n}</b> " for n in range(500))
    await show(context, f"<pre>{' '.join(words)}</pre><p>{bold}</p>")
    whole = await context.observe()
    assert not whole.cut
    assert " ".join(words) in compact(whole.elements)
    assert "bold499" in compact(whole.elements)
    parts = await all_parts(context, max_chars=5000)
    assert parts[0].cut
    told = [word for part in parts for word in compact(part.elements).split()]
    assert [word for word in told if word.startswith("word")] == words
    assert [word for word in told if word.startswith("bold")] == [f"bold{n}" for n in range(500)]


async def test_many_frames_have_ids_of_their_own(context: Context) -> None:
    await show(context, "<iframe height=30 width=30 srcdoc='<button>x</button>'></iframe>" * 54)
    await context.settle(quiet_s=0.1)
    seen = await context.observe()
    ids = [one.bid for one in clickable_elements(seen.elements)]
    assert (seen.cut, len(ids), len(set(ids))) == (False, 54, 54)
    assert (await context.act(Action("click", {"bid": ids[-1]}))).effect.focus == ids[-1]
