"""The main job, end to end, on this machine: `make demo`.

Starts the demo shop and an embedded cluster, submits a loop over the products of three departments, shows how it goes,
prints the first records, the counts and each failure with its reason, and stops everything again.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from shoal.agent.support.json_value import Json
from shoal.api import Api
from shoal.records import Job, SubmittedJob
from shoal.services import logs
from shoal.services.cli.commands.job.following import follow
from shoal.services.cli.ending import Exit
from shoal.services.cli.running import finish
from shoal.services.cluster.embedded import embedded_cluster
from shoal.services.settings import load_settings

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(".shoal/demo")  # in the folder where `make` runs
FIRST = 12


JOB: dict[str, Json] = {
    "goal": "every product of three departments",
    "loop": {
        "values": ["Power tools", "Kitchen & cooking", "Garten"],
        "loop": {"from": {"select": "products"}},
    },
    "extract": {
        "schema": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "price": {"type": "number"},
                "currency": {"type": "string", "description": "ISO 4217 code"},
                "in_stock": {"type": "boolean"},
                "rating": {"type": ["number", "null"]},
                "sku": {"type": ["string", "null"]},
            },
            "required": ["name", "price", "currency", "in_stock"],
        }
    },
}


def say(text: str) -> None:
    print(text, flush=True)


@contextmanager
def shop() -> Iterator[str]:
    """The demo shop, as a process of its own."""
    command = [sys.executable, str(ROOT / "load-tests" / "site"), "--port", "0", "--faults", "0.03"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line:
            raise typer.Exit(3)
        yield json.loads(line)["url"]
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def records_table(rows: list[dict[str, Json]]) -> Table:
    """The first records, in the order of the items."""
    table = Table(title="the first records", title_justify="left")
    fields = list(JOB["extract"]["schema"]["properties"])
    for field in fields:
        table.add_column(field, justify="right" if field in ("price", "rating") else "left")
    for row in [row for row in rows if row["record"]][:FIRST]:
        table.add_row(*("" if row["record"].get(field) is None else str(row["record"][field]) for field in fields))
    return table


def tell_failures(rows: list[dict[str, Json]]) -> None:
    """Each failed item with its reason."""
    for row in rows:
        if row["error"]:
            item = row["item"]  # None: the job itself failed, before it had any
            what = (item["label"] or item["value"]) if item else "the job itself"
            say(f"  failed: {what}: {row['error']['message']}")


def job_spec(url: str, items: int | None) -> dict[str, Json]:
    """The main job on the shop at `url`, with at most so many products of each department."""
    inner = {**JOB["loop"]["loop"], **({} if items is None else {"max_items": items})}
    return {"url": url, **JOB, "loop": {**JOB["loop"], "loop": inner}}


async def main(items: int | None, data: Path) -> Exit:
    shutil.rmtree(data, ignore_errors=True)
    settings = load_settings(data_dir=data, port=0, allow_private=True, log_level="warning")
    logs.set_up(settings.log_level, settings.log_format)
    began = time.monotonic()
    with shop() as shop_url:
        say(f"demo shop: {shop_url}")
        async with embedded_cluster(settings, tell=lambda stage: say(f"  {stage} …")) as cluster:
            say(f"cluster ready after {time.monotonic() - began:.1f} s; dashboard: {cluster.url}/")
            async with Api(cluster.url) as client:
                started = time.monotonic()
                job = SubmittedJob.model_validate(await client.submit(job_spec(shop_url, items))).id
                code = await follow(client, job, lines=None, as_json=False)
                seconds = time.monotonic() - started
                final = Job.model_validate(await client.job(job))
                text = b"".join([chunk async for chunk in client.results(job)])
                rows = [json.loads(line) for line in text.splitlines()]
            report(final, rows, seconds, cluster.url, data)
    say(f"stopped. See it again: SHOAL_DATA_DIR={data} .venv/bin/shoal up")
    return Exit.DONE if code is Exit.PARTIAL else code  # some products of the shop are meant to fail


def report(job: Job, rows: list[dict[str, Json]], seconds: float, url: str, data: Path) -> None:
    """Print what came out, and where it is."""
    Console(width=118).print(records_table(rows))
    counts = job.counts
    say(f"expected {counts.expected}, done {counts.completed}, failed {counts.final - counts.completed}")
    tell_failures(rows)
    retried = Counter(row["attempts"] for row in rows if row["attempts"] > 1)
    if retried:
        say("retried and then settled: " + ", ".join(f"{n} in {k} attempts" for k, n in sorted(retried.items())))
    say(f"{seconds:.1f} s, {job.usage.pages / seconds:.1f} pages per second, no model was asked")
    say(f"results:   {url}/v1/jobs/{job.id}/results")
    say(f"dashboard: {url}/  (while the cluster is up)")
    shots = sum(1 for row in rows if row["screenshot"])
    say(f"artifacts: {data / 'artifacts'}/ ({shots} screenshots)")


if __name__ == "__main__":
    app = typer.Typer(add_completion=False)

    @app.command()
    def demo(
        items: Annotated[int | None, typer.Option(min=1, help="At most so many products of each department.")] = None,
        data: Annotated[Path, typer.Option(help="Folder of store and artifacts; emptied first.")] = DATA,
    ) -> None:
        """Runs the demo."""
        finish(main(items, data))

    app()
