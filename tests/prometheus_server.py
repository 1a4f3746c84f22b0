"""A real Prometheus that scrapes each second, with our rules in fast motion."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import yaml

from shoal.agent.support.json_value import Json
from tests.embedded import ROOT, wait_until

_FASTER = {
    **{"[15m]": "[60s]", "[5m]": "[15s]", "offset 1h": "offset 30s"},
    **{"}) > 900": "}) > 9", "}) > 600": "}) > 6"},
}
"""Times that rules look back to and wait for, in tests: minutes become seconds, all other thresholds stay."""


RELEASE = {"namespace": "shoal", "release": "shoal"}
"""Labels by which rules and dashboards tell installations apart; the chart puts its own for what the files say."""


@dataclass(frozen=True, slots=True)
class Scrape:
    """One more server that tells metrics, as the chart's monitors have them scraped."""

    job: str
    address: str  # host:port
    pod: str  # the label that a PodMonitor adds
    token: str = ""  # shown as a bearer's

    @property
    def config(self) -> Json:
        """Return what Prometheus calls a scrape config."""
        shown = {"authorization": {"credentials": self.token}} if self.token else {}
        return {
            "job_name": self.job,
            "static_configs": [{"targets": [self.address], "labels": RELEASE | {"pod": self.pod}}],
            **shown,
        }


@dataclass(frozen=True, slots=True)
class Prometheus:
    """A running Prometheus."""

    url: str

    def query(self, expression: str) -> list[Json]:
        """Samples of an expression now."""
        answer = httpx.post(f"{self.url}/api/v1/query", data={"query": expression}, timeout=60)
        assert answer.status_code == 200, answer.text
        found: list[Json] = answer.json()["data"]["result"]
        return found

    def value(self, expression: str) -> float | None:
        """The one value of an expression; None while there is none."""
        found = self.query(expression)
        return float(found[0]["value"][1]) if found else None

    def firing(self) -> set[str]:
        """Names of alerts that fire."""
        alerts = httpx.get(f"{self.url}/api/v1/alerts", timeout=60).json()["data"]["alerts"]
        return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}


def faster(text: str) -> str:
    """Rules with seconds for minutes."""
    for slow, fast in _FASTER.items():
        text = text.replace(slow, fast)
    return re.sub(r"for: \d+m", "for: 2s", text).replace("interval: 30s", "interval: 1s")


@contextmanager
def prometheus(gateway: str, *others: Scrape) -> Iterator[Prometheus]:
    """A Prometheus on a free loopback port; skips the test where Debian's package is not installed."""
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("Prometheus is not there: scripts/setup-deploy installs Debian's package")
    with tempfile.TemporaryDirectory(prefix="pr-") as name:
        folder = Path(name)
        for path in (ROOT / "deploy" / "prometheus" / "rules").glob("*.yaml"):
            (folder / path.name).write_text(faster(path.read_text()))
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(folder / "recording.yaml"), str(folder / "alerts.yaml")],
            "scrape_configs": [
                {"job_name": "gateway", "static_configs": [{"targets": [gateway], "labels": RELEASE}]},
                *(other.config for other in others),
            ],
        }
        (folder / "prometheus.yaml").write_text(yaml.safe_dump(config))
        log = folder / "log"
        with log.open("wb") as stream:
            process = subprocess.Popen(
                [
                    program,
                    f"--config.file={folder / 'prometheus.yaml'}",
                    f"--storage.tsdb.path={folder / 'data'}",
                    "--web.listen-address=127.0.0.1:0",
                    "--log.format=json",
                ],
                stdout=stream,
                stderr=stream,
            )
        try:
            url = f"http://{wait_until(lambda: _address(log), 20, 'Prometheus listens')}"
            wait_until(lambda: httpx.get(f"{url}/-/ready", timeout=60).is_success, 60, "Prometheus is ready")
            yield Prometheus(url)
        finally:
            process.terminate()
            process.wait(15)


def _address(log: Path) -> str:
    """Return where it listens, as it says itself."""
    for line in log.read_text().splitlines():
        told = json.loads(line) if line.startswith("{") else {}
        address = str(told.get("address", ""))
        if told.get("msg") == "Listening on" and not address.endswith(":0"):
            return address
    return ""
