"""Mercurial's web pages: logs that grow while they are scrolled and do not say their size, cells with badges."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from tests.sites.registry import cache, serving
from tests.sites.registry.case import Case, Json, either, record, records

NAME = "hgweb (Mercurial)"
_PACKAGES = ("mercurial==7.0.1",)
_SEED = Path(__file__).with_name("programs") / "seed_hgweb.py"
_LISTED = {"age": "string", "author": "string", "description": "string"}
_NO_SETTINGS = {"HGRCPATH": os.devnull, "HGPLAIN": "1"}


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while a freshly filled repository is served."""
    python = cache.pypi("mercurial", _PACKAGES)
    with tempfile.TemporaryDirectory(prefix="shoal-hgweb-") as temp:
        repository = Path(temp) / "Office"
        serving.run(python, _SEED, repository)
        port = serving.free_port()
        hg = [str(python), str(python.with_name("hg")), "-R", str(repository)]
        command = [*hg, "serve", "-a", "127.0.0.1", "-p", str(port)]
        with serving.program(command, port, cwd=Path(temp), env=_NO_SETTINGS) as url:
            yield _cases(url, _hg_json(hg, "log"), _hg_json(hg, "tags"), _hg_json(hg, "branches"))


def _hg_json(hg: Sequence[str], what: str) -> list[Json]:
    """Return what the command line tells of the repository."""
    ran = subprocess.run(
        [*hg, what, "-Tjson"], env={**os.environ, **_NO_SETTINGS}, capture_output=True, check=True, timeout=60
    )
    return list(json.loads(ran.stdout))


def _cases(url: str, log: list[Json], tags: list[Json], branches: list[Json]) -> list[Case]:
    listed = [_of_a_row(changeset) for changeset in log]
    schema = {"schema": records(_LISTED, required=["author", "description"])}
    shortlog = Case("the short log", "paged list", {"url": f"{url}/shortlog", "extract": schema}, listed, "description")
    one = {"schema": record({"author": "string", "description": "string", "parents": "string"}, required=["author"])}
    return [
        Case("the log", "paged list", {"url": f"{url}/log", "extract": schema}, listed, "description"),
        shortlog,
        Case(
            "tags",
            "table",
            {"url": f"{url}/tags", "extract": {"schema": records({"tag": "string", "node": "string"})}},
            [{"tag": tag["tag"], "node": tag["node"][:12]} for tag in tags],
            "tag",
        ),
        Case(
            "branches",
            "table",
            {"url": f"{url}/branches", "extract": {"schema": records({"branch": "string", "node": "string"})}},
            [{"branch": branch["branch"], "node": branch["node"][:12]} for branch in branches],
            "branch",
        ),
        Case("changeset 20", "single", {"url": f"{url}/rev/20", "extract": one}, [_of_its_page(log[-21])]),
        Case(
            "each of the last changesets",
            "loop",
            {
                "url": f"{url}/shortlog",
                "loop": {"from": {"select": "td.description a"}, "max_items": 12},
                "extract": one,
            },
            [{"page": f"{url}/rev/{row['node'][:12]}", **_of_its_page(row)} for row in log[:12]],
            at="page",
        ),
        Case(
            "each changeset",
            "loop",
            {"url": f"{url}/log", "loop": {"from": {"select": "td.description a"}}, "extract": one},
            [{"page": f"{url}/rev/{row['node'][:12]}", **_of_its_page(row)} for row in log],
            at="page",
        ),
        shortlog.with_places(
            {
                "age": {"column": "age"},
                "author": {"select": "td.author"},
                "description": {"select": "td.description a"},
            },
            records="table.bigtable tbody tr",
            next="more",
        ),
    ]


def _of_a_row(changeset: Json) -> Json:
    """A log has the first line of what is said of a changeset, and its author without the address."""
    when = datetime.fromtimestamp(changeset["date"][0], UTC)
    return {
        "age": either(f"{when:%Y-%m-%d}", f"{when:%a, %d %b %Y %H:%M:%S +0000}"),
        "author": changeset["user"].partition(" <")[0],
        "description": changeset["desc"].splitlines()[0],
    }


def _of_its_page(changeset: Json) -> Json:
    parents = [parent[:12] for parent in changeset["parents"]]
    return {"author": changeset["user"], "description": changeset["desc"], "parents": parents[0] if parents else None}
