"""Commands against a served gateway: what they print where, and how they end."""

from __future__ import annotations

import io
import json
import shlex
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import Result

from shoal import api
from shoal.agent.types import Basis, Computation, Incomplete, Outcome, Quotation
from shoal.agent.worker_messages import Work
from shoal.embedded import spec_checker
from shoal.services.cli.commands.job import jobs
from shoal.services.cli.connection import client_or_cluster
from shoal.services.settings import Settings, load_settings
from shoal.services.store.records import JobFilter
from tests.gateway_world import completed, failed, loop_of
from tests.unit.cli.conftest import Served

Shoal = Callable[..., Result]
VALUES = ["a", "b", "c", "d"]


def each(work: Work) -> Outcome:
    assert work.item is not None
    return failed() if work.item.value == "c" else completed({"name": work.item.value})


def records(text: str) -> list[Any]:
    return [json.loads(line)["record"] for line in text.splitlines()]


def test_run_prints_records_to_stdout_and_progress_to_stderr(served: Served, shoal: Shoal, tmp_path: Path) -> None:
    served.work(loop_of(VALUES, each))
    values, schema = tmp_path / "values.txt", tmp_path / "schema.json"
    values.write_text("a\nb\n\nc\nd\n")
    schema.write_text('{"type": "object", "properties": {"name": {"type": "string"}}}')
    result = shoal(
        *("run", "find the names", "--url", "https://shop.example/", "--loop-values", str(values)),
        *("--schema", str(schema), "--data", '{"who": "me"}', "--label", "team=x", "--no-robots", "--max-items", "9"),
        *("--name", "The names"),
        code=4,
    )
    assert records(result.stdout) == [{"name": "a"}, {"name": "b"}, None, {"name": "d"}]
    assert "j1 finished: 4 of 4 items: 3 done, 1 failed" in result.stderr
    assert "j1 completed in part: 4 items, 3 completed, 1 failed" in result.stderr
    (job,) = served.do(served.world.store.jobs(JobFilter()))
    assert job.spec.loop is not None
    assert job.spec.loop.values == ("a", "b", "c", "d")
    assert job.spec.loop.max_items == 9
    assert job.spec.extract is not None
    assert job.spec.extract.json_schema == json.loads(schema.read_text())
    assert (job.spec.data, job.spec.labels, job.spec.politeness.robots) == ({"who": "me"}, {"team": "x"}, False)
    assert job.spec.name == "The names"
    for words, lines in (("names THE", 1), ("letters", 0)):
        listed = shoal("jobs", "--text", words, "--gateway", served.url).stdout
        assert listed.count("The names") == lines, listed


def test_show_tells_what_an_answer_rests_on_and_steers_no_terminal(served: Served, shoal: Shoal) -> None:
    quotations = tuple(Quotation(f"Kettle {n}.90\x1b[2J", "https://shop.example/p", "…") for n in range(7))
    basis = Basis(quotations, (0, 2), Computation("average", (19.9, 20), 19.95))
    served.work(lambda work: completed(answer="19.95", rests_on=basis))
    result = shoal("run", "What?", "--url", "https://shop.example/", "--gateway", served.url)
    shown = shoal("show", "j1", "--gateway", served.url).stdout
    for told in (result.stderr, shown):
        assert '    rests on "Kettle 0.90\\u001b[2J", https://shop.example/p' in told
        assert "    and on 2 more quotations" in told
        assert "    rests on what was read: record 1, 3" in told
        assert "    computed: 19.95, the average of 19.9, 20" in told
        assert "\x1b" not in told


def test_show_says_of_an_answer_that_it_rests_on_nothing(served: Served, shoal: Shoal) -> None:
    served.work(lambda work: completed(answer="Yes\x9b2J", rests_on=Basis()))
    shoal("run", "Is it?", "--url", "https://shop.example/", "--gateway", served.url)
    shown = shoal("show", "j1", "--gateway", served.url).stdout
    assert "    rests on nothing that a program could look up" in shown
    assert "\x9b" not in shown


