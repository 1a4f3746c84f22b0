"""From an address to the store behind it."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

from shoal.services.artifacts.files import FileArtifacts
from shoal.services.artifacts.memory import MemoryArtifacts
from shoal.services.artifacts.options import ArtifactOptions
from shoal.services.artifacts.spill import SpillingArtifacts
from shoal.services.artifacts.store import ArtifactStore
from shoal.services.errors import BadSetting


def open_artifacts(url: str, options: ArtifactOptions = ArtifactOptions()) -> ArtifactStore:
    """The store at `url`: a folder (also as `file:///FOLDER`), `s3://BUCKET/PREFIX`, or `memory:`.

    Nothing is connected yet; `check` of the store says whether it works.

    Raises:
        BadSetting: there is no such kind of store.
    """
    kind = url.partition(":")[0] if re.match(r"[a-z0-9+]+:", url) else ""
    if kind == "memory":
        return MemoryArtifacts()
    if kind in ("", "file"):
        return FileArtifacts(Path(unquote(urlsplit(url).path) if kind else url))
    parts = urlsplit(url)
    if kind != "s3" or not parts.netloc:
        raise BadSetting(f"{url!r} is no place for artifacts: a folder, s3://BUCKET/PREFIX or memory:")
    # Only here: boto3 takes a third of a second to import, and an installation without a bucket has no use for it.
    s3 = import_module("shoal.services.artifacts.s3")
    bucket: ArtifactStore = s3.S3Artifacts(parts.netloc, parts.path.strip("/"), options.s3)
    if options.spill_dir is None:
        return bucket
    return SpillingArtifacts(bucket, options.spill_dir, options.spill_bytes)
