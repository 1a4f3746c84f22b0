"""Wrong records over every drift of the drift site, and what keeping evidence costs.

For each seed the pages before any drift are learned from, with their true records; then pages of every drift are
replayed and compared with the truth. A page that is not read is a miss and no error. The controls of a form are
learned too, and looked for on the same form, on one that is relabelled and on one that is redesigned. The cost of
evidence is told beside an observation with its picture, which every step of a model-led session takes.

    python load-tests/bench/drift.py [--rounds SEEDS] [--quick] [--json]
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from pathlib import Path

from _report import Report, Target, arguments
from _site import demo_site

from shoal.agent.browser import Context, ObserveOptions
from shoal.agent.chromium.process.launch import launch
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.types import LoopItem
from shoal.agent.workflows.elements.describing import describe, describe_all
from shoal.agent.workflows.elements.finding import find
from shoal.agent.workflows.format.branch import Branch
from shoal.agent.workflows.learning.compile_fields import compile_pages
from shoal.agent.workflows.learning.page_sample import PageSample, look_at, sample_page
from shoal.agent.workflows.replay.pages import replay_page

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site"))

from shop.drift import RECORD_SCHEMA, REDESIGN_AT, START, Drift, article, truth

SAMPLES = 4
UNDRIFTED = range(SAMPLES, START)
DRIFTED = (START, START + 1)
_FORMS = {"the same": "form", "relabelled": "form?relabelled=1", "redesigned": "form?redesign_after=0"}
_CONTROLS = ("textbox", "combobox", "button")
_NAMED_NOW = {"q1": "name", "q2": "email", "q3": "colour"}  # controls of the redesigned form, and what they were
_NAME_JS = "(css) => document.querySelector(css).getAttribute('name') || 'send'"
_STEADY = (Drift.NONE, Drift.PLAIN, Drift.OWN_IDS)  # kinds of pages that never change


def item_of(site: str, seed: int, kind: Drift, n: int) -> LoopItem:
    """Item `n`, as the site's list names it."""
    return LoopItem(n, f"{site}/drift/{seed}/{kind}/i/{n}", True, article(seed, n).name)


async def learned(page: Context, site: str, seed: int, report: Report) -> Branch | None:
    """The branch that the first pages of a seed teach; what keeping their evidence took goes into the report."""
    samples: list[PageSample] = []
    for n in range(SAMPLES):
        item = item_of(site, seed, Drift.NONE, n)
        await page.goto(item.value)
        began = time.monotonic()
        seen = await page.observe(ObserveOptions(screenshot=True))
        observed = time.monotonic()
        samples.append(await sample_page(page, truth(seed, Drift.NONE, n) or {}, RECORD_SCHEMA, item))
        sampled = time.monotonic()
        await look_at(page)
        kept = time.monotonic()
        acted = next(element for element in clickable_elements(seen.elements) if element.bid)
        await describe(page, acted.bid)
        described = time.monotonic()
        report.add("observe_ms", 1000 * (observed - began))
        report.add("evidence_of_a_page_ms", 1000 * (kept - observed))
        report.add("evidence_of_an_action_ms", 1000 * (described - kept))
        report.add("sample_ms", 1000 * (sampled - observed))
    made = compile_pages(samples, RECORD_SCHEMA).branches
    return made[0] if made else None


def at(branch: Branch, kind: Drift) -> Branch:
    """The branch for the pages of `kind`: they are the same until they drift, at another address."""
    url = branch.signature.url.replace(f"/{Drift.NONE}/", f"/{kind}/")
    return branch.model_copy(update={"signature": branch.signature.model_copy(update={"url": url})})


def drifted_items(kind: Drift) -> tuple[int, int]:
    """Two items whose pages have drifted."""
    return (REDESIGN_AT, REDESIGN_AT + 1) if kind is Drift.LONG_REDESIGN else DRIFTED


async def measure_forms(page: Context, site: str, seed: int, report: Report) -> int:
    """Return how many controls of the forms of a seed are taken for another; what is found goes into the report."""
    await page.goto(f"{site}/drift/{seed}/form")
    targets = [known.target for known in await describe_all(page, 50) if known.target.role in _CONTROLS]
    wrong, names = 0, []
    for form, path in _FORMS.items():
        await page.goto(f"{site}/drift/{seed}/{path}")
        seen = 0
        for index, target in enumerate(targets):
            element = await find(page, target, where="form", once=True, posted=True)
            selectors = await page.selectors(element.bid) if element.bid else None
            if selectors is None:
                continue
            name = str(await page.read(_NAME_JS, selectors[0]))
            if form == "the same":
                names.append(name)
            elif _NAMED_NOW.get(name, name) != names[index]:
                wrong += 1
                report.notes.append(f"seed {seed}, {form} form: {names[index]} is taken for {name}")
                continue
            seen += 1
        report.add(f"form, {form}: share of controls found", seen / len(targets))
    return wrong


async def measure(site: str, seeds: range, report: Report) -> None:
    """Adds all figures of all seeds."""
    browser = await launch()
    page = await browser.new_context()
    wrong, complete, undrifted, misses = 0, 0, 0, Counter[str]()
    taken = 0
    read_of: Counter[str] = Counter()
    try:
        for seed in seeds:
            branch = await learned(page, site, seed, report)
            if branch is None:
                report.notes.append(f"seed {seed}: nothing was learned")
                continue
            pages = [(Drift.NONE, n) for n in UNDRIFTED]
            pages += [(kind, n) for kind in Drift if kind not in _STEADY for n in drifted_items(kind)]
            taken += await measure_forms(page, site, seed, report)
            for kind, n in pages:
                item = item_of(site, seed, kind, n)
                await page.goto(item.value)
                began = time.monotonic()
                got = await replay_page(page, (at(branch, kind),), item, RECORD_SCHEMA)
                report.add("replay_ms", 1000 * (time.monotonic() - began))
                undrifted += kind is Drift.NONE
                if got.record is None:
                    misses[got.misses[0].reason.value] += 1
                elif got.record.value == truth(seed, kind, n):
                    complete += kind is Drift.NONE
                    read_of[kind.value] += 1
                else:
                    wrong += 1
                    told = json.dumps(got.record.value)
                    report.notes.append(f"seed {seed}, {kind} {n}: {told} is wrong")
    finally:
        await browser.close()
    report.add("wrong_records", wrong)
    report.add("wrong_controls", taken)
    report.add("complete_where_nothing_drifts", complete / max(1, undrifted))
    report.notes.append(f"misses by reason: {dict(misses.most_common())}")
    report.notes.append(f"read in spite of the drift: {dict(read_of.most_common())}")


def main() -> None:
    """Measures and prints."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--rounds", type=int, default=20, help="seeds; every second one has no structured data")
    options = parser.parse_args()
    none = Target(0, at_least=False)
    targets = {"wrong_records": none, "wrong_controls": none, "complete_where_nothing_drifts": Target(1.0)}
    report = Report("drift", targets)
    with demo_site() as site:
        asyncio.run(measure(site, range(1, 1 + (2 if options.quick else options.rounds)), report))
    share = report.median("evidence_of_an_action_ms") / report.median("observe_ms")
    report.add("action_evidence_of_an_observation", share)
    report.show(as_json=options.json)


if __name__ == "__main__":
    main()
