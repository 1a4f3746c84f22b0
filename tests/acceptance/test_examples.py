"""Every script of examples/, as it stands, against a cluster and the demo shop."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.embedded import ROOT, Up

pytestmark = pytest.mark.timeout(600)  # a cluster has to start

SAYS = {
    "agent_as_library": r"bicycles.*: 200\nscrolled: ok\n.+: [\d.]+ \(from \S+\)$",
    "batch_with_a_key": r"^audio: completed\nbicycles: completed\ngarten: completed$",
    "forms_from_csv": r"^Ada Quimby: \{'pieces': 12\}\nBen Quimby: \{'pieces': 3\}$",
    "loop_over_a_list": r"^(.+: [\d.]+ [A-Z]{3}\n){2,5}(.|\n)*^[2-5] products$",
    "places_in_a_page": r"^(.+: [\d.]+\n){30,33}(.|\n)*^3[0-3] tools$",
    "run_one_job": r"^(.+: (in stock|sold out)\n?){1,2}$",
    "to_pandas": r"mean price of [2-5] products: [\d.]+$",
    "watch_events": r"^job\.submitted: 0 of \d\n(.+\n)*job\.finished: 4 of 4\ncompleted$",
}
"""The output of each example, as a pattern. A product that the shop no longer sells is a failed item."""


def test_every_example_is_run() -> None:
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_an_example_does_what_it_says(cluster: Up, shop: str, tmp_path: Path, name: str) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SHOAL_")}
    environment |= {"SHOAL_URL": cluster.url, "SHOAL_DATA_DIR": str(tmp_path)}
    more = [str(ROOT / "examples" / "quotes.csv")] if name == "forms_from_csv" else []
    before = len(httpx.get(f"{shop}/_log/forms?form=quote", timeout=60).json()["submissions"])
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / f"{name}.py"), shop, *more],
        capture_output=True,
        text=True,
        timeout=560,
        env=environment,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(SAYS[name], done.stdout.strip(), re.M | re.I), done.stdout
    after = len(httpx.get(f"{shop}/_log/forms?form=quote", timeout=60).json()["submissions"])
    assert after - before == (2 if name == "forms_from_csv" else 0)
