"""Options of the artifact store; made from the settings at the entry points, and sent to the workers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

BUCKETS: Final = ("s3", "az")
"""Kinds of addresses that name a bucket."""
PLACES: Final = "a folder, file:///FOLDER, s3://BUCKET/PREFIX, az://CONTAINER/PREFIX or memory:"


@dataclass(frozen=True, slots=True)
class S3Options:
    """Options of an S3 service. Credentials come from boto3's own chain (environment, files, pod identity)."""

    endpoint_url: str = ""  # empty: AWS
    public_url: str = ""  # the service's address in signed URLs, where callers reach it by another; empty: the same
    region: str = ""  # empty: boto3's own chain, else us-east-1
    addressing: str = "auto"  # auto, path, virtual: where the bucket's name stands in requests
    encryption: str = ""  # AES256 or aws:kms; empty: what the bucket does
    kms_key: str = ""  # for aws:kms; empty: the account's default key
    connections: int = 16  # requests at once; as many threads
    connect_timeout_s: float = 5.0
    read_timeout_s: float = 30.0
    attempts: int = 4  # of one request, with growing pauses between them


@dataclass(frozen=True, slots=True)
class ArtifactOptions:
    """Options of `open_artifacts` beside the address."""

    s3: S3Options = S3Options()
    spill_dir: Path | None = None  # uploads wait here while S3 is away; None: they fail at once
    spill_bytes: int = 512 * 1024**2  # as many at most
