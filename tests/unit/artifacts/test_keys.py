"""Serving of artifacts, and the places where they are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.services.artifacts.files import FileArtifacts
from shoal.services.artifacts.keys import content_disposition
from shoal.services.artifacts.memory import MemoryArtifacts
from shoal.services.artifacts.open import open_artifacts
from shoal.services.artifacts.options import ArtifactOptions
from shoal.services.artifacts.s3 import S3Artifacts
from shoal.services.artifacts.spill import SpillingArtifacts
from shoal.services.errors import BadSetting


@pytest.mark.parametrize(
    ("content_type", "how"),
    [
        ("image/png", "inline"),
        ("text/plain; charset=utf-8", "inline"),
        ("text/html", "attachment"),
        ("image/svg+xml", "attachment"),
        ("application/octet-stream", "attachment"),
        ("", "attachment"),
    ],
)
def test_only_what_runs_nothing_is_shown(content_type: str, how: str) -> None:
    assert content_disposition("t/1/name.ext", content_type) == f'{how}; filename="name.ext"'


def test_a_file_s_own_name_is_spelled_for_a_header() -> None:
    header = content_disposition("t/1/a.pdf", "application/pdf", 'Für "Ådne".pdf\r\nX: 1')
    assert header == ("attachment; filename=\"a.pdf\"; filename*=UTF-8''F%C3%BCr%20%22%C3%85dne%22.pdf%0D%0AX%3A%201")


async def test_the_address_says_which_store(tmp_path: Path) -> None:
    assert isinstance(open_artifacts("memory:"), MemoryArtifacts)
    for url in (str(tmp_path / "a b"), f"file://{tmp_path}/a%20b"):
        store = open_artifacts(url)
        assert isinstance(store, FileArtifacts)
        await store.put("k", b"x", "text/plain")
        assert (tmp_path / "a b" / "k").read_bytes() == b"x"
    bucket = open_artifacts("s3://bucket/prefix")
    assert isinstance(bucket, S3Artifacts)
    await bucket.close()
    spilling = open_artifacts("s3://bucket", ArtifactOptions(spill_dir=tmp_path))
    assert isinstance(spilling, SpillingArtifacts)
    await spilling.close()


@pytest.mark.parametrize("url", ["ftp://host/folder", "s3://", "s3:///prefix"])
def test_another_address_is_refused(url: str) -> None:
    with pytest.raises(BadSetting, match="no place for artifacts"):
        open_artifacts(url)