def test_run_and_show_tell_the_answer_in_a_line_of_its_own(served: Served, shoal: Shoal) -> None:
    served.work(lambda work: completed(answer="$13.50, the average of 3 prices"))
    result = shoal("run", "What do they cost on average?", "--url", "https://shop.example/")
    assert "  answer: $13.50, the average of 3 prices" in result.stderr.splitlines()
    shown = shoal("show", "j1")
    assert "  answer: $13.50, the average of 3 prices" in [*shown.stdout.splitlines(), *shown.stderr.splitlines()]
    told = json.loads(result.stdout)
    assert (told["answer"], told["record"]) == ("$13.50, the average of 3 prices", None)


def test_lists_go_on_over_pages(served: Served, shoal: Shoal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "PAGE_ROWS", 2)
    for _ in range(5):
        job = served.submit()
    listed = shoal("jobs", "--limit", "4", "--json").stdout.splitlines()
    assert [json.loads(line)["id"] for line in listed] == ["j5", "j4", "j3", "j2"]
    told = shoal("jobs", "--limit", "4")
    assert "there are more; --limit shows them (4 now)" in told.stderr
    assert len(shoal("jobs", "--limit", "1000", "--json").stdout.splitlines()) == 5
    loop = served.submit(loop={"values": VALUES})
    served.work(loop_of(VALUES, each))
    shoal("watch", loop, code=4)
    assert shoal("show", loop, "--sessions", "3").stderr.splitlines()[-1].startswith("there are more; --sessions")
    assert "there are more" not in shoal("show", loop, "--sessions", "100").stderr
    assert job == "j5"


