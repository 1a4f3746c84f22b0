"""A gateway's answer to a try, as frozen records."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.sureness import Sureness
from shoal.records import Candidate, Failure, Reply, Usage


class TriedItem(Reply):
    """One value of the loop."""

    value: str
    label: str = Field(description="what the page calls the item")
    is_link: bool


class TriedItems(Reply):
    """The items of the job's loop."""

    found: int
    shown: int | None = Field(description="how many the page says that there are; None: it does not say")
    whole: bool = Field(description="False: collecting was ended by its time, and there are more")
    first: tuple[TriedItem, ...] = Field(description="the first of them")
    doubt: str = Field(description="why they may not be those that were meant; empty: nothing says so")


class TriedList(Reply):
    """The records of a list on its first page."""

    found: int
    shown: int | None = Field(description="how many the page says that there are; None: it does not say")
    whole: bool = Field(description="False: the list goes on, or the page shows more than was read")
    why: str = Field(description="why there are no records, or not all of them")


class TriedField(Reply):
    """One value of a record, and where it is from."""

    value: Json
    how: str = Field(description="as of a `Source`")
    where: str = Field(description="as of a `Source`")
    sureness: Sureness
    why: str = Field(description="the reason for `sureness`, in words")
    called: str = Field("", description="as of a `Source`")


class TriedCandidate(Candidate):
    """A value that the page may state for a field that was not given."""

    place: Mapping[str, Json] | None = Field(
        description="for `extract.fields`: it gave this very value; None: no place is known that does"
    )


class TriedRecord(Reply):
    """One record that was read, or an item that gave none."""

    item: TriedItem | None = Field(description="the loop's value that it belongs to; None: the job has no loop")
    url: str
    status: Status
    record: Json
    fields: Mapping[str, TriedField] = Field(description="each value with its source")
    candidates: Mapping[str, tuple[TriedCandidate, ...]] = Field(
        description="of fields that are missing: what the page may state"
    )
    missing: tuple[str, ...] = Field(description="fields of the schema without a value")
    error: Failure | None
    seconds: float = Field(description="of the session that read it")


class TriedEstimate(Reply):
    """An estimate of the whole job, from the sample."""

    items: int = Field(description="of the loop, as far as is known; 1 without a loop")
    exact: bool = Field(description="False: there are more items than that, or their number is not known")
    seconds: float = Field(description="of browser time, one item after the other; `concurrency` divides it")
    pages: int
    model_calls: int
    prompt_tokens: int
    completion_tokens: int


class Trial(Reply):
    """A sample of a job that ran at once, and of which nothing is kept."""

    status: Status = Field(description="how the sample ended")
    finished: bool = Field(description="False: its time was over before all of it was done")
    error: Failure | None
    reason: str
    items: TriedItems | None = Field(description="of a job with a loop")
    listed: TriedList | None = Field(description="of a job that reads many records from one page")
    records: tuple[TriedRecord, ...] = Field(description="the first ones")
    missing: Mapping[str, int] = Field(description="fields that are missing, and in how many of these records")
    fields: Mapping[str, Mapping[str, Json]] = Field(
        description="places for `extract.fields`: each gave the very value on every page of the sample that has it"
    )
    record_place: str | None = Field(description="for `extract.records`, where the places of a list need it")
    spent: Usage
    seconds: float = Field(description="from the request to the answer")
    estimate: TriedEstimate
