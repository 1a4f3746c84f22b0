"""The steps of a running session so far, asked of its worker while people look at one of its pages."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.agent.status import Status
from shoal.agent.types import Task
from shoal.services.errors import QuotaExceeded, WrongState
from shoal.services.store.records import SessionRow
from shoal.services.web.live.rooms import LiveRooms


@dataclass(frozen=True, slots=True)
class Progress:
    """The steps of a running session so far. Nothing of it is stored before the attempt ends."""

    tasks: tuple[Task, ...] = ()  # the last one may be under way; without what they gave
    left_out: int = 0  # earlier steps that are not among them
    missing: str = ""  # why nothing is known, in words; "" when something is


async def progress_of(rooms: LiveRooms, row: SessionRow, tenant: str, looks: str) -> Progress | None:
    """Return what `row`, a session of `tenant`, has done so far, for a person of the tenant `looks`;
    None: it does not run.

    The first call asks the session's worker, whose answer comes some seconds later. It goes on telling for as long as
    this is called again within some seconds.
    """
    if row.status is not Status.RUNNING:
        return None
    try:
        room = rooms.of(row.id, tenant, looks)
    except (WrongState, QuotaExceeded) as error:
        return Progress(missing=f"Its steps are shown when the attempt ends. {error.message}")
    room.ask_for_steps()
    if not room.linked:
        await rooms.request(room)
    if room.steps is None:
        return Progress(missing="Its worker is asked what it has done so far.")
    return Progress(room.steps.tasks, room.steps.left_out)
