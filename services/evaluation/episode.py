"""One episode of a suite: the job, how its outcome is checked, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from shoal.agent.support.json_value import Json

Complete = Literal["yes", "no", "unsure"]


class _SuitePart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PageCheck(_SuitePart):
    """Conditions on a page once the job is over; it is fetched by HTTP, without the browser's login."""

    url: str
    send: bool = Field(False, description="sends `answer`, `records` and `url` of the run by POST, as JSON")
    status: int = 200
    contains: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    json_: dict[str, Json] = Field(
        default_factory=dict, alias="json", description="values of a JSON answer, by path: a.0.b"
    )


class Check(_SuitePart):
    """The conditions that make an episode a success. All parts that are given must hold; with none, the job must have
    completed.
    """

    status: str = Field("completed", description="the job's final status")
    records: tuple[Json, ...] | None = Field(None, description="the records that are expected")
    match: Literal["equal", "subset"] = Field(
        "subset", description="subset: further fields of a record do not matter; equal: they do"
    )
    ordered: bool = Field(False, description="whether the records' order matters")
    answer: str | None = Field(None, description="a regular expression that the answer must hold")
    address: str | None = Field(None, description="a regular expression for where the session ended")
    page: PageCheck | None = None
    judge: bool = Field(False, description="a model's verdict on the whole run must be yes")


class SuiteLine(_SuitePart):
    """One line of a suite file."""

    name: str = Field(min_length=1, max_length=120, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]*$")
    group: str = Field("", description="what the report sums up by; default: the name before its first colon")
    job: dict[str, Json]
    check: Check = Check()
    label: Literal["yes", "no"] | None = Field(None, description="what people said of such a run: measures the judge")

    @model_validator(mode="after")
    def _has_url(self) -> SuiteLine:
        if not isinstance(self.job.get("url"), str):
            raise ValueError("`job` needs a `url`")
        return self


class Label(_SuitePart):
    """A person's judgement of one episode's run."""

    name: str
    label: Literal["yes", "no"]


@dataclass(frozen=True, slots=True)
class Episode:
    """One thing to try."""

    name: str  # within its suite; the key of everything that is kept about it
    group: str  # what it counts to in the report
    job: Mapping[str, Json]  # the job spec; empty for MiniWoB++, whose job is made when its page is served
    check: Check = Check()
    seed: int | None = None  # of a MiniWoB++ task
    label: Literal["yes", "no"] | None = None


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """The result of one episode; a line of `episodes.jsonl`."""

    name: str
    group: str
    success: bool
    why: str  # what the check found
    failure: str = ""  # class of the failure: an error code, "terminated", "wrong", "unsure", ...; "" on success
    status: str = ""  # the job's
    steps: int = 0
    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    pages: int = 0
    seconds: float = 0.0  # from start to end of the job
    job: str = ""  # id
    label: Literal["yes", "no"] | None = None
    verdict: Complete | None = None  # the judge's
    reason: str = ""  # the judge's
    sub_scores: Mapping[str, str] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """Prompt and reply together."""
        return self.prompt_tokens + self.completion_tokens
