"""Data off one page by a model: in parts where it is long, each value looked up in its text, the list counted."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from shoal.agent.errors import FieldsMissing
from shoal.agent.models.decisions.extract import (
    asks_addresses,
    extract_schema,
    fields_lacking,
    fields_missing,
    has_value,
    merged,
    proposal_schema,
    records_in,
    schema_from,
)
from shoal.agent.models.model import Ask
from shoal.agent.models.reply import ModelAnswer, ReplyDoubt
from shoal.agent.policies.model.reading.field_knowledge import PageKnowledge, stated_in_data
from shoal.agent.policies.model.reading.whole_lists import PartReading, in_whole
from shoal.agent.policies.model.requests.asker import Asker
from shoal.agent.policies.model.requests.elements import in_parts
from shoal.agent.policies.model.requests.messages import messages_for, session_messages
from shoal.agent.policies.policy import Extraction, SessionState
from shoal.agent.policies.rules.lists.empty_list import states_empty_list
from shoal.agent.read.grounding.claims import Unproven, stated_count, texts_of, unproven, without
from shoal.agent.read.grounding.page_text import PageText
from shoal.agent.read.grounding.part_claims import partial_list_message
from shoal.agent.spec import ExtractSpec
from shoal.agent.support.json_value import Json
from shoal.agent.types import Observation, Record

_SHOWN_VALUES = 12
_NOT_THERE = "The page does not say some of these values: copy what stands there, or give null."


class ModelExtractor:
    """Reads records."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    async def read(self, state: SessionState) -> Extraction:
        """Return what the page shows of the job's `extract`.

        A value that the page does not say is asked for once more, with that said, and then left out: a field that is
        missing can be seen, an invented one cannot.

        Raises:
            FieldsMissing: one record is wanted, and the page shows nothing of it.
            ModelError: the model could not be asked, or gave no usable reply.
            BudgetSpent: the job's tokens are spent.
        """
        extract = await self._extract_spec(state)
        seen = await state.observe()
        text = state.pages.add(seen)
        known = PageKnowledge(extract, text, await stated_in_data(state.page, extract))
        page = _ReadPage(seen, text, known)
        # Where one part turns out too long for the model, all are read again: smaller parts begin elsewhere.
        readings, whole = await self._asker.fitting(state, lambda chars: self._parts(state, extract, page, chars))
        answers = [answer for reading in readings for answer in reading.answers()]
        values, doubted = await asyncio.to_thread(_proven, readings, extract, page)
        if not values and not extract.many:
            raise FieldsMissing(f"{state.page.url} shows nothing of what is wanted", transcript=_joined(answers))
        cut_off = any(answer.cut_off for answer in answers)
        missing = fields_missing(values, extract)
        shown = await asyncio.to_thread(_stated_record_count, answers, text)
        records = await asyncio.to_thread(_located, values, text, state.page.url)
        counted = bool(shown) and len(values) >= (shown or 0)
        whole_list = not extract.many or counted
        why = "" if whole_list else await asyncio.to_thread(partial_list_message, text.lines, texts_of(records))
        if seen.beyond and not whole_list:
            why = why or f"{seen.url} holds more than one look gives; the rest was not read"
        enough = whole and len(values) >= (shown or 0) if extract.many else not fields_lacking(missing, extract)
        return Extraction(
            records=records,
            empty=extract.many and not values and not why and await states_empty_list(state),
            complete=enough and not cut_off and not why,
            why=why,
            missing=missing,
            prompt=_joined(answers),
            shown=shown if extract.many else None,
            unproven=tuple(dict.fromkeys(claim.field for claim in doubted)),
            schema=state.proposed,
        )

    async def _parts(
        self, state: SessionState, extract: ExtractSpec, page: _ReadPage, chars: int
    ) -> tuple[tuple[PartReading[Json], ...], bool]:
        """The readings of the page's parts, and whether these are all of them."""
        parts = in_parts(self._asker.text_to_read(state, page.seen, addresses=asks_addresses(extract)), chars)
        options = self._asker.options
        # Where no model made the plan, its words are the job's, which the prompt has already.
        structured_data = await asyncio.to_thread(page.known.prompt_lines)
        plan = state.reading if state.spec.goal is not None and not state.only_reads else None

        async def ask(part: int, words: str) -> ModelAnswer[Json]:
            read = _Careful(extract, page, alone=parts == [words])
            variables = self._asker.prompt_variables(state, page.seen, words, chars, part)
            request = Ask(
                messages=session_messages(
                    "extract", {**variables, "reading": plan, "structured_data": structured_data}
                ),
                schema_name="extract",
                json_schema=extract_schema(extract),
                max_tokens=options.extract_tokens,
            )
            return await self._asker.ask(state, request, read, doubt_cut=False)

        readings = await in_whole(ask, parts[: options.parts], options.least_page_chars)
        return readings, len(parts) <= options.parts

    # --- the job has no schema -----------------------------------------------------------------------

    def recall(self, state: SessionState) -> None:
        """Takes up the fields that an earlier attempt, or the parent of a loop's items, has agreed on."""
        if state.proposed is not None:
            self._asker.jobs.propose(state.spec, state.proposed)

    async def agree(self, state: SessionState, loop: str) -> None:
        """Settles the fields of a job without a schema before its loop, planned in the words `loop`, fans out.

        All its items get the same ones.
        """
        await self._extract_spec(state, loop)

    async def _extract_spec(self, state: SessionState, loop: str | None = None) -> ExtractSpec:
        """The job's own wish, with a schema that a model proposes where the job has none."""
        jobs = self._asker.jobs
        self.recall(state)
        extract = jobs.extract(state.spec)
        if extract is None or extract.json_schema is None:
            # Made from the job's words alone, before any page.
            jobs.propose(state.spec, await self._asker.fitting(state, lambda chars: self._propose(state, loop)))
            extract = jobs.extract(state.spec)
        assert extract is not None
        own = state.spec.extract is not None and state.spec.extract.json_schema is not None
        state.proposed = None if own else extract.json_schema
        return extract

    async def _propose(self, state: SessionState, loop: str | None) -> Json:
        ask = Ask(
            messages=messages_for("propose", (), {**self._asker.jobs.words(state.spec), "loop": loop}),
            schema_name="propose",
            json_schema=proposal_schema(),
            max_tokens=self._asker.options.propose_tokens,
        )
        return (await self._asker.ask(state, ask, schema_from)).value


