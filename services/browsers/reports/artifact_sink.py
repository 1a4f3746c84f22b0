"""Puts one session's evidence into the artifact store, under keys that say whose it is."""

from __future__ import annotations

import mimetypes
from uuid import uuid4

from shoal.agent.artifact_kind import ArtifactKind
from shoal.agent.errors import ActionRefused, ArtifactsAway
from shoal.agent.hooks import Upload
from shoal.agent.types import ArtifactRef
from shoal.agent.worker_messages import Work
from shoal.services.artifacts.store import ArtifactStore
from shoal.services.errors import ArtifactMissing, ArtifactStoreAway


class StoredArtifactSink:
    """Keys are `tenant/job/session/attempt-id.ext`: a job's artifacts share a prefix and can be deleted by it."""

    def __init__(self, store: ArtifactStore, work: Work) -> None:
        self._store = store
        self._work = work

    async def keep(self, kind: ArtifactKind, data: bytes, content_type: str) -> ArtifactRef:
        name = uuid4().hex
        work = self._work
        extension = mimetypes.guess_extension(content_type) or ".bin"
        key = f"{work.tenant}/{work.job}/{work.session}/{work.attempt}-{name}{extension}"
        try:
            await self._store.put(key, data, content_type)
        except ArtifactStoreAway as error:
            raise ArtifactsAway(str(error)) from error
        return ArtifactRef(name, kind, key, content_type, len(data))

    async def fetch(self, key: str) -> Upload:
        if not key.startswith(f"{self._work.tenant}/"):
            raise ActionRefused(f"{key!r} is no artifact of this tenant")
        try:
            return Upload(key.rpartition("/")[2], await self._store.get(key))
        except (ArtifactMissing, ValueError) as error:
            raise ActionRefused(f"there is no artifact {key!r}") from error
        except ArtifactStoreAway as error:
            raise ArtifactsAway(str(error)) from error
