"""The report of a finished sample: its sessions, told as the answer to a try. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from shoal.agent.spec import JobSpec
from shoal.agent.status import FINAL, Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import LoopItem, Outcome, Record, Task, Usage
from shoal.services.store.records import JobRow, SessionDetail
from shoal.services.web.api.views.base import ErrorView, UsageView
from shoal.services.web.tries.views import (
    TriedCandidate,
    TriedEstimate,
    TriedField,
    TriedItem,
    TriedItems,
    TriedList,
    TriedRecord,
    TryView,
)

_MOST_RECORDS = 30
"""Records of one answer; a sample of nested loops may have more."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """A sample as the store has it when it is over."""

    job: JobRow
    sessions: Sequence[SessionDetail]  # the root first, then in the order of the items
    seconds: float  # since it was asked for
    pictures: Sequence[Mapping[str, Json]] = ()  # of pages where sessions ended, as `pictures_of` tells them

    @property
    def root(self) -> SessionDetail:
        """The session that collected the items, or the only one."""
        return self.sessions[0]

    @property
    def leaves(self) -> list[SessionDetail]:
        """The sessions that were to read records; one that found no items of its loop is none."""
        return [session for session in self.sessions if self.job.spec.loop_at(session.row.depth) is None]


def report(sampled: Sampled) -> TryView:
    """The answer to a try."""
    spec, root = sampled.job.spec, sampled.root
    outcome = root.row.outcome
    records = list(_records(sampled))[:_MOST_RECORDS]
    missing = Counter(name for record in records for name in record.missing)
    proposed = [proposal for leaf in sampled.leaves if (proposal := _proposed(leaf)) is not None]
    error = sampled.job.error or (outcome.error if outcome else None)
    return TryView(
        status=sampled.job.status,
        finished=all(
            session.row.status in FINAL and session.row.status is not Status.CANCELED for session in sampled.sessions
        ),
        error=error and ErrorView.model_validate(error),
        reason=outcome.reason if outcome else "",
        items=_items(root),
        listed=_list(sampled.leaves[0]) if spec.extract is not None and spec.extract.many and sampled.leaves else None,
        records=records,
        missing=dict(missing),
        fields=_common(proposed, spec),
        record_place=next((page.records for page in proposed if page.records), None),
        spent=UsageView.model_validate(sampled.job.usage),
        seconds=round(sampled.seconds, 2),
        estimate=_estimate(sampled),
    )


# --- the list -----------------------------------------------------------------------------------------


def _tasks(session: SessionDetail, kind: str) -> list[Task]:
    return [task for attempt in session.attempts for task in attempt if task.type == kind]


def _results(session: SessionDetail, kind: str) -> list[Mapping[str, Json]]:
    """Return what the tasks of a session gave, the last one last."""
    return [task.result for task in _tasks(session, kind) if isinstance(task.result, Mapping)]


def _sample_of(session: SessionDetail) -> Mapping[str, Json] | None:
    """Return what a session's loop told of its items; None where it has fanned out none."""
    return next((result for result in reversed(_results(session, "loop")) if "sample" in result), None)


def _items(root: SessionDetail) -> TriedItems | None:
    result = _sample_of(root)
    if result is None:
        return None
    sample = result["sample"]
    return TriedItems(
        found=sample["found"],
        shown=sample["shown"],
        whole=sample["whole"] and "cut" not in result,
        first=[TriedItem.model_validate(item) for item in sample["first"]],
        doubt=str(result.get("doubt", "")),
    )


def _list(leaf: SessionDetail) -> TriedList | None:
    readings = _results(leaf, "extract")
    if not readings:
        return None
    last = readings[-1]
    records, shown = int(last["records"]), last.get("shown")
    whole = bool(last["complete"]) and (shown is None or shown <= records)
    return TriedList(found=records, shown=shown, whole=whole, why=str(last.get("why", "")))


# --- records ------------------------------------------------------------------------------------------


def _records(sampled: Sampled) -> Iterator[TriedRecord]:
    """The records of each leaf, of a list as many as the sample has; one line for a leaf without any."""
    spec = sampled.job.spec
    most = spec.sample or 1
    for leaf in sampled.leaves:
        outcome = leaf.row.outcome
        if outcome is None:
            continue
        for record in outcome.records[:most]:
            yield _record(leaf, outcome, record, spec)
        if not outcome.records and (spec.extract is not None or outcome.error is not None):
            yield _record(leaf, outcome, None, spec)


