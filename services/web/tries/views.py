"""The API's answer to a try: the items of its list, some records with the place of each value, and an estimate of the
whole.
"""

from __future__ import annotations

from pydantic import Field

from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.sureness import Sureness
from shoal.services.web.api.views.base import ErrorView, UsageView, View
from shoal.services.web.api.views.results import CandidateView


class TriedItem(View):
    """One value of the loop."""

    value: str
    label: str
    is_link: bool


class TriedItems(View):
    """The items of the job's loop."""

    found: int = Field(description="so many were found")
    shown: int | None = Field(description="so many the page says that there are; null: it does not say")
    whole: bool = Field(description="false: collecting was ended by its time, and there are more")
    first: list[TriedItem] = Field(description="the first of them")
    doubt: str = Field(description="why they may not be those that were meant; empty: nothing says so")


class TriedList(View):
    """The records of a list on one page: of its first page."""

    found: int = Field(description="so many the first page gave")
    shown: int | None = Field(description="so many the page says that there are; null: it does not say")
    whole: bool = Field(description="false: the list goes on, or the page shows more than was read")
    why: str = Field(description="why there are no records, or not all of them")


class TriedField(View):
    """One value of a record, and where it is from."""

    value: Json
    how: str
    where: str
    sureness: Sureness
    why: str
    called: str = Field(
        "", description="the word of the field glossary by which the place is known; empty: the field's own"
    )


class TriedCandidate(CandidateView):
    """A value that the page may state for a field that was not given."""

    place: dict[str, Json] | None = Field(
        description="for `extract.fields`: it gave this very value; null: no place is known that does"
    )


class TriedRecord(View):
    """One record that was read, or an item that gave none."""

    item: TriedItem | None
    url: str
    status: Status
    record: Json
    fields: dict[str, TriedField] = Field(description="each value with its source")
    candidates: dict[str, list[TriedCandidate]] = Field(
        description="of fields that are missing: what the page may state"
    )
    missing: list[str] = Field(description="fields of the schema without a value")
    error: ErrorView | None
    seconds: float = Field(description="of the session that read it")


class TriedEstimate(View):
    """An estimate of the whole job, from the sample."""

    items: int = Field(description="of the loop, as far as is known; 1 without a loop")
    exact: bool = Field(description="false: there are more items than that, or their number is not known")
    seconds: float = Field(description="of browser time, one item after the other; `concurrency` divides it")
    pages: int
    model_calls: int
    prompt_tokens: int
    completion_tokens: int


class TryView(View):
    """The answer to a try."""

    status: Status = Field(description="how the sample ended")
    finished: bool = Field(description="false: its time was over before all of it was done")
    error: ErrorView | None
    reason: str
    items: TriedItems | None = Field(description="of a job with a loop")
    listed: TriedList | None = Field(description="of a job that reads many records from one page")
    records: list[TriedRecord] = Field(description="the first ones")
    missing: dict[str, int] = Field(description="fields that are missing, and in how many of these records")
    fields: dict[str, dict[str, Json]] = Field(
        description="places for `extract.fields`: each gave the very value on every page of the sample that has it"
    )
    record_place: str | None = Field(description="for `extract.records`, where the places of a list need it")
    spent: UsageView
    seconds: float = Field(description="from the request to the answer")
    estimate: TriedEstimate
