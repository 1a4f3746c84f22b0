"""A form that answers its POST itself, and gives 404 by GET: what the site received is never told as failed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import httpx
import pytest

from shoal.agent.spec import JobSpec
from shoal.agent.status import FINAL, Status
from shoal.services.store.records import NewJob
from shoal.services.store.store import open_store
from tests.embedded import demo_shop, wait_until
from tests.security.repeats import cluster

pytestmark = pytest.mark.timeout(600)

FORMS, EACH = 12, 4
"""Forms, and how many the site receives between two kills of the worker."""


def received(shop: str) -> list[str]:
    """The e-mail addresses of the forms that the shop has received."""
    sent = httpx.get(f"{shop}/_log/forms?form=callback", timeout=60).json()["submissions"]
    return [one["fields"]["email"] for one in sent]


def kill_when_received(shop: str, store_url: str, wanted: int, log: Path) -> None:
    """Starts the cluster, and kills it once the shop has received so many forms."""
    command = [sys.executable, "-m", "tests.security.repeats", store_url, "rules"]
    with log.open("ab") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out)
    try:
        wait_until(lambda: len(received(shop)) >= wanted, 120, f"{wanted} forms are there")
    finally:
        process.kill()
        process.wait()


async def test_what_the_site_received_is_never_told_as_failed(tmp_path: Path) -> None:
    store_url, log = f"sqlite:///{tmp_path}/shoal.db", tmp_path / "worker.log"
    emails = [f"ada{i}@quimby.example" for i in range(FORMS)]
    with demo_shop() as shop:
        spec = {
            "url": f"{shop}/callback",
            "goal": "Send the request to be called back.",
            "data": {"full_name": "Ada Quimby", "phone": "+44 20 5550 0199"},
            "complete_criterion": "your request was received",
            "loop": {"values": [json.dumps({"email": email}) for email in emails]},
            "max_attempts": 3,
        }
        store = await open_store(store_url)
        (made,) = await store.submit([NewJob("t", JobSpec.model_validate(spec), "127.0.0.1")])
        await store.close()
        for wanted in range(EACH, FORMS, EACH):
            kill_when_received(shop, store_url, wanted, log)
        async with cluster(store_url, rules=True) as store:
            ends = time.monotonic() + 120
            while (row := await store.job(made.job)).status not in FINAL:
                assert time.monotonic() < ends, row
                await store.changed(0.5)
            results = await store.results(made.job)
        sent = Counter(received(shop))
    assert max(sent.values()) == 1
    statuses = {json.loads(one.item.value)["email"]: one.status for one in results if one.item is not None}
    assert set(statuses) == set(emails)
    assert set(statuses.values()) <= {Status.COMPLETED, Status.UNSURE}, [(one.status, one.error) for one in results]
    assert all(sent[email] for email, status in statuses.items() if status is Status.COMPLETED)