@dataclass(frozen=True, slots=True)
class _ReadPage:
    """The page that is read."""

    seen: Observation
    text: PageText
    known: PageKnowledge


@dataclass(frozen=True, slots=True)
class _Careful:
    """Takes a reply as it is, but doubts values that the page does not say, and lists that are too short."""

    extract: ExtractSpec
    page: _ReadPage
    alone: bool  # the part is the whole page

    def __call__(self, reply: Json) -> Json:
        records = records_in(reply, self.extract)
        invented = unproven(records, self.extract, self.page.text, self.page.known)
        doubts = [_NOT_THERE if invented else "", self._too_few(reply, len(records))]
        if any(doubts):
            named = "; ".join(str(claim) for claim in invented[:_SHOWN_VALUES])
            raise ReplyDoubt(" ".join(doubt for doubt in doubts if doubt), reply, named)
        return reply

    def _too_few(self, reply: Json, count: int) -> str:
        """A page that says "20 items" and gives 18 of them was read carelessly; one that gives few has more pages."""
        shown = reply["shown"] or 0
        if not (self.alone and self.extract.many and shown > count > shown // 2):
            return ""
        return f"`shown` is {shown}, but there are {count} records: give all that are in the text."


def _proven(
    readings: Sequence[PartReading[Json]], extract: ExtractSpec, page: _ReadPage
) -> tuple[list[Json], list[Unproven]]:
    """The records of all parts without what the page does not say, and that."""
    values = merged([_records(reading, extract) for reading in readings], many=extract.many)
    doubted = unproven(values, extract, page.text, page.known)
    return [value for value in without(values, doubted) if has_value(value)], doubted


def _located(values: Sequence[Json], text: PageText, url: str) -> tuple[Record, ...]:
    """The records, each value with its place on the page."""
    return tuple(Record(value, text.sources(value, "model"), url) for value in values)


def _records(reading: PartReading[Json], extract_spec: ExtractSpec) -> list[Json]:
    """The records of one part. Halves are put together first: only then does its end overlap with the next part."""
    if reading.answer is not None:
        return records_in(reading.answer.value, extract_spec)
    return merged([_records(half, extract_spec) for half in reading.halves], many=extract_spec.many)


def _stated_record_count(answers: Sequence[ModelAnswer[Json]], text: PageText) -> int | None:
    """Return how many records the page says that it has: by its own words, and as the model understood it."""
    counts = [answer.value["shown"] for answer in answers if answer.value["shown"] is not None]
    stated = stated_count(text.whole)
    return max([*counts, *([stated] if stated is not None else [])], default=None)


def _joined(answers: Sequence[ModelAnswer[Json]]) -> str:
    return "[" + ",\n".join(answer.transcript for answer in answers) + "]"