def _record(leaf: SessionDetail, outcome: Outcome, record: Record | None, spec: JobSpec) -> TriedRecord:
    error = outcome.error
    value = record.value if record is not None else None
    sources = record.sources if record is not None else {}
    held = value if isinstance(value, Mapping) else {}
    candidates = _candidates(leaf, record)
    return TriedRecord(
        item=_item(leaf.row.item),
        url=(record.url if record is not None else "") or outcome.url,
        status=leaf.row.status,
        record=value,
        fields={
            name: TriedField(
                value=held.get(name),
                how=source.how,
                where=source.where,
                sureness=source.sureness,
                why=str(source.why),
                called=source.called,
            )
            for name, source in sources.items()
        },
        candidates={
            name: [TriedCandidate.model_validate(candidate) for candidate in several]
            for name, several in candidates.items()
        },
        missing=[name for name in _schema_fields(spec) if name not in sources],
        error=error and ErrorView.model_validate(error),
        seconds=outcome.seconds,
    )


def _candidates(leaf: SessionDetail, record: Record | None) -> Mapping[str, Sequence[Json]]:
    """Return what the page may state for fields that were not given;
    as the session told it, with places, where it did.
    """
    candidates = next(
        (result["candidates"] for result in reversed(_results(leaf, "extract")) if "candidates" in result), None
    )
    if isinstance(candidates, Mapping):
        return candidates
    known = record.candidates if record is not None else {}
    return {name: [{**asdict(candidate), "place": None} for candidate in several] for name, several in known.items()}


def _item(item: LoopItem | None) -> TriedItem | None:
    return None if item is None else TriedItem(value=item.value, label=item.label, is_link=item.is_link)


def _schema_fields(spec: JobSpec) -> list[str]:
    """The fields that the job's schema names."""
    schema = spec.extract.record_schema if spec.extract is not None else None
    properties = (schema or {}).get("properties")
    return list(properties) if isinstance(properties, Mapping) else []


# --- places -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Proposed:
    """The places that one page of the sample proposes."""

    given: frozenset[str]  # fields that its records have
    fields: Mapping[str, Sequence[Mapping[str, Json]]]  # places that give them, best first
    records: str | None  # what one record of a list is


def _proposed(leaf: SessionDetail) -> _Proposed | None:
    outcome = leaf.row.outcome
    places = next((result["places"] for result in reversed(_results(leaf, "extract")) if result.get("places")), None)
    if outcome is None or not outcome.records:
        return None
    given = frozenset(name for record in outcome.records for name in record.sources)
    if not isinstance(places, Mapping):
        return _Proposed(given, {}, None)
    return _Proposed(given, places["fields"], places["records"])


def _common(pages: Sequence[_Proposed], spec: JobSpec) -> dict[str, dict[str, Json]]:
    """Of each field the best place that works on all pages of the sample that have the field; what is given stays."""
    common: dict[str, dict[str, Json]] = {}
    for name in _schema_fields(spec):
        if spec.extract is not None and name in spec.extract.fields:
            common[name] = spec.extract.fields[name].model_dump(by_alias=True, exclude_defaults=True)
            continue
        several = [page.fields.get(name, ()) for page in pages if name in page.given]
        shared = [place for place in (several[0] if several else ()) if all(place in other for other in several)]
        if shared:
            common[name] = dict(shared[0])
    return common


# --- what the whole may take --------------------------------------------------------------------------


def _estimate(sampled: Sampled) -> TriedEstimate:
    """The root's own part once, and the mean of the leaves for each item; of nested loops with all their levels."""
    levels = [_sample_of(session) for session in sampled.sessions if session.row.children]
    counts = [(result["sample"]["found"], result["sample"]["whole"]) for result in levels if result is not None]
    items, exact = 1, True
    if counts:
        items, exact = counts[0]
        inner = [count for count, _ in counts[1:]]
        if inner:
            items, exact = round(items * sum(inner) / len(inner)), False
    ended = [leaf for leaf in sampled.leaves if leaf.row.outcome is not None] if counts else []
    inside = [session for session in sampled.sessions if session.row.children] if counts else list(sampled.sessions)
    share = items / len(ended) if ended else 0.0
    usage = _whole([_used(session) for session in inside], [_used(session) for session in ended], share)
    seconds = sum(_seconds(session) for session in inside) + share * sum(_seconds(session) for session in ended)
    return TriedEstimate(
        items=items,
        exact=exact,
        seconds=round(seconds, 1),
        pages=usage.pages,
        model_calls=usage.model_calls,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
    )


def _seconds(session: SessionDetail) -> float:
    """Return what the tasks of a session took: a root that waited for its items is not counted for the wait."""
    outcome = session.row.outcome
    worked = sum(task.seconds for attempt in session.attempts for task in attempt)
    return max(worked, outcome.seconds if outcome is not None and not session.row.children else 0.0)


def _used(session: SessionDetail) -> Usage:
    outcome = session.row.outcome
    return outcome.usage_before + outcome.usage if outcome is not None else Usage()


def _whole(inside: Sequence[Usage], leaves: Sequence[Usage], share: float) -> Usage:
    once = sum(inside, Usage())
    each = sum(leaves, Usage())
    parts = ("model_calls", "prompt_tokens", "completion_tokens", "cached_tokens", "pages")
    return Usage(**{name: getattr(once, name) + round(share * getattr(each, name)) for name in parts})
