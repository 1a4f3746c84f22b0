"""`shoal up` over a store in trouble: it waits for what passes, says what is wrong, and ends where no waiting helps."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

import psycopg
import pytest

from tests import postgres
from tests.embedded import Up, start_up, wait_until
from tests.full_disk import small_disk

pytestmark = pytest.mark.timeout(600)  # a cluster has to start


def wait_for_output(one: Up, what: str, seconds: float) -> None:
    """Return once the command has logged this."""
    try:
        wait_until(lambda: what in one.log.read_text() or one.process.poll() is not None, seconds, what)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{one.log.read_text()[-4000:]}") from error
    assert what in one.log.read_text(), one.log.read_text()[-4000:]


def test_a_cluster_says_that_its_disk_is_full_and_ends_when_its_database_is_damaged() -> None:
    with (
        tempfile.TemporaryDirectory(prefix="su-", dir="/tmp") as folder,
        small_disk(Path(folder) / "data", 16) as disk,
    ):
        base = Path(folder)
        one = Up(start_up(base), disk.path, base / "t", "", log=base / "up.log")
        try:
            wait_for_output(one, "Shoal is up", 240)
            disk.fill()
            wait_for_output(one, "shoal.db is full: make room", 90)
            disk.empty()
            wait_for_output(one, "that is mended", 90)
            (disk.path / "shoal.db").write_bytes(b"\x5a" * (disk.path / "shoal.db").stat().st_size)
            (disk.path / "shoal.db-wal").write_bytes(b"")
            code = one.process.wait(120)
            assert code == 3, one.log.read_text()[-3000:]
            assert "is damaged" in one.log.read_text().splitlines()[-1]
            assert one.nothing_left()
        finally:
            one.process.kill()
            one.process.wait()


def test_connections_that_are_dropped_while_a_cluster_starts_do_not_end_it() -> None:
    with (
        postgres.own_server() as server,
        tempfile.TemporaryDirectory(prefix="su-", dir="/tmp") as folder,
    ):
        base, dropped, stop = Path(folder), [0], threading.Event()

        def drop() -> None:
            with psycopg.connect(server.url, autocommit=True) as connection:
                pause_s = 0.4
                while not stop.wait(pause_s):
                    query = "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = %s"
                    row = connection.execute(query, ["shoal"]).fetchone()
                    if row and row[0]:
                        dropped[0] += row[0]
                        pause_s *= 1.5  # a machine that is slow needs longer for what it does between two of them

        dropping = threading.Thread(target=drop)
        dropping.start()
        process = start_up(base, store_url=server.url)
        one = Up(process, base / "data", base / "t", "", log=base / "up.log")
        try:
            wait_until(lambda: "Shoal is up" in one.log.read_text() or process.poll() is not None, 180, "it is up")
            assert process.poll() is None, one.log.read_text()
            assert dropped[0] > 3
        finally:
            stop.set()
            dropping.join()
            process.terminate()
            process.wait(90)
        assert process.returncode == 0, one.log.read_text()
        assert one.nothing_left()
