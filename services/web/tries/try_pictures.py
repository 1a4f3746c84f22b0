"""Pictures of the pages where a sample ended, with what a person can point at: read before the sample is deleted."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence

from shoal.agent.artifact_kind import POINTING
from shoal.agent.support.json_value import Json
from shoal.services.artifacts.store import ArtifactStore
from shoal.services.errors import ArtifactMissing, ArtifactStoreAway
from shoal.services.store.records import ArtifactRow, SessionDetail

_MOST = 3
"""Pages of one answer that come with a picture."""


async def pictures_of(artifacts: ArtifactStore, sessions: Sequence[SessionDetail]) -> list[dict[str, Json]]:
    """Of the first pages where sessions ended: `url`, `jpeg` (base64), its size in CSS pixels, `fields`, `elements`.

    A picture that cannot be read is left out.
    """
    pictures: list[dict[str, Json]] = []
    for session in sessions:
        if len(pictures) == _MOST:
            break
        picture = await _picture_of(artifacts, session)
        if picture is not None:
            pictures.append(picture)
    return pictures


async def _picture_of(artifacts: ArtifactStore, session: SessionDetail) -> dict[str, Json] | None:
    pointing = _last(session.artifacts, POINTING)
    if pointing is None:
        return None
    try:
        pointed = json.loads(await artifacts.get(pointing.key))
        picture = next((row for row in session.artifacts if row.id == pointed["picture"]), None)
        if picture is None:
            return None
        jpeg = base64.b64encode(await artifacts.get(picture.key)).decode()
    except (ArtifactMissing, ArtifactStoreAway):
        return None
    return {**{key: value for key, value in pointed.items() if key != "picture"}, "jpeg": jpeg}


def _last(rows: Sequence[ArtifactRow], kind: str) -> ArtifactRow | None:
    """The last artifact of a kind: an attempt before may have kept one too."""
    return next((row for row in reversed(rows) if row.kind == kind), None)
