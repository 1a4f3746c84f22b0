"""Outcomes for each end of a session, with what a next attempt or a person has to know."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from shoal.agent.errors import (
    AgentError,
    AnswerMissing,
    BrowserError,
    Canceled,
    FieldsMissing,
    FormRefused,
    LoopFailed,
    NothingWorks,
    UnsureAction,
)
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.sessions.attempt import Attempt
from shoal.agent.sessions.loops.loop_items import left_out
from shoal.agent.sessions.loops.shortfall import incomplete, nothing_read
from shoal.agent.sessions.once import begun_anew, in_doubt
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import Checkpoint, Outcome

_EVIDENCE_S = 5.0
"""Seconds that a failed session may take to photograph its page."""


def ended(attempt: Attempt, status: Status, **more: object) -> Outcome:
    """The outcome with what every end tells; `more` replaces fields of it."""
    outcome = Outcome(
        status=status,
        records=attempt.state.records,
        url=attempt.page.url,
        tasks=attempt.state.history,
        screenshot=attempt.evidence.last_screenshot,
        error_codes=tuple(dict.fromkeys(attempt.error_codes)),
        replay=attempt.replay,
    )
    return replace(outcome, **more)  # type: ignore[arg-type]


def completed(attempt: Attempt, plan: Plan) -> Outcome:
    """The goal is reached: what the plan says, with all that was left out or is in doubt.

    Raises:
        AnswerMissing: the goal asks for an answer, and none was given.
        FormIncomplete: the form that was to be sent last was not.
        FieldsMissing: pages were read and gave no record, and none of them says that its list is empty.
    """
    if attempt.state.asks and not attempt.state.answered and not attempt.deps.policy.instant:
        raise AnswerMissing("the goal asks for an answer, and the session ended without one")
    if attempt.unsent is not None:
        raise attempt.unsent
    asked = attempt.work.spec.extract is not None
    last = nothing_read(attempt.state.history, len(attempt.state.records), asked=asked)
    if last is not None:
        raise _no_record(attempt, last)
    results = [task.result for task in attempt.state.history]
    answered = next((task for task in reversed(attempt.state.history) if isinstance(task.result, str)), None)
    loops = [result for result in results if isinstance(result, dict)]
    remarks = [str(result[word]) for result in loops for word in ("doubt", "cut") if word in result]
    remarks += [left_out(int(result.get("left_out", 0))) for result in loops]
    missing = incomplete(attempt.state.history, many=_asks_for_many(attempt))
    if missing is not None and missing.why:
        remarks += [missing.why] if missing.why not in remarks else []
    remarks += [attempt.glossary.told] if attempt.glossary is not None and attempt.work.depth == 0 else []
    remarks += [attempt.kept_off.message] if attempt.kept_off is not None else []
    reason = "; ".join(filter(None, (plan.thoughts, *remarks)))
    told_last = {"answer": answered.result, "rests_on": answered.rests_on} if answered is not None else {}
    return ended(
        attempt, Status.COMPLETED, reason=reason, incomplete=missing, rejected=tuple(attempt.rejected), **told_last
    )


def _no_record(attempt: Attempt, last: dict[str, Json]) -> FieldsMissing:
    """Why a session that read data has no record: the fields, and what there is instead."""
    fields, awaited = tuple(map(str, last.get("missing", ()))), str(last.get("awaited", ""))
    why = str(last.get("why", "")) or f"the page shows no record with {', '.join(fields) or 'what is asked for'}"
    message = "; ".join(filter(None, (f"{attempt.page.url}: {why}", awaited)))
    return FieldsMissing(message, fields=fields, awaited=awaited)


def _asks_for_many(attempt: Attempt) -> bool:
    """Return whether the records of this session are a list:
    by the job's schema, or by the one that a model proposed.
    """
    extract, proposed = attempt.work.spec.extract, attempt.state.proposed
    if extract is not None and extract.json_schema is not None:
        return extract.many
    return isinstance(proposed, dict) and proposed.get("type") == "array"


def terminated(attempt: Attempt, reason: str, codes: tuple[str, ...]) -> Outcome:
    """The policy gave the goal up."""
    attempt.error_codes = (*attempt.error_codes, *codes)
    stopped = [error.message for error in (attempt.unsent, attempt.kept_off) if error is not None]
    return ended(attempt, Status.TERMINATED, reason="; ".join(filter(None, (reason, *stopped))))


def left_unsure(attempt: Attempt, action: str, why: str = "") -> Outcome:
    """The store has the mark of `action`, and keeps it."""
    error = UnsureAction(f"the session died during {action}{why}")
    return ended(attempt, Status.UNSURE, error=error.info(), reason=error.message)


def _leaves_doubt(attempt: Attempt, error: AgentError) -> bool:
    """Return whether the session did what must not be done twice,
    and ends for good without knowing what became of it.

    It does know once a loop came after it. Rules know which of their own actions send, and where the site itself
    says that it did not take the form; but only in the attempt that saw it.
    """
    if not attempt.confirmed or error.retryable or isinstance(error, (Canceled, LoopFailed)):
        return False
    if attempt.deps.policy.instant and not attempt.lost_pages:
        return attempt.sent and not isinstance(error, FormRefused)
    return True


def _doubtful(attempt: Attempt, error: AgentError) -> Outcome:
    unsure = UnsureAction(f"{attempt.confirmed[-1]} was done, and then: {error.message}")
    known = in_doubt(attempt.saved or Checkpoint(confirmed=attempt.confirmed))
    return ended(attempt, Status.UNSURE, error=unsure.info(), reason=unsure.message, checkpoint=known)


async def failed(attempt: Attempt, error: AgentError) -> Outcome:
    """The outcome of a session that `error` ended, with a picture of the page where one can still be had."""
    await attempt.evidence.keep_transcript(error)
    shows = attempt.page.opened and not isinstance(error, (Canceled, BrowserError))  # else there is nothing to be had
    if shows:
        try:
            async with asyncio.timeout(_EVIDENCE_S):
                await attempt.evidence.keep_downloads()
        except (AgentError, TimeoutError) as lost:
            error.add_note(f"no downloads: {lost}")
    pictured = attempt.work.spec.artifacts.screenshots != "none"
    if pictured and shows:
        try:
            async with asyncio.timeout(_EVIDENCE_S):
                await attempt.evidence.photograph()
        except (AgentError, TimeoutError) as lost:
            error.add_note(f"no screenshot: {lost}")
    if attempt.begun and not isinstance(error, Canceled):
        return left_unsure(attempt, attempt.begun, f": {error.message}")
    if _leaves_doubt(attempt, error):
        try:
            async with asyncio.timeout(_EVIDENCE_S):
                await attempt.evidence.keep_both_pages(shows)
        except (AgentError, TimeoutError) as lost:
            error.add_note(f"no pages: {lost}")
        return _doubtful(attempt, error)
    error = _stopped_by(attempt, error)
    retry_after = error.details.get("retry_after_s")
    status = Status.CANCELED if isinstance(error, Canceled) else Status.FAILED
    return ended(
        attempt,
        status,
        records=(),
        error=error.info(),
        reason="; ".join((error.message, *getattr(error, "__notes__", ()))),
        checkpoint=_left_behind(attempt, error),
        retry_after_s=float(str(retry_after)) if retry_after is not None else None,
    )


def _stopped_by(attempt: Attempt, error: AgentError) -> AgentError:
    """Return what ended the session: an action that was stopped, where `error` is what came of that."""
    stopped = attempt.unsent or attempt.kept_off
    passes = error.retryable and not isinstance(error, NothingWorks)  # another attempt would be stopped like this one
    if stopped is None or stopped is error or passes or isinstance(error, Canceled):
        return error
    stopped.add_note(error.message)
    return stopped


def _left_behind(attempt: Attempt, error: AgentError) -> Checkpoint | None:
    """Return where a next attempt goes on; it knows what this one has spent since then."""
    saved = attempt.saved
    if saved is not None and saved.confirmed and not error.retryable:  # no doubt is left: it may all be done again
        saved = replace(saved, confirmed=()) if isinstance(error, LoopFailed) else begun_anew(saved)
    if not attempt.state.usage.model_calls:
        return saved
    return replace(saved or Checkpoint(), usage=attempt.state.spent_before + attempt.state.usage)
