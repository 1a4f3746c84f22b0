"""From an address to the store behind it."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import cast
from urllib.parse import unquote, urlsplit

from shoal.services.artifacts.files import FileArtifacts
from shoal.services.artifacts.memory import MemoryArtifacts
from shoal.services.artifacts.options import BUCKETS, PLACES, ArtifactOptions
from shoal.services.artifacts.spill import SpillingArtifacts
from shoal.services.artifacts.store import ArtifactStore
from shoal.services.errors import BadSetting


def open_artifacts(url: str, options: ArtifactOptions = ArtifactOptions()) -> ArtifactStore:
    """The store at `url`: a folder (also as `file:///FOLDER`), a bucket, or `memory:`.

    A bucket is `s3://BUCKET/PREFIX`, or `az://CONTAINER/PREFIX` of Azure Blob Storage.

    Nothing is connected yet; `check` of the store says whether it works.

    Raises:
        BadSetting: there is no such kind of store, or the package that opens it is not installed.
        ArtifactStoreAway: the environment says nothing that the store can be opened with.
    """
    kind = url.partition(":")[0] if re.match(r"[a-z0-9+]+:", url) else ""
    if kind == "memory":
        return MemoryArtifacts()
    if kind in ("", "file"):
        return FileArtifacts(Path(unquote(urlsplit(url).path) if kind else url))
    parts = urlsplit(url)
    if kind not in BUCKETS or not parts.netloc:
        raise BadSetting(f"{url!r} is no place for artifacts: {PLACES}")
    bucket = _open_bucket(kind, parts.netloc, parts.path.strip("/"), options)
    if options.spill_dir is None:
        return bucket
    return SpillingArtifacts(bucket, options.spill_dir, options.spill_bytes)


def _open_bucket(kind: str, name: str, prefix: str, options: ArtifactOptions) -> ArtifactStore:
    # Only here: boto3 takes a third of a second to import, and an installation without a bucket has no use for it.
    if kind == "s3":
        s3 = import_module("shoal.services.artifacts.s3")
        return cast(ArtifactStore, s3.S3Artifacts(name, prefix, options.s3))
    try:
        azure = import_module("shoal.services.artifacts.azure")
    except ModuleNotFoundError as error:
        if error.name != "obstore":
            raise
        raise BadSetting(f"az://{name} needs the package obstore: pip install 'shoal[azure]'") from error
    return cast(ArtifactStore, azure.AzureArtifacts(name, prefix))
