"""The page where a sample ended: a picture with what can be pointed at, and what locators find."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Iterator
from dataclasses import replace

from shoal.agent.artifact_kind import POINTING
from shoal.agent.browser import Context
from shoal.agent.errors import AgentError
from shoal.agent.page.from_browser import SCRIPT
from shoal.agent.page.page import Page
from shoal.agent.page.recorded import page_of_answer
from shoal.agent.policies.policy import Policy
from shoal.agent.policies.workflow import WorkflowPolicy
from shoal.agent.read.by_place.elements.page_reading import places_on
from shoal.agent.read.by_place.places_page import PlacesPage
from shoal.agent.redaction.redactor import Redactor
from shoal.agent.replay_detail import LocatorCount, ReplayDetail
from shoal.agent.sessions.attempt import Attempt
from shoal.agent.sessions.evidence import Evidence
from shoal.agent.spec import ExtractSpec, FieldPlace
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import Box, Outcome
from shoal.agent.workflows.elements.describing import Described, count, describe_all
from shoal.agent.workflows.format.node import ActionNode
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.learning.leaves import RECORDS, Leaf, LeafWays, PageLeaves
from shoal.agent.workflows.learning.proposals import places_of_leaf
from shoal.agent.workflows.reading.page_view import place_key, places_of, view_of, view_parameters
from shoal.agent.workflows.script_answer import NoScriptAnswer, script_answer

_MOST_FIELDS, _MOST_ELEMENTS = 600, 250
_MOST_WAYS = 6
"""To read one field: those beyond say the same in other words."""
_LONGEST_QUERY = 400
"""Characters of a selector: a longer one goes through too much of the page to hold."""
_TALLEST = 6_000
"""Pixels of a picture; what lies below is left out."""
_TEXT_CHARS = 200
_LOOK_S = 15.0
"""Seconds that a sample may take longer for its picture."""


async def looked_back(outcome: Outcome, attempt: Attempt, policy: Policy) -> Outcome:
    """The outcome of a session, of a sample with what its last page shows; its reason says why that is missing.

    A sample whose job allows pictures keeps one of the page, unless that shows a secret, and beside it what can be
    pointed at. A version of a workflow that is tried counts what its locators find there.
    """
    spec, hidden, page = attempt.state.spec, attempt.state.hidden, attempt.page
    if spec.sample is None or outcome.status is Status.WAITING or not page.opened:
        return outcome
    try:
        async with asyncio.timeout(_LOOK_S):
            if isinstance(policy, WorkflowPolicy) and outcome.replay is not None and outcome.replay.detail is not None:
                detail = await _counted(page, policy.version, outcome.replay.detail, hidden)
                outcome = replace(outcome, replay=replace(outcome.replay, detail=detail))
            if spec.artifacts.screenshots != "none" and await attempt.attendance.shows_secret():
                why = "no picture to choose on: the page shows a secret"
                return replace(outcome, reason="; ".join(filter(None, (outcome.reason, why))))
            if spec.artifacts.screenshots != "none":
                await _keep(page, spec.extract, attempt.evidence, hidden)
    except (AgentError, NoScriptAnswer, TimeoutError) as lost:
        why = f"no picture to choose on: {lost or f'it was not ready within {_LOOK_S:g} s'}"
        return replace(outcome, reason="; ".join(filter(None, (outcome.reason, why))))
    return outcome


# --- counting -----------------------------------------------------------------------------------------


async def _counted(page: Context, version: Version, detail: ReplayDetail, hidden: Redactor) -> ReplayDetail:
    """The detail with what each locator and each channel finds: of nodes that were done, they were counted before."""
    known = {before.of for before in detail.counts}
    nodes = [node for node in version.nodes if isinstance(node, ActionNode) and node.id not in known]
    url = hidden.address(page.url)
    counted: list[LocatorCount] = []
    for node in nodes:
        if node.target is not None:
            counts = zip(node.target.locators, await count(page, node.target), strict=True)
            counted += [LocatorCount(node.id, way.family, way.value, number, url) for way, number in counts]
    places = places_of(version.branches)
    view = await view_of(page, places, view_parameters(places)) if places else None
    for branch in version.branches if view is not None else ():
        for field in branch.fields:
            for channel in field.channels:
                number = len(view.places[place_key(channel.place)]) if view is not None else 0
                place = f"{channel.place.kind} {channel.place.query}"
                counted.append(LocatorCount(f"{branch.id}.{field.name}", channel.family, place, number, url))
    return replace(detail, counts=(*detail.counts, *counted))


# --- the picture --------------------------------------------------------------------------------------


async def _keep(page: Context, extract: ExtractSpec | None, evidence: Evidence, hidden: Redactor) -> None:
    """Keeps the picture of the page, and what can be pointed at on it."""
    many = extract is not None and extract.many
    records = extract.records if extract is not None and not (extract.records or "").startswith("$") else None
    asked = {"boxes": True, "find": {RECORDS: records} if many and records else {}}
    answer = script_answer(await page.read(SCRIPT, asked))
    if "marks" not in answer:
        raise NoScriptAnswer("the page told nothing of what stands on it")
    taken = page_of_answer(answer)
    fields = await asyncio.to_thread(_fields, taken, many=many, records=records or "")
    elements = [_element(known) for known in await describe_all(page, _MOST_ELEMENTS)]
    window = taken.window
    assert window is not None  # a browser took it
    width = window.width
    # What lies below is not drawn at all: Chromium takes seconds for the whole of a page that is very high.
    shot = await page.screenshot(region=Box(-window.left, -window.top, width, _TALLEST))
    picture = await evidence.keep("screenshot", shot.data, shot.content_type)
    description: dict[str, Json] = {
        "url": hidden.address(page.url),
        "picture": picture,
        "width": width,
        "height": shot.height * width / shot.width,
        "fields": [field for field in fields if field["ways"]],
        "elements": elements,
    }
    await evidence.keep(POINTING, json.dumps(hidden.json(description, numbers=False)).encode(), "application/json")


def _fields(page: Page, *, many: bool, records: str) -> list[dict[str, Json]]:
    """The texts and attributes of a page that can be pointed at."""
    pointed = PageLeaves(page).pointed(_MOST_FIELDS, many=many)
    labels = _labels_that_lead(page, {label for _, ways in pointed for label in ways.labels})
    return [_field(page, leaf, ways, labels, records) for leaf, ways in pointed]


def _labels_that_lead(page: Page, names: Collection[str]) -> set[tuple[str, str]]:
    """Label and text, of each label that leads to one text on this page."""
    fields = {name: {"kind": "label", "query": name, "attribute": None} for name in sorted(names)}
    asked = {"fields": fields, "records": None, "many": False, "near": False, "json": False}
    looked = PlacesPage.of(places_on(page, asked))
    places = looked.records[0].places if looked.records else {}
    texts = {name: {_squashed(place.text) for place in several if place.visible} for name, several in places.items()}
    return {(name, next(iter(distinct))) for name, distinct in texts.items() if len(distinct) == 1}


def _squashed(text: str) -> str:
    return " ".join(text.split())


def _field(page: Page, leaf: Leaf, ways: LeafWays, labels: set[tuple[str, str]], records: str) -> dict[str, Json]:
    """One text or attribute of the page, with the ways to read it again, best first."""
    shown = leaf.text or next((value for _, value in leaf.attributes), "")
    return {
        "text": shown[:_TEXT_CHARS],
        "box": list(page.box(page.elements[leaf.number]) or ()),
        "ways": list(_ways(leaf, ways, labels))[:_MOST_WAYS],
        "records": ways.records or (records if ways.css else ""),
    }


def _ways(leaf: Leaf, ways: LeafWays, labels: set[tuple[str, str]]) -> Iterator[dict[str, Json]]:
    for proposal in places_of_leaf(leaf, lambda: ways):
        place: FieldPlace = proposal.place
        if place.label is not None and (place.label, _squashed(leaf.text)) not in labels:
            continue
        if len(place.query) > _LONGEST_QUERY:
            continue
        yield {"family": proposal.family, "place": place.model_dump(by_alias=True, exclude_defaults=True)}


def _element(known: Described) -> dict[str, Json]:
    """One element that can be acted on, as a node's target."""
    target = known.target
    box = known.box
    return {
        "text": f"{target.role} {target.name}".strip()[:_TEXT_CHARS],
        "box": [box.x, box.y, box.width, box.height] if box is not None else [0, 0, 0, 0],
        "target": target.as_json(),
    }
