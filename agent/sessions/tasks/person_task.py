"""Actions of a person on the page of a session, as steps of the session."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

from shoal.agent.sessions.attempt import Attempt
from shoal.agent.sessions.attended.attendance import HandedBack
from shoal.agent.sessions.attended.shown import wait_for_demonstration
from shoal.agent.sessions.attended.takeover import describe_end, may_send, of_the_end, storable_result
from shoal.agent.sessions.ends import ended, terminated
from shoal.agent.sessions.tasks.perform import NOTHING_DONE
from shoal.agent.sessions.tasks.unrepeatable import begin_mark, confirm_mark, lift_mark
from shoal.agent.status import Status
from shoal.agent.support.moments import utc_now
from shoal.agent.types import Action, ActionResult, Outcome, Step, Task
from shoal.agent.workflows.by_hand.drafting import KIND as DRAFT
from shoal.agent.workflows.by_hand.drafting import drafted, no_draft
from shoal.agent.workflows.by_hand.hand_book import HandBook

BY_HAND = "what a person did on the page"
"""The mini goal of a takeover between two of the session's own."""


async def perform_by_person(attempt: Attempt) -> Outcome:
    """A person does by hand what is wanted; a workflow is drafted of it."""
    await attempt.page.open()
    attempt.hand_book = HandBook(attempt.state.hidden.redacted_text)
    with attempt.budget.uncounted():
        end = await wait_for_demonstration(
            attempt.ask_person, lambda: attempt.page.url, attempt.attendance, partial(give_way, attempt)
        )
    if end is None:
        return terminated(attempt, "a person answered in words, and showed nothing", ())
    draft, open_ = drafted(
        await attempt.hand_book.book(attempt.page), attempt.work.spec.url, f"by-hand-j{attempt.work.job}"
    )
    if draft is not None:
        await attempt.evidence.keep(DRAFT, draft, "application/json")
    return ended(attempt, Status.COMPLETED, reason="; ".join((describe_end(end), *map(no_draft, open_))))


async def give_way(attempt: Attempt) -> HandedBack:
    """Between two mini goals: what a person does is one of its own, so that the next plan knows of it."""
    with attempt.working_on("navigate", BY_HAND) as steps:
        end = await hand_over_to_person(attempt, steps)
    attempt.done_by_hand = describe_end(end) if end.done else ""
    task = Task("navigate", BY_HAND, Status.COMPLETED, reason=describe_end(end), steps=tuple(steps))
    attempt.state.history = (*attempt.state.history, task)
    await attempt.checkpoint()
    return end


async def hand_over_to_person(attempt: Attempt, steps: list[Step]) -> HandedBack:
    """Lets the person who waits act on the page, and puts what they do behind `steps`."""
    await attempt.page.open()
    shown = attempt.hand_book
    attempt.hand_book = shown or HandBook(attempt.state.hidden.redacted_text)
    begun = attempt.page.url

    async def act(action: Action, name: str) -> ActionResult:
        return await _act_by_hand(attempt, action, name, steps)

    with attempt.budget.uncounted():
        end = await attempt.attendance.lead(act)
    steps.append(of_the_end(end, len(steps), attempt.state.hidden.address(attempt.page.url)))
    await attempt.evidence.keep_downloads()
    if shown is None:
        book, attempt.hand_book = attempt.hand_book, None
        if not end.away:  # else they did not come to the end of it
            await _draft_takeover(attempt, book, begun)
    return end


async def _draft_takeover(attempt: Attempt, book: HandBook, begun: str) -> None:
    """Keeps a workflow of what a person did between the agent's own steps, where all of it can be taken over.

    Args:
        begun: the address at which they took the page over.
    """
    if not book.actions:
        return
    work = attempt.work
    draft, _ = drafted(await book.book(attempt.page), begun, f"by-hand-j{work.job}-s{work.session}", whole=False)
    if draft is not None:
        await attempt.evidence.keep(DRAFT, draft, "application/json")


async def _act_by_hand(attempt: Attempt, action: Action, name: str, steps: list[Step]) -> ActionResult:
    """One action of a person. One that may send something is marked, unless the job says that it may be repeated:
    whether a job only reads says nothing about what a person does."""
    started, seen = time.monotonic(), attempt.attendance.last_frame
    attempt.by_hand = True
    url = attempt.state.hidden.address(attempt.page.url)
    begun = Step(len(steps), url, f"{name or 'a person'} did this by hand", (), at=utc_now())
    once = attempt.work.spec.repeatable is not True and may_send(action) and not await attempt.page.harmless(action)
    if once:
        attempt.sent = True
        await begin_mark(attempt, action)
    pointed = await attempt.hand_book.before(attempt.page, action) if attempt.hand_book is not None else None
    done = await attempt.page.act(replace(action, submits=once))
    if attempt.hand_book is not None:
        await attempt.hand_book.after(attempt.page, done, pointed)
    result = attempt.state.hidden.result(storable_result(done, steps))
    if result.error is not None and result.error.code in NOTHING_DONE:
        await lift_mark(attempt)
    shot = None
    if seen is not None and attempt.work.spec.artifacts.screenshots == "all":
        shot = await attempt.evidence.keep("screenshot", seen.jpeg, "image/jpeg")
    seconds = round(time.monotonic() - started, 4)
    errors = await attempt.evidence.page_errors()
    steps.append(replace(begun, results=(result,), screenshot=shot, seconds=seconds, page_errors=errors))
    if attempt.begun:
        await confirm_mark(attempt, tuple(steps))
    return result
