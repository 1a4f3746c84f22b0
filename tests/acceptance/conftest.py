"""One cluster and one shop for all acceptance tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.embedded import Up, demo_shop, up


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with up(workers="1", slots_per_worker="4", upload_dirs=str(tmp_path_factory.getbasetemp())) as one:
        yield one


@pytest.fixture(scope="session")
def shop() -> Iterator[str]:
    with demo_shop("--faults", "0.05") as url:
        yield url
