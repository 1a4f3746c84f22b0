"""A tenant's name is a folder of secrets, a label of metrics and a part of settings: nothing else may be in it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.services.store.store import open_store
from shoal.services.web.http.api_keys import hash_key, make_key, tenant_fault

SHOAL = Path(sys.executable).with_name("shoal")


def create(folder: Path, tenant: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "SHOAL_DATA_DIR": str(folder), "SHOAL_STORE_URL": f"sqlite:///{folder}/shoal.db"}
    return subprocess.run(
        [SHOAL, "keys", "create", "ci", "--tenant", tenant], env=env, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize(
    "name", ["", "..", "../other", "a/b", "a b", "a=1,b", "é", "a\nb", 'a"} 1\nshoal_x{b="', "x" * 65, ".hidden"]
)
def test_a_name_that_is_more_than_a_name_has_a_fault(name: str) -> None:
    assert "is no name of a tenant" in (tenant_fault(name) or "")


def test_the_command_refuses_it(tmp_path: Path) -> None:
    done = create(tmp_path, "../other")
    assert done.returncode == 2, done.stderr
    assert "is no name of a tenant" in done.stderr


def test_plain_names_and_names_from_before_are_taken(tmp_path: Path) -> None:
    assert create(tmp_path, "acme-2.eu_west").returncode == 0

    async def before() -> None:
        store = await open_store(f"sqlite:///{tmp_path}/shoal.db")
        await store.create_key("old", "Acme Corp", ["read"], hash_key(make_key()))
        await store.close()

    asyncio.run(before())
    assert create(tmp_path, "Acme Corp").returncode == 0
