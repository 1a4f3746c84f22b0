"""A job's result lines, wherever they lie: in the store, or in the archive that retention made of them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

from pydantic_core import from_json

from shoal.agent.support.json_value import Json
from shoal.services.artifacts.store import ArtifactStore
from shoal.services.errors import BadInput
from shoal.services.store.records import JobRow, ResultRow
from shoal.services.store.store import Store
from shoal.services.web.api.jobs import bad_cursor
from shoal.services.web.api.views.results import result_line
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.results.archive import Archive

Line = dict[str, Json]

PAGE = 500
"""Lines of one piece of an answer."""
_ARCHIVE_CURSOR = re.compile(r"archive-([0-9]{1,5})-([0-9]{1,9})", re.ASCII)
"""The cursor of an archive: a part of it, and how many lines of that part were given."""


@dataclass(frozen=True, slots=True, order=True)
class _Place:
    """The place that the reading of an archive has reached."""

    part: int = 0
    lines: int = 0  # of this part

    @property
    def cursor(self) -> str:
        return f"archive-{self.part}-{self.lines}"


async def job_lines(deps: GatewayDeps, job: JobRow, after: str | None = None) -> AsyncIterator[Line]:
    """All lines after the cursor. What can be wrong is found before the first line is asked for.

    Raises:
        BadInput: the cursor is none of this job's.
        ArtifactMissing: the job is archived and a part of its archive is gone; of a later one while lines are read.
    """
    if job.archive is not None:
        return await _begun(line async for _, line in _archived(deps.artifacts, job.archive, _place(after)))
    if after is not None:
        await _stored_page(deps.store, job.id, after, 1)
    return _stored(deps.store, job.id, after)


async def page_of_lines(
    deps: GatewayDeps, job: JobRow, after: str | None, limit: int
) -> tuple[AsyncIterator[Line], str | None]:
    """At most `limit` lines after the cursor, and the cursor of the next page where there may be one.

    Raises:
        BadInput, ArtifactMissing: as `job_lines`.
    """
    if job.archive is not None:
        lines: list[Line] = []
        async for place, line in _archived(deps.artifacts, job.archive, _place(after)):
            lines.append(line)
            if len(lines) == limit:
                return _each(lines), place.cursor
        return _each(lines), None
    rows = await _stored_page(deps.store, job.id, after, limit)
    return _each([result_line(row) for row in rows]), rows[-1].cursor if len(rows) == limit else None


async def _stored(store: Store, job: int, after: str | None) -> AsyncIterator[Line]:
    async for row in store.stream_results(job, after=after):
        yield result_line(row)


async def _stored_page(store: Store, job: int, after: str | None, limit: int) -> list[ResultRow]:
    try:
        return await store.results(job, after=after, limit=limit)
    except BadInput:
        raise bad_cursor("after") from None


async def _archived(artifacts: ArtifactStore, archive: str, after: _Place) -> AsyncIterator[tuple[_Place, Line]]:
    """Lines, each with the place behind it; parts before `after` are not read."""
    whole = Archive.named(archive)
    if after.part >= whole.parts:
        raise bad_cursor("after")
    place = _Place(after.part)
    async for part, line in whole.lines(artifacts, after.part):
        place = _Place(part, place.lines + 1 if part == place.part else 1)
        if place > after:
            yield place, from_json(line)


def _place(after: str | None) -> _Place:
    """Return what the cursor of an archive says was given. A cursor of the time before the archive is refused."""
    if after is None:
        return _Place()
    match = _ARCHIVE_CURSOR.fullmatch(after)
    if match is None:
        raise bad_cursor("after")
    return _Place(int(match[1]), int(match[2]))


async def _begun(lines: AsyncIterator[Line]) -> AsyncIterator[Line]:
    """`lines` with the first one read already, so that what fails at once fails while the answer can still say so."""
    first = await anext(lines, None)

    async def again() -> AsyncIterator[Line]:
        if first is not None:
            yield first
        async for line in lines:
            yield line

    return again()


async def _each(lines: list[Line]) -> AsyncIterator[Line]:
    for line in lines:
        yield line
