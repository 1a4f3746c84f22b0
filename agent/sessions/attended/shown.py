"""A session in which a person shows by hand what is to be done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from shoal.agent.errors import HelpMissing
from shoal.agent.sessions.attended.attendance import Attendance, HandedBack
from shoal.agent.sessions.attended.takeover import TAKEN_OVER

BY_PERSON = "person"
"""The policy of a job that waits for such a person."""
ASKED = "Show what is to be done: take the page over, do it once, and hand the page back."


async def wait_for_demonstration(
    ask: Callable[[str, str], Awaitable[str]] | None,
    url: Callable[[], str],
    attendance: Attendance,
    give_way: Callable[[], Awaitable[HandedBack]],
) -> HandedBack | None:
    """Return how the person handed the page back;
    None where somebody answers in words instead of taking it over.

    A person who goes away is waited for again.

    Args:
        ask: people, who are told the session's question and its page.
        url: gives the page's address.
        give_way: lets the person who waits act.

    Raises:
        HelpMissing: no person can be asked, or none came in time.
    """
    while True:
        if not attendance.is_person_waiting:
            if ask is None:
                raise HelpMissing("there is no person to ask: the job needs `help.person`")
            if await ask(ASKED, url()) != TAKEN_OVER:
                return None
            if not attendance.is_person_waiting:
                continue  # they have left again already
        end = await give_way()
        if not end.away:
            return end
