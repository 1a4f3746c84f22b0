"""`shoal workflows …` and `shoal learn`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

from shoal.agent.status import Status
from shoal.agent.types import ArtifactRef, Outcome, Record
from shoal.agent.worker_messages import Work
from shoal.agent.workflows.learning.evidence import KIND
from tests.gateway_world import loop_of
from tests.unit.cli.conftest import Served
from tests.unit.gateway.test_workflow_tries import PAGES, ended
from tests.unit.gateway.test_workflows import edited
from tests.unit.workflows.books import BOOKS, evidence
from tests.unit.workflows.test_exchange import RECORDING

Shoal = Callable[..., Result]


def test_a_file_is_imported_shown_activated_compared_exported_and_deleted(
    served: Served, shoal: Shoal, tmp_path: Path
) -> None:
    for name, workflow in (("a.json", BOOKS), ("b.json", edited("b.price"))):
        (tmp_path / name).write_text(json.dumps(workflow))
        assert "draft" in shoal("workflows", "import", str(tmp_path / name)).stdout
    shoal("workflows", "activate", "books", "2")
    (listed,) = [json.loads(line) for line in shoal("workflows", "list", "--json").stdout.splitlines()]
    assert (listed["name"], listed["active"]) == ("books", 2)
    assert "shop.example" in shoal("workflows", "list").stdout
    assert "active" in shoal("workflows", "show", "books").stdout
    assert "b.price" in shoal("workflows", "diff", "books", "1", "2").stdout
    exported = json.loads(shoal("workflows", "export", "books", "--version", "2").stdout)
    assert exported["versions"][0]["branches"] == edited("b.price")["versions"][0]["branches"]
    shoal("workflows", "retire", "books", "2")
    assert "deleted" in shoal("workflows", "delete", "books").stderr
    shoal("workflows", "show", "books", code=2)


def test_what_a_version_leaves_to_the_model_is_shown(served: Served, shoal: Shoal, tmp_path: Path) -> None:
    (version,) = BOOKS["versions"]
    left = {"what": "pages without field price", "why": "1 of 3 pages lacks it, and 2 are needed"}
    (tmp_path / "a.json").write_text(json.dumps({**BOOKS, "versions": [{**version, "open": [left]}]}))
    shown = shoal("workflows", "import", str(tmp_path / "a.json"))
    assert "version 1 leaves to the model: pages without field price: 1 of 3 pages lacks it" in shown.stderr
    said = json.loads(shoal("workflows", "show", "books", "--json").stdout)
    assert said["versions"][0]["open"] == [left]


def test_the_fields_of_a_version_are_printed_as_a_job_takes_them(served: Served, shoal: Shoal, tmp_path: Path) -> None:
    for name, workflow in (("a.json", BOOKS), ("b.json", edited("b.price"))):
        (tmp_path / name).write_text(json.dumps(workflow))
        shoal("workflows", "import", str(tmp_path / name))
    (field,) = BOOKS["versions"][0]["branches"][0]["fields"]
    for name in ("books", "books@1", "books@2"):
        said = shoal("workflows", "fields", name)
        assert json.loads(said.stdout)["extract"]["fields"] == {"price": field["channels"][0]["place"]}
        assert "not in the fields: price: the agreement of label with css" in said.stderr
        served.submit(**json.loads(said.stdout))
    assert "'x' is no number" in shoal("workflows", "fields", "books@x", code=2).stderr
    shoal("workflows", "fields", "books@7", code=2)


def test_files_of_other_programs_are_imported_and_written_and_what_they_cannot_say_is_told(
    served: Served, shoal: Shoal, tmp_path: Path
) -> None:
    recording = tmp_path / "quote.json"
    recording.write_text(json.dumps(RECORDING))
    taken = shoal("workflows", "import", str(recording), "--format", "recorder")
    assert "quote" in taken.stderr and "not taken over: steps[3]: how many" in taken.stderr
    script = shoal("workflows", "export", "quote", "--format", "playwright")
    assert "https://forms.example/quote" in script.stdout and "not exported: " in script.stderr
    compile(script.stdout, "quote.py", "exec")
    for kind in ("recorder", "automa"):
        written = tmp_path / f"{kind}.json"
        written.write_text(shoal("workflows", "export", "quote", "--format", kind).stdout)
        shoal("workflows", "import", str(written), "--format", kind, "--name", f"again-{kind}")
    names = [json.loads(line)["name"] for line in shoal("workflows", "list", "--json").stdout.splitlines()]
    assert names == ["again-automa", "again-recorder", "quote"]


def test_a_file_of_another_program_that_cannot_be_read_is_refused_by_place(
    served: Served, shoal: Shoal, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.json"
    bad.write_bytes(b"\xff")
    assert "no UTF-8" in shoal("workflows", "import", str(bad), "--format", "recorder", code=2).stderr
    bad.write_text('{"steps": [{"type": "navigate", "url": "https://a.example/"}, 7]}')
    assert "steps[1]" in shoal("workflows", "import", str(bad), "--format", "recorder", code=2).stderr
    assert "--name" in shoal("workflows", "import", "-", "--format", "automa", code=2).stderr
    assert "--name" in shoal("workflows", "import", str(bad), "--name", "x", code=2).stderr


def test_what_is_no_workflow_is_refused_with_its_fault(served: Served, shoal: Shoal, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"name": "books"}')
    assert "scope" in shoal("workflows", "import", str(tmp_path / "bad.json"), code=2).stderr
    assert "cannot be read" in shoal("workflows", "import", str(tmp_path / "none.json"), code=2).stderr


def test_a_finished_job_is_learned_from(served: Served, shoal: Shoal) -> None:
    world = served.world
    urls = [f"https://shop.example/p/{n}" for n in range(1, 6)]
    schema = {"type": "object", "properties": {"price": {"type": "string"}}, "required": ["price"]}
    job = served.submit(loop={"values": urls, "is_link": True}, extract={"schema": schema})
    assert "not finished" in shoal("learn", job, code=2).stderr

    def each(work: Work) -> Outcome:
        assert work.item is not None
        n = work.item.index + 1
        data = evidence(n).packed()
        ref = ArtifactRef(
            f"{n:032x}", KIND, f"default/{work.job}/{work.session}/evidence", "application/zlib", len(data)
        )
        return Outcome(Status.COMPLETED, records=(Record({"price": f"{n}.50"}),), artifacts=(ref,))

    for session in range(2, 7):
        n = session - 1
        served.do(world.artifacts.put(f"default/1/{session}/evidence", evidence(n).packed(), "application/zlib"))
    served.do(world.run(loop_of(urls, each)))
    said = json.loads(shoal("learn", job, "--name", "prices", "--json").stdout)
    assert (said["name"], said["scope"]["site"], said["active"]) == ("prices", "shop.example", None)
    assert said["versions"][0]["fields"] == ["price"]


def test_a_job_without_evidence_teaches_nothing(served: Served, shoal: Shoal) -> None:
    job = served.submit()
    served.do(served.world.run(lambda _: Outcome(Status.COMPLETED)))
    assert "have evidence to learn from" in shoal("learn", job, code=2).stderr


def test_a_version_is_run_on_given_pages(served: Served, shoal: Shoal, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(BOOKS))
    shoal("workflows", "import", str(tmp_path / "a.json"))
    served.work(ended)
    tried = shoal("workflows", "try", "books@1", *PAGES, code=4)
    assert f"{PAGES[0]}: read by page" in tried.stderr and f"{PAGES[1]}: miss" in tried.stderr
    assert "price: shape: css has the shape '$9.99'" in tried.stderr
    assert "not done: send: click() on 'Send', found by role_name, css" in tried.stderr
    assert "select p.price" in tried.stdout and "9.5" in tried.stdout
    told = json.loads(shoal("workflows", "try", "books@1", PAGES[0], "--json").stdout)
    assert told["pages"][0]["record"] == {"price": 9.5}
    shoal("workflows", "try", "books@x", PAGES[0], code=2)
    shoal("workflows", "try", "books@1", "ftp://shop.example/", code=2)
