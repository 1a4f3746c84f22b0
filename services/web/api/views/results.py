"""The API's views of a record, and of a result line."""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

from pydantic import Field

from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.sureness import Audited, Sureness
from shoal.agent.types import Basis
from shoal.services.store import ids
from shoal.services.store.records import ResultRow
from shoal.services.web.api.views.base import ErrorView, ItemView, JobId, SessionId, View


class BoxView(View):
    """A rectangle in CSS pixels, from the page's top left corner."""

    x: float
    y: float
    width: float
    height: float


class SourceView(View):
    """The source of a field's value."""

    how: str
    where: str
    confirmed: bool
    sureness: Sureness
    why: str
    box: BoxView | None = Field(None, description="of its element on the record's picture; null or missing: unknown")
    called: str = Field(
        "", description="the word of the field glossary by which the place is known; missing: the field's"
    )


class RecordPictureView(View):
    """A picture of the page that a record was read from."""

    artifact: str
    shows: BoxView = Field(description="the part of the page that it shows")


class CandidateView(View):
    """A value that was not given: it is weak, or others are as good."""

    value: Json
    how: str
    where: str
    sureness: Sureness
    why: str


class CarriedOverView(View):
    """The source of a record that was not read anew, since its page had not changed."""

    session: SessionId = Field(description="that read it; `at` says when")
    by: Literal["not_modified", "same_content", "sitemap"] = Field(
        description="`not_modified`: the site said so; `same_content`: the page's document was the same; "
        "`sitemap`: its sitemap said so"
    )


class RecordView(View):
    """One extracted record."""

    value: Json
    sources: dict[str, SourceView]
    candidates: dict[str, tuple[CandidateView, ...]]
    url: str
    at: str
    picture: RecordPictureView | None = Field(None, description="null: none was kept of the page as it was read")


class QuotationView(View):
    """Words of a page that an answer rests on."""

    text: str = Field(description="as the answer quotes them")
    url: str = Field(description="the page that shows them")
    where: str = Field(description="the page's text around them")


class ComputationView(View):
    """A value that an answer computes; code has made the arithmetic again."""

    operation: str = Field(description="sum, average, count, comparison, …")
    values: tuple[Json, ...] = Field(description="what it is computed from; each stands on a page or in a record")
    result: Json = Field(description="a number, rounded to the digits that it has; of a comparison a word")


class BasisView(View):
    """The evidence that an answer rests on."""

    quotations: tuple[QuotationView, ...]
    records: tuple[int, ...] = Field(description="positions among the session's records, from 0")
    computed: ComputationView | None = Field(description="null: nothing was computed")


class SpentView(View):
    """The model calls and tokens of one line of the results."""

    model_calls: int
    prompt_tokens: int
    completion_tokens: int


class ResultView(View):
    """One line of the results: a record, an answer, or an item that gave neither."""

    job: JobId
    session: SessionId
    item: ItemView | None
    status: Status
    record: Json
    error: ErrorView | None
    url: str
    at: str
    attempts: int
    seconds: float
    sources: dict[str, SourceView]
    candidates: dict[str, tuple[CandidateView, ...]]
    screenshot: str | None
    answer: str = Field(description='of the session, on the first of its lines; "": it gave none')
    rests_on: BasisView | None = Field(description="of the answer")
    tier: str = Field(
        "", description="what the record was read by: `http`, `page` or `session`; empty without a record"
    )
    workflow: str = Field("", description="workflow and version that read the record, as `NAME@2`; empty for none")
    audit: Audited = Field(
        "",
        description="what its baseline's reading said of a record that a workflow read; empty: none was asked for",
    )
    provisional: bool = Field(
        False,
        description="a workflow read the record, and no audit has confirmed since what the same branches read",
    )
    carried_over: CarriedOverView | None = Field(None, description="null: this run read the record")
    usage: SpentView


class ChangedFieldView(View):
    """A field that differs."""

    before: Json
    after: Json


class SeenView(View):
    """The place and the time of reading a record in one of the runs."""

    session: SessionId
    item: str | None = Field(description="value of the loop's item; null: the record is of no item")
    url: str
    at: str


class RecordChangeView(View):
    """The change of one record from one run to a later one."""

    change: Literal["appeared", "went", "changed", "unclear"]
    key: str | None = Field(description="what names the record in both runs; of several fields a JSON list")
    why: str = Field(description="of `unclear`: the reason; of `changed`: what else is unclear")
    fields: dict[str, ChangedFieldView] = Field(description="of `changed`: those that differ")
    record: Json = Field(description="as the later run has it; of one that went, as the earlier one had it")
    before: SeenView | None = Field(description="null: the earlier run has no such record")
    after: SeenView | None = Field(description="null: the later run has no such record")


def result_line(row: ResultRow) -> dict[str, Json]:
    """`row` as the object that all outputs share. A plain dict: results go out by the million."""
    record, error, item = row.record, row.error, row.item
    return {
        "job": ids.job_id(row.job),
        "session": ids.session_id(row.session),
        "item": item and {"index": item.index, "value": item.value, "is_link": item.is_link, "label": item.label},
        "status": str(row.status),
        "record": record.value if record else None,
        "error": error
        and {"class": error.cls, "code": error.code, "message": error.message, "retryable": error.retryable},
        "url": row.url,
        "at": row.at,
        "attempts": row.attempts,
        "seconds": row.seconds,
        "sources": {
            field: {
                **{"how": source.how, "where": source.where, "confirmed": source.confirmed},
                **{"sureness": source.sureness, "why": source.why},
                **({} if source.box is None else {"box": asdict(source.box)}),
                **({"called": source.called} if source.called else {}),
            }
            for field, source in (record.sources.items() if record else ())
        },
        "candidates": {
            field: [
                {
                    "value": candidate.value,
                    "how": candidate.how,
                    "where": candidate.where,
                    "sureness": candidate.sureness,
                    "why": candidate.why,
                }
                for candidate in candidates
            ]
            for field, candidates in (record.candidates.items() if record else ())
        },
        "screenshot": row.screenshot,
        "answer": row.answer,
        "rests_on": basis_told(row.rests_on),
        "tier": record.tier if record else "",
        "workflow": record.workflow if record else "",
        "audit": record.audit if record else "",
        "provisional": row.provisional,
        "carried_over": asdict(record.carried_over) if record and record.carried_over else None,
        "usage": {
            "model_calls": row.usage.model_calls,
            "prompt_tokens": row.usage.prompt_tokens,
            "completion_tokens": row.usage.completion_tokens,
        },
    }


def basis_told(basis: Basis | None) -> dict[str, Json] | None:
    """Return what an answer rests on, as an object."""
    return None if basis is None else asdict(basis)
