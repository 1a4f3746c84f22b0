"""docs/how-to/every-morning.md, step by step, on a gateway, a dispatcher and browsers.

`tests/unit/cli/test_every_morning.py` has seven days of it, and pauses.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.acceptance.test_morning import Mornings, mornings
from tests.patience import PATIENCE_S
from tests.priced_shop import priced_shop
from tests.receiver import receiving
from tests.sites.ring import sweep

pytestmark = [pytest.mark.timeout(600), sweep]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "every-morning.md"
PRODUCTS = range(1, 5)
REASON = "price: 0% of the records give it; 100% was usual"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.S | re.M)


async def commands(text: str, gateway: httpx.URL, folder: Path) -> list[str]:
    """Runs each line as a process of its own, as a person does; gives what each wrote."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("SHOAL_")}
    env |= {"SHOAL_GATEWAY": str(gateway), "SHOAL_DATA_DIR": str(folder / "data"), "COLUMNS": "200"}
    told = []
    for line in text.splitlines():
        program, *arguments = shlex.split(line)
        ran = await asyncio.create_subprocess_exec(
            Path(sys.executable).with_name(program),
            *arguments,
            env=env,
            cwd=folder,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await ran.communicate()
        assert ran.returncode == 0, (line, out, err)
        told.append(out.decode())
    return told


async def judged(w: Mornings, count: int) -> dict[str, Any]:
    """The newest of so many runs, once it is judged."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        runs = (await w.json("/v1/schedules/prices/runs"))["runs"]
        if len(runs) == count and runs[0]["records"] is not None:
            return dict(runs[0])
        await asyncio.sleep(0.1)
    raise AssertionError(f"run {count} is not judged: {await w.json('/v1/jobs')}")


async def test_the_page_is_run(tmp_path: Path) -> None:
    (spec,) = blocks("json")
    hand_in, newest, changed = blocks("bash")
    put, fire, runs = hand_in.splitlines()
    accept, *_ = changed.splitlines()
    told = tmp_path / "commands"
    told.mkdir()
    with priced_shop() as (shop, url):
        async with receiving() as receiver, mornings(tmp_path) as (w, _):
            gateway = w.http.base_url
            hooks = receiver.url.replace("hooks.example", "127.0.0.1")
            spec = spec.replace("https://shop.example/list", url).replace("https://hooks.example", hooks)
            (told / "every-morning.json").write_text(spec)
            await commands(put, gateway, told)
            times = [when[:16] for when in (await w.json("/v1/schedules/prices"))["next"]]
            assert times == [
                *(f"2026-10-{day}T05:00" for day in (22, 23)),
                *(f"2026-10-{day}T06:00" for day in (26, 27, 28)),
            ]
            shop.prices = {n: n + 0.5 for n in PRODUCTS}
            for day, (relaunched, reasons) in enumerate(
                [(False, []), (False, []), (True, [REASON]), (False, []), (True, [REASON]), (True, [])]
            ):
                if day == 5:  # the shop has changed for good
                    await commands(accept, gateway, told)
                shop.relaunched = frozenset(PRODUCTS if relaunched else ())
                await commands(fire, gateway, told)
                run = await judged(w, day + 1)
                assert [reason["text"] for reason in run["degraded"]] == reasons, day
                assert (run["picture_now"] is not None) == bool(reasons), day
            shown = (await w.http.get("/schedules/prices")).text
            assert REASON in (await commands(runs, gateway, told))[0] and REASON in shown
            (line,) = (await commands(newest, gateway, told))[0].splitlines()
            latest = await w.json("/v1/schedules/prices/runs/latest")
            assert json.loads(line)["job"] == latest["job"] == run["job"]
            (results,) = await commands(f"shoal results {run['job']}", gateway, told)
            read = [json.loads(one)["record"] for one in results.splitlines()]
            assert [record["name"] for record in read] == [f"Product {n}" for n in PRODUCTS]
            async with asyncio.timeout(PATIENCE_S):
                while len(receiver.got) < 8:
                    await asyncio.sleep(0.05)
            events = Counter(json.loads(body)["type"] for _, body in receiver.got)
            assert events == {"job.finished": 6, "job.degraded": 2}