def test_tables_show_texts_as_they_are_and_whole_where_no_terminal_reads_them(
    served: Served, shoal: Shoal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    served.submit(goal="[/b] [red]find\n\x1b[2J the blue one " + "x" * 20)
    told = shoal("jobs").stdout
    assert "[/b] [red]find \ufffd[2J the blue one xxxxxxxxxxxxxxxxxxxx" in told
    assert "[/b] [red]find" in shoal("show", "j1").stdout


def test_what_pages_say_does_not_steer_the_terminal(served: Served, shoal: Shoal) -> None:
    served.work(lambda work: failed(message="\x1b]0;gotcha\x07 not here"))
    told = shoal("run", "look", "--url", "https://shop.example/", code=1).stderr
    assert "\ufffd]0;gotcha\ufffd not here" in told
    assert "\x1b" not in told


def test_run_says_what_a_loop_left_out(served: Served, shoal: Shoal) -> None:
    served.work(lambda work: completed({"a": 1}, reason="the list goes on after page 2, where max_pages ended it"))
    result = shoal("run", "look", "--url", "https://shop.example/")
    assert result.stderr.splitlines()[-1] == "  the list goes on after page 2, where max_pages ended it"


def test_run_of_a_failing_job_ends_with_1_and_says_why(served: Served, shoal: Shoal) -> None:
    served.work(lambda work: failed())
    result = shoal("run", "look", "--url", "https://shop.example/", code=1)
    assert json.loads(result.stdout)["error"]["code"] == "navigation_timeout"
    assert "navigation_timeout: The page did not load within its time." in result.stderr


def test_run_of_a_loop_in_which_everything_failed_ends_with_1(served: Served, shoal: Shoal) -> None:
    served.work(loop_of(["a", "b"], lambda work: failed()))
    shoal("run", "look", "--url", "https://shop.example/", "--loop-values", '["a", "b"]', code=1)


def half_a_list(work: Work) -> Outcome:
    return replace(completed({"name": "a"}), incomplete=Incomplete(10, 57, "no link leads on"))


def test_run_of_a_list_that_is_known_to_lack_records_ends_with_4_and_says_so(served: Served, shoal: Shoal) -> None:
    served.work(half_a_list)
    result = shoal("run", "look", "--url", "https://shop.example/", code=4)
    assert "j1 completed in part" in result.stderr
    assert "incomplete: 10 of 57" in result.stderr
    assert "completed in part, incomplete: 10 of 57" in shoal("jobs").stdout
    told = json.loads(shoal("jobs", "--json").stdout)
    assert (told["status"], told["incomplete"]) == ("completed", {"lists": 1, "found": 10, "shown": 57})
    shown = shoal("show", "j1").stdout
    assert "incomplete: 10 of 57" in shown and "no link leads on" in shown


def test_watch_of_a_job_that_is_done_in_part_ends_with_4(served: Served, shoal: Shoal) -> None:
    job = served.submit()
    served.work(half_a_list)
    assert "incomplete: 10 of 57" in shoal("watch", job, code=4).stderr
    assert "incomplete: 10 of 57" in shoal("watch", job, code=4).stderr, "also when it is over already"


def test_a_list_without_any_record_is_told_as_one(served: Served, shoal: Shoal) -> None:
    served.work(lambda work: replace(completed(), records=(), incomplete=Incomplete(0, None, "no list is there")))
    assert "incomplete: 0 records" in shoal("run", "look", "--url", "https://shop.example/", code=4).stderr


def test_run_with_json_tells_progress_in_json_too(served: Served, shoal: Shoal) -> None:
    served.work(lambda work: completed({"a": 1}))
    result = shoal("run", "look", "--url", "https://shop.example/", "--json")
    events = [json.loads(line) for line in result.stderr.splitlines()]
    assert [event["event"] for event in events][:1] == ["job.submitted"]
    assert events[-1]["event"] == "job.finished"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("run", "look"), "Say where to start: --url https://…"),
        (("run", "x", "--url", "https://a.example", "--schema", "{bad"), "--schema: not valid JSON"),
        (("run", "x", "--url", "https://a.example", "--schema", "/no/file"), "--schema: cannot read /no/file: No such"),
        (("run", "x", "--url", "https://a.example", "--loop-values", "[1]"), "--loop-values: the values must be texts"),
        (("run", "x", "--url", "https://a.example", "--label", "x"), "--label: write NAME=VALUE, not 'x'"),
        (("run", "x", "--url", "ftp://a.example"), "url: must start with http:// or https://, not with ftp:"),
        (("run", "x", "--url", "http://127.0.0.1/"), "the address is loopback"),
        (("show", "j99"), "There is no job"),
        (("show", "../../keys"), "Not Found"),
        (("cancel", "nonsense"), "There is no job"),
        (("submit", "/no/file"), "Cannot read /no/file: No such file"),
        (("results", "j99"), "There is no job"),
        (("jobs", "--status", "odd"), "  status"),
        (("frobnicate",), "No such command"),
        (("run", "x", "--url", "https://a.example", "--max-items", "0"), "--max-items"),
        (("run", "x", "--url", "https://a.example", "--deadline", "0"), "deadline_s: must be more than 0"),
        (
            ("run", "x", "--url", "https://a.example", "--data", '{"a": NaN}'),
            "not valid JSON: NaN is no number",
        ),
        (
            ("run", "x", "--url", "https://a.example", "--data", f'{{"a": {10**30}}}'),
            "data.a: is a number of more",
        ),
        (("run", "x", "--url", "https://a.example", "--data", '"\\ud800"'), "The body is not valid JSON"),
        (("change", "j1", "--deadline", "1e400"), "--deadline: write a number or none, not '1e400'"),
        (("change", "j1", "--deadline", "nan"), "--deadline: write a number or none, not 'nan'"),
        (("jobs", "--gateway", "localhost:8700"), "address starts with http:// or https://, not like 'localhost:8700'"),
        (("observe", "https://a.example", "--full-page"), "--screenshot FILE.png takes it"),
        (("results", "j1", "--format", "xml"), "Invalid value"),
        (("run", "x", "--url", "https://a.example", "--schema", "name"), "name: No such file or directory; give JSON,"),
        (
            ("run", "x", "--url", "https://a.example", "--schema", "a" * 300),
            "File name too long; give JSON, a file that",
        ),
        (
            ("run", "x", "--url", "https://a.example", "--schema", "/"),
            "Is a directory; give JSON, a file that holds it",
        ),
        (("run", "x", "--url", "https://a.example", "--fields", "a:money"), "--fields: a: there is no type 'money'"),
        (("run", "x", "--url", "https://a.example", "--fields", "a", "--schema", "{}"), "exclude each other"),
    ],
)
def test_wrong_usage_ends_with_2_and_a_sentence(
    served: Served, shoal: Shoal, arguments: tuple[str, ...], told: str
) -> None:
    result = shoal(*arguments, code=2)
    assert told in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


