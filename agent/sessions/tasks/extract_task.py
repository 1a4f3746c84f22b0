"""The task `extract`: reads records from the page and holds them to the job's schema."""

from __future__ import annotations

from dataclasses import replace

from shoal.agent.documents.unchanged import version_of
from shoal.agent.errors import LedElsewhere, RecordInvalid
from shoal.agent.models.decisions.extract import CheckedRecords, check_records, not_among
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.policies.extraction import extract_records
from shoal.agent.policies.policy import Extraction
from shoal.agent.policies.rules.lists.seams import repeated_at_seam, shift_message, value_texts
from shoal.agent.read.by_place.page_instead import refuse_other_page
from shoal.agent.read.by_place.proposals import propose_places, uncertain_values
from shoal.agent.sessions.attempt import Attempt
from shoal.agent.sessions.loops.learning import replayed_by
from shoal.agent.spec import ExtractSpec
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.support.moments import utc_now
from shoal.agent.support.sites.sites import Sites, is_led_elsewhere, is_other_site, named_site
from shoal.agent.support.web_addresses import page_key
from shoal.agent.types import LoopItem, Outcome, Record, Task

_ENTRIES_TOLD = 20  # of a list's entries that are no valid records


async def do_extract(attempt: Attempt, plan: Plan) -> tuple[Task, Outcome | None]:
    """Reads records from the page, which stands still, and holds them to the job's schema."""
    attempt.state.reading = plan.plan or ""
    await attempt.page.check_loaded()
    _refuse_other_site(attempt)
    moves = attempt.page.moves
    extracted = await extract_records(attempt.deps.policy, attempt.state)
    await attempt.evidence.keep_prompt(extracted.prompt)
    _refuse_other_site(attempt)
    item = attempt.state.item
    first = LoopItem(0, attempt.work.spec.url, is_link=True, label=attempt.work.spec.goal or "")
    asked = item or (None if attempt.steps_taken else first)
    if extracted.records and asked is not None and asked.is_link and attempt.page.tier != "http":
        await refuse_other_page(attempt.page, asked)
    attempt.uncertain = await _uncertain(attempt, extracted.records)
    checked = await _check(attempt, extracted)
    await attempt.learning_evidence.read(checked.records, attempt.work.spec.extract)
    tier, (workflow, audit) = attempt.page.tier, replayed_by(attempt.deps.policy)
    unmoved = attempt.page.moves == moves
    read = await attempt.evidence.keep_source(checked.records, unmoved=unmoved)
    stamp = utc_now()
    url = attempt.page.url
    document = attempt.page.stated_by if attempt.work.spec.changes.skip_unchanged and unmoved else None
    version = None if document is None or item is None else version_of(page_key(item.value), document)
    found_here = (
        attempt.state.hidden.record(
            replace(r, url=r.url or url, at=r.at or stamp, tier=tier, workflow=workflow, audit=audit, version=version)
        )
        for r in read
    )
    # A page that is read twice, because its first reading was not complete, gives each record once.
    records = not_among(attempt.state.records, found_here)
    again = repeated_at_seam(value_texts(attempt.state.records), value_texts(records)) if len(records) > 1 else 0
    records = records[again:]
    attempt.state.records = (*attempt.state.records, *records)
    result: dict[str, Json] = {
        "records": len(records),
        "missing": list(extracted.missing),
        "complete": extracted.complete,
    }
    if checked.left_out:
        result["left_out"] = len(checked.left_out)
        entries = [attempt.state.hidden.text(entry) for entry in checked.left_out]
        result["left_out_entries"] = entries[:_ENTRIES_TOLD]
        attempt.rejected += [RecordInvalid(f"{url}: {entry}").info() for entry in entries]
    if extracted.shown is not None:
        result["shown"] = extracted.shown
    if again:
        result["shifted"] = shift_message(again, 1 + sum(task.type == "extract" for task in attempt.state.history))
    if extracted.empty:
        result["empty"] = True
    if extracted.why:
        result["why"] = extracted.why
    if extracted.awaited:
        result["awaited"] = extracted.awaited
    if extracted.unproven:
        result["not_on_the_page"] = list(extracted.unproven)
    if (places := await _propose(attempt, checked.records)) is not None:
        result["places"] = places
    if attempt.uncertain:
        result["candidates"], attempt.uncertain = attempt.uncertain, {}
    ends = plan.ends_goal and extracted.complete and not checked.left_out and not extracted.unproven
    return Task("extract", plan.plan or "", Status.COMPLETED, result=result, ends_goal=ends), None


def _refuse_other_site(attempt: Attempt) -> None:
    """Lets the page of an item pass that its link led to, as long as it is on the site that the link names.

    The site of the job's first page counts, too, and so do those that the job's `sites` name.

    Where the item's page was acted on, its first page counts: the actions may have led elsewhere on purpose.

    Raises:
        LedElsewhere: a redirect, or a script, led to another site.
    """
    item, page = attempt.state.item, attempt.page
    if item is None or not item.is_link:
        return
    landed = {page.landings.get(item.value, item.value), *([page.url] if not attempt.steps_taken else [])}
    landed.discard(item.value)
    if not landed:
        return
    spec = attempt.work.spec
    own = (spec.url, *([spec.login.url] if spec.login is not None else []))
    named = Sites(tuple(map(named_site, spec.sites)))
    for url in landed:
        if named.cover(url) or not is_led_elsewhere(item.value, url):
            continue
        if all(is_other_site(known, url) for known in own):
            raise LedElsewhere(f"{item.value} led to {url}, which is another site", url=url)


async def _check(attempt: Attempt, extraction: Extraction) -> CheckedRecords:
    extract = ExtractSpec(json_schema=extraction.schema) if extraction.schema is not None else attempt.work.spec.extract
    if extract is None or extraction.valid:
        return CheckedRecords(extraction.records)
    url = attempt.page.url
    return await check_records(
        extraction.records, extract, url=url, missing=extraction.missing, awaited=extraction.awaited
    )


async def _uncertain(attempt: Attempt, records: tuple[Record, ...]) -> dict[str, Json]:
    """In a sample, what the page may state for fields that were not given, with places that give it."""
    extract = attempt.work.spec.extract
    if not attempt.is_sample or extract is None or extract.json_schema is None:
        return {}
    candidates = await uncertain_values(attempt.page, extract, records, attempt.work.spec.browser.locale or "")
    return {name: attempt.state.hidden.json(several) for name, several in candidates.items()}


async def _propose(attempt: Attempt, records: tuple[Record, ...]) -> Json:
    """Places for `extract.fields` that were found to give what these records hold; None where none is asked for."""
    extract = attempt.work.spec.extract
    by_workflow = bool(replayed_by(attempt.deps.policy)[0])  # it has its places
    if not attempt.is_sample or by_workflow or extract is None or extract.json_schema is None:
        return None
    proposed = await propose_places(attempt.page, extract, records, attempt.work.spec.browser.locale or "")
    return proposed.to_json()
