"""A banner that only some pages show is closed where it is there, and never a step that a run's data asked for."""

from __future__ import annotations

import pytest

from shoal.agent.browser import Browser, Context
from shoal.agent.policies.workflow import WorkflowPolicy
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action, LoopItem
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.learning.compile_version import Compiled, compile_version
from shoal.agent.workflows.learning.evidence import EvidenceBook, SessionEvidence
from shoal.agent.workflows.learning.loop import action_difference
from shoal.agent.workflows.learning.origin import Sources
from tests.integration.workflows.test_optional_fields import site
from tests.integration.workflows.test_sessions import run

pytestmark = pytest.mark.asyncio(loop_scope="session")

BANNER = (
    '<div class="cookies" style="position:fixed;inset:0;background:white"><p>We use cookies.</p>'
    '<button type="button" class="accept">Accept all</button></div>'
    "<script>document.querySelector('.accept').onclick = () => document.querySelector('.cookies').remove()</script>"
)
TICK = '<label><input type="checkbox" class="gift"> Gift wrap</label>'
NAMES = ("Ada", "Bob", "Cy", "Dot", "Eve", "Flo")


SEARCH = """<script>
document.querySelector('.find').onclick = () => {
  const gift = document.querySelector('.gift:checked') ? ' (gift)' : '';
  document.querySelector('[role=status]').textContent = 'Found ' + document.querySelector('.name').value + gift;
};
</script>"""


def form(*, banner: bool, more: str = "") -> str:
    return (
        '<!doctype html><html lang="en"><title>Find</title><body><h1>Find a person</h1>'
        f'<label>Name <input class="name"></label>{more}<button type="button" class="find">Find</button>'
        f'<p role="status"></p>{SEARCH}{BANNER if banner else ""}</body></html>'
    )


async def done(page: Context, url: str, name: str, *clicks: str) -> SessionEvidence:
    """Return what is noted of one run: `clicks` before the name is typed, and then the search."""
    book = EvidenceBook(LoopItem(0, f'{{"name": "{name}"}}', False))
    sources = Sources(data=None, item=f'{{"name": "{name}"}}', earlier=[], goal="")
    await page.goto(url)

    async def act(action: str, selector: str, **args: Json) -> None:
        (bid,) = await page.locate([selector])
        asked = Action(action, {"bid": bid, **args})
        noted = await book.before(page, asked, sources)
        result = await page.act(asked)
        assert result.error is None and noted is not None, result.error
        book.after(result, noted)

    for selector in clicks:
        await act("click", selector)
    await act("fill", ".name", value=name)
    await act("click", ".find")
    return book.book(url, (f"Found {name}",), None)


async def learned(page: Context, address: str, having: set[int], selector: str, n: int = 4) -> Compiled:
    runs = [await done(page, f"{address}/{i}", NAMES[i], *([selector] if i in having else [])) for i in range(n)]
    return compile_version(runs, None)


async def replayed(
    browser: Browser, version: Version, url: str, name: str, sites: tuple[str, ...] = ()
) -> tuple[str, WorkflowPolicy]:
    spec: Json = {"url": url, "goal": "Find a person", "artifacts": {"screenshots": "none"}, "on_miss": "fail"}
    spec |= {"sites": sites}
    policy = WorkflowPolicy("find", version)
    outcome, _ = await run(browser, policy, spec, LoopItem(0, f'{{"name": "{name}"}}', False))
    return outcome.status, policy


async def test_a_banner_of_some_pages_is_closed_where_it_is_there(browser: Browser, page: Context) -> None:
    pages = {f"/{n}": form(banner=n % 2 == 0) for n in range(6)}
    with site(pages) as address:
        made = await learned(page, address, {0, 2}, ".accept")
        assert made.version is not None, made.open
        assert [node.kind for node in made.version.nodes] == ["branch", "action", "action", "action"]
        for n in (4, 5):
            status, policy = await replayed(browser, made.version, f"{address}/{n}", NAMES[n])
            assert status is Status.COMPLETED, policy.report.misses
            assert policy.report.done == tuple(
                node.id for node in made.version.nodes if n == 4 or node.id not in ("n1-if",)
            )
        both = [await done(page, f"{address}/4", "Eve", ".accept"), await done(page, f"{address}/5", "Flo")]
        assert action_difference(made.version, both) == "", "the baseline did the same"
        assert action_difference(made.version, both[:1] * 2) == ""
        other = [await done(page, f"{address}/5", "Eve", ".find"), await done(page, f"{address}/5", "Flo", ".find")]
        assert action_difference(made.version, other) != ""


@pytest.mark.parametrize(
    ("told", "more", "banner", "having", "selector"),
    [
        ("its element is there in the other runs too", TICK, False, {0, 2}, ".gift"),
        ("the banner is there in a run that left it", "", True, {0, 2}, ".accept"),
        ("one run did it", "", None, {0}, ".accept"),
        ("one run did not do it", "", None, {0, 1, 2}, ".accept"),
        (
            "it may send",
            '<form onsubmit="this.remove(); return false"><button class="send">Send</button></form>',
            None,
            {0, 2},
            ".send",
        ),
    ],
)
async def test_a_step_that_a_run_decided_on_is_no_optional_step(
    page: Context, told: str, more: str, banner: bool | None, having: set[int], selector: str
) -> None:
    """`banner` None: it is on the pages of the runs that do the step."""
    under = {n: (n in having if banner is None else banner) for n in range(4)}
    drawn = {n: more if selector != ".send" or n in having else "" for n in range(4)}
    pages = {f"/{n}": form(banner=under[n] and selector == ".accept", more=drawn[n]) for n in range(4)}
    if told.startswith("the banner is there"):  # and lets the form be filled, as some do
        pages = {path: body.replace("position:fixed;inset:0;", "") for path, body in pages.items()}
    with site(pages) as address:
        made = await learned(page, address, having, selector)
        assert made.version is None, f"{told}: {made.version}"
        assert "different things" in made.open[0].why