def test_each_fault_is_told_once(served: Served, shoal: Shoal) -> None:
    told = shoal("run", "x", "--url", "shop.example", code=2).stderr
    assert told == "The job is not valid: url: must start with http:// or https://.\n"
    told = shoal("run", " ", "--url", "https://a..b/", "--deadline", "1e300", code=2).stderr
    assert told.splitlines() == [
        "The job is not valid: deadline_s: must be at most 1000000000 (and 2 more).",
        "  goal: must not be blank",
        "  url: 'a..b' is no host name",
    ]


def test_a_job_that_cannot_be_is_refused_before_a_cluster_is_started_for_it(
    shoal: Shoal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.embedded.embedded_cluster", lambda *_: pytest.fail("a cluster was started"))
    told = shoal("run", "x", "--url", "http://127.0.0.1:8000/", "--policy", "magic", code=2).stderr
    assert told == "The job is not valid: policy: must be auto, model, rules, person or workflow:NAME.\n"
    told = shoal("run", "x", "--url", "http://127.0.0.1:8000/", "--label", "a=b", code=2).stderr
    assert "127.0.0.1 is not allowed: the address is loopback; the operator can allow it (SHOAL_ALLOW_HOSTS, " in told


async def test_sessions_of_a_cluster_of_its_own_may_ask_people() -> None:
    job = b'{"url": "https://93.184.216.34/", "loop": {"values": ["x"]}, "help": {"person": true}}'
    assert (await spec_checker(load_settings()).check(job, "default")).spec.help.person


async def test_a_cluster_of_its_own_takes_long_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of 20,000 addresses was refused, by the limit for strangers' requests."""
    started: list[Settings] = []

    @asynccontextmanager
    async def embedded(settings: Settings, tell: object) -> AsyncIterator[SimpleNamespace]:
        started.append(settings)
        yield SimpleNamespace(url="http://127.0.0.1:9")

    monkeypatch.setattr("shoal.embedded.embedded_cluster", embedded)
    async with client_or_cluster(load_settings(body_limit_kib=1), ""):
        (own,) = started
        assert (own.host, own.port, own.upload_dirs[-1]) == ("127.0.0.1", 0, Path.cwd())
        assert own.body_limit_kib >= 64 * 1024


def test_files_of_windows_programs_are_read(served: Served, shoal: Shoal, tmp_path: Path) -> None:
    """Their first three bytes made the first address a word."""
    served.work(loop_of(VALUES, each))
    values, schema, job = tmp_path / "values.txt", tmp_path / "schema.json", tmp_path / "job.json"
    values.write_bytes(b"\xef\xbb\xbfhttps://shop.example/1\r\nhttps://shop.example/2\r\n")
    schema.write_bytes(b'\xef\xbb\xbf{"type": "object"}')
    job.write_bytes(b'\xef\xbb\xbf{"url": "https://shop.example/", "goal": "look"}\r\n')
    shoal("run", "--url", "https://shop.example/", "--loop-values", str(values), "--schema", str(schema), code=4)
    (stored,) = served.do(served.world.store.jobs(JobFilter()))
    assert stored.spec.loop is not None
    assert stored.spec.loop.values == ("https://shop.example/1", "https://shop.example/2")
    assert shoal("submit", str(job)).stdout == "j2\n"


def test_any_json_may_be_data(served: Served, shoal: Shoal) -> None:
    served.work(lambda work: completed({"a": 1}))
    for text in ('"a text"', "[0]"):
        shoal("run", "look", "--url", "https://shop.example/", "--data", text)
    jobs = served.do(served.world.store.jobs(JobFilter()))
    assert [job.spec.data for job in jobs] == [[0], "a text"]


def test_a_gateway_that_is_not_there_ends_with_3(shoal: Shoal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("shoal.api.FIRST_PAUSE_S", 0.001)
    result = shoal("jobs", "--gateway", "http://127.0.0.1:9", code=3)
    assert result.stderr.startswith("The gateway at http://127.0.0.1:9 does not answer (")
    assert "`shoal up` starts one here" in result.stderr
    result = shoal("jobs", code=3)
    assert "no Shoal runs on this machine with this data folder" in result.stderr


def test_a_bad_setting_ends_with_3(shoal: Shoal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_PORTT", "1")
    assert shoal("jobs", code=3).stderr.startswith("SHOAL_PORTT is not a setting; did you mean SHOAL_PORT?")


@pytest.mark.parametrize("command", [("up",), ("gateway",), ("keys", "list")])
def test_a_data_folder_that_cannot_be_made_ends_with_3(
    shoal: Shoal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SHOAL_DATA_DIR", str(tmp_path / "file" / "data"))
    told = shoal(*command, code=3).stderr
    assert (
        told
        == f"The data folder {tmp_path}/file/data cannot be made (Not a directory): name another with SHOAL_DATA_DIR\n"
    )


def test_keys_open_a_locked_gateway(locked: Served, shoal: Shoal, monkeypatch: pytest.MonkeyPatch) -> None:
    result = shoal("jobs", code=3)
    assert result.stderr.splitlines()[0].startswith("An API key is needed")
    assert "SHOAL_API_KEY" in result.stderr
    monkeypatch.setenv("SHOAL_API_KEY", locked.do(locked.world.key("read")))
    assert shoal("jobs", "--json").stdout == ""
    assert "This needs the scope `submit`" in shoal("run", "x", "--url", "https://a.example", code=3).stderr


SPEC = '{"url": "https://shop.example/", "goal": "look"}'


@pytest.mark.parametrize("text", [SPEC, SPEC + "\n", "\n" + SPEC + "\n\n", json.dumps(json.loads(SPEC), indent=2)])
def test_submit_takes_one_spec_however_it_is_laid_out(served: Served, shoal: Shoal, text: str) -> None:
    assert shoal("submit", "-", stdin=text).stdout == "j1\n"
    assert len(served.do(served.world.store.jobs(JobFilter()))) == 1


def test_submit_takes_lines_and_tells_the_bad_ones(served: Served, shoal: Shoal, tmp_path: Path) -> None:
    file = tmp_path / "jobs.jsonl"
    file.write_text(f'{SPEC}\n\n{{"url": 5}}\n{SPEC}\n')
    result = shoal("submit", str(file), code=2)
    assert result.stdout == "j1\nj2\n"
    assert "line 3: The job is not valid: url: must be a string." in result.stderr
    assert "2 accepted, 1 refused" in result.stderr
    result = shoal("submit", str(file), "--json", "--key", "again", code=2)
    assert [json.loads(line).get("job") for line in result.stdout.splitlines()] == ["j3", None, "j4"]
    result = shoal("submit", str(file), "--json", "--key", "again", code=2)
    assert [json.loads(line).get("created") for line in result.stdout.splitlines()] == [False, None, False]


def test_submitting_the_same_key_twice_makes_one_job(served: Served, shoal: Shoal) -> None:
    assert shoal("submit", "-", "--key", "k", stdin=SPEC).stdout == "j1\n"
    assert shoal("submit", "-", "--key", "k", stdin=SPEC).stdout == "j1\n"


def test_jobs_and_show_tell_people_and_programs(served: Served, shoal: Shoal) -> None:
    job = served.submit(loop={"values": VALUES}, labels={"team": "x"})
    served.do(served.world.run(loop_of(VALUES, each)))
    served.submit()
    assert [json.loads(line)["id"] for line in shoal("jobs", "--json").stdout.splitlines()] == ["j2", "j1"]
    assert "j1" not in shoal("jobs", "--status", "queued").stdout
    assert "j2" not in shoal("jobs", "--label", "team=x").stdout
    assert "completed" in shoal("jobs").stdout
    shown = shoal("show", job).stdout
    assert "j1 completed in part: 4 items, 3 completed, 1 failed" in shown
    assert "The page did not load within its time." in shown
    assert json.loads(shoal("show", job, "--json").stdout)["counts"]["failed"] == 1
    assert "a dispatcher: none is running" in shoal("show", "j2").stdout


def test_changes_are_written_and_counted(served: Served, shoal: Shoal, tmp_path: Path) -> None:
    jobs = []
    for price in (1, 2):
        jobs.append(served.submit())
        served.do(served.world.run(partial(lambda price, work: completed({"name": "a", "price": price}), price)))
    ran = shoal("changes", jobs[1], "--key", "name")
    assert json.loads(ran.stdout)["fields"] == {"price": {"before": 1, "after": 2}}
    said = f"{jobs[0]} to {jobs[1]}, records by name: 0 appeared, 0 went, 1 changed, 0 unclear, 0 same"
    assert said in ran.stderr
    out = tmp_path / "changes.csv"
    assert shoal("changes", jobs[1], "--since", jobs[0], "--format", "csv", "--out", str(out)).stdout == ""
    assert out.read_text().startswith("change,key,why,fields.price.before,fields.price.after,record.name,")
    assert "No earlier run" in shoal("changes", jobs[0], code=2).stderr


def test_results_come_in_three_formats(served: Served, shoal: Shoal, tmp_path: Path) -> None:
    job = served.submit(loop={"values": VALUES})
    served.do(served.world.run(loop_of(VALUES, each)))
    assert records(shoal("results", job).stdout) == [{"name": "a"}, {"name": "b"}, None, {"name": "d"}]
    assert len(shoal("results", job, "--format", "csv").stdout.splitlines()) == 5
    out = tmp_path / "out.parquet"
    assert shoal("results", job, "--format", "parquet", "--out", str(out)).stdout == ""
    assert pq.read_table(io.BytesIO(out.read_bytes())).column("record.name").to_pylist() == ["a", "b", None, "d"]
    assert out.stat().st_mode & 0o077, "readable as files usually are"
    assert [path.name for path in tmp_path.glob("*out*")] == ["out.parquet"], "nothing temporary stays"
    assert "Cannot write" in shoal("results", job, "--out", str(tmp_path / "no" / "x"), code=2).stderr


async def test_a_file_of_results_grows_line_by_line_and_takes_its_place_when_it_is_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, part = tmp_path / "out.jsonl", tmp_path / "out.jsonl.part"
    out.write_text("of yesterday\n")

    async def lines(breaks: bool) -> AsyncIterator[bytes]:
        for n in range(3):
            yield b'{"n": %d}\n' % n
            assert part.read_bytes().count(b"\n") == n + 1 and out.read_text() == "of yesterday\n"
        if breaks:
            raise ConnectionError("the gateway is gone")

    with pytest.raises(ConnectionError):
        await jobs._write(lines(True), str(out), jobs.Form.JSONL)
    assert part.read_bytes().count(b"\n") == 3 and out.read_text() == "of yesterday\n"
    assert f"{part} has what had come; {out} is not written" in capsys.readouterr().err
    await jobs._write(lines(False), str(out), jobs.Form.JSONL)
    assert out.read_bytes().count(b"\n") == 3 and not part.exists()
    out.write_text("of yesterday\n")
    with pytest.raises(ConnectionError):
        await jobs._write(lines(True), str(out), jobs.Form.PARQUET)
    assert not part.exists(), "half a Parquet file cannot be read"


def test_the_help_shows_commands_in_groups(shoal: Shoal) -> None:
    told = shoal("--help").stdout
    assert all(f"\n{name}:\n" in told for name in ("Begin", "Jobs", "What jobs use", "Cluster"))
    assert "\nCommands:\n" not in told, "a command is in no group"


def test_control_commands_do_what_they_say(served: Served, shoal: Shoal) -> None:
    job = served.submit()
    assert "j1 paused" in shoal("pause", job).stderr
    assert json.loads(shoal("resume", job, "--json").stdout)["status"] == "queued"
    assert "j1 canceled" in shoal("cancel", job).stderr
    assert "j1 queued" in shoal("retry", job).stderr
    assert "cannot be resumed" in shoal("resume", job, code=2).stderr


def test_a_job_that_is_being_canceled_says_so(served: Served, shoal: Shoal) -> None:
    job = served.submit()
    served.do(served.world.claim())
    assert shoal("cancel", job).stderr == f"{job} running, being canceled\n"


def test_watch_follows_to_the_end_and_takes_over_its_exit_code(served: Served, shoal: Shoal) -> None:
    job = served.submit()
    served.work(lambda work: failed())
    assert "j1 failed" in shoal("watch", job, code=1).stderr
    assert "j1 failed" in shoal("watch", job, code=1).stderr, "also when it is over already"


def test_keys_are_made_listed_and_revoked(shoal: Shoal) -> None:
    made = shoal("keys", "create", "ci", "--tenant", "acme", "--scope", "read", "--scope", "submit")
    key = made.stdout.strip()
    assert key.startswith("shoal_")
    assert key not in made.stderr
    listed = [json.loads(line) for line in shoal("keys", "list", "--json").stdout.splitlines()]
    assert [(row["name"], row["tenant"], row["scopes"]) for row in listed] == [("ci", "acme", ["read", "submit"])]
    assert "ci" in shoal("keys", "list").stdout
    assert json.loads(shoal("keys", "revoke", str(listed[0]["id"]), "--json").stdout)["revoked_at"]
    assert "There is no API key 99" in shoal("keys", "revoke", "99", code=2).stderr
    assert "there is no scope 'root'" in shoal("keys", "create", "x", "--scope", "root", code=2).stderr.lower()


def test_migrate_brings_a_new_database_up(shoal: Shoal, tmp_path: Path) -> None:
    assert "up to date" in shoal("migrate").stderr
    assert json.loads(shoal("migrate", "--json").stdout) == {"migrated": True}


def test_the_readme_s_first_job_is_one(served: Served, shoal: Shoal) -> None:
    readme = (Path(__file__).parents[3] / "README.md").read_text()
    block = readme.split("## A first job")[1].split("```")[1]
    assert len(block.strip().splitlines()) == 4
    command = shlex.split(block.replace("\\\n", " ").rpartition(">")[0])
    assert command[:2] == [".venv/bin/shoal", "run"]
    served.work(lambda work: completed({"title": "A book", "price": 12.5}))
    assert records(shoal(*command[1:]).stdout) == [{"title": "A book", "price": 12.5}]
    (job,) = served.do(served.world.store.jobs(JobFilter()))
    assert job.spec.loop is not None and job.spec.loop.source is not None
    assert job.spec.loop.source.select == "books"
    assert job.spec.extract is not None and job.spec.extract.json_schema is not None
    assert job.spec.extract.json_schema["required"] == ["title", "price"]
