"""The records of two runs on disk, matched by a key: memory holds a page of lines, however many there are.

SQLite sorts them by their keys, beyond its cache in files. Everything here is called in threads.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

from shoal.agent.support.json_value import Json
from shoal.services.web.results.record_keys import MOST_KEYS, Key, key_values
from shoal.services.web.results.result_lines import Line

_CACHE_KIB = 16_000
_TABLES = """
pragma journal_mode = off;
pragma synchronous = off;
pragma temp_store = file;
create table line (id integer primary key, run int, item blob, record text, meta text, k0 blob, k1 blob, k2 blob);
create table unread (run int, item blob, status text, primary key (run, item)) without rowid;
"""
_OWN_KEYS = """
create table key_{n} (run int, k blob, lines int, line int, primary key (run, k)) without rowid;
insert into key_{n} select run, k{n}, count(*), min(id) from line where k{n} is not null group by run, k{n}
  order by run, k{n};
"""
_FIGURES = """
select (select count(*) from line) - (select count(*) from key_{n} where lines = 1),
  (select count(*) from key_{n} b join key_{n} a on a.run = 1 and a.k = b.k
   where b.run = 0 and b.lines = 1 and a.lines = 1)
"""
_MATCHED = """
select own.record, own.meta, key.lines, twin_key.lines, twin.record, twin.meta, unread.status
from line own
  left join key_{n} key on key.run = own.run and key.k = own.k{n}
  left join key_{n} twin_key on twin_key.run = 1 - own.run and twin_key.k = own.k{n}
  left join line twin on twin.id = twin_key.line
  left join unread on unread.run = 1 - own.run and unread.item = own.item
where own.run = ? order by own.id
"""


class WhichRun(IntEnum):
    """Which of the two runs."""

    BEFORE = 0
    AFTER = 1


@dataclass(frozen=True, slots=True)
class MatchedRecord:
    """A record of one run, with the record of the other one that has the same key."""

    record: str  # JSON, with sorted names
    meta: dict[str, Json]
    same_key: int  # records of its own run with its key; 0: it has none
    twins: int  # records of the other run with its key
    twin_record: str | None  # the first of those
    twin_meta: dict[str, Json] | None
    unread: str | None  # how the item ended in the other run, where it gave no record there


class ComparedRuns:
    """Lines of two runs, with the values of some keys. Close it when done."""

    def __init__(self, keys: Sequence[Key]) -> None:
        self.keys = keys
        self._folder = tempfile.TemporaryDirectory(prefix="shoal-changes-")
        # Calls come from several threads, one after the other.
        self._db = sqlite3.connect(Path(self._folder.name, "runs"), check_same_thread=False)
        self._db.executescript(f"pragma cache_size = -{_CACHE_KIB}; {_TABLES}")
        self.unplaced = [False, False]  # by run: something gave no record, and it is unknown which record it was to be

    def close(self) -> None:
        """Drops the lines."""
        self._db.close()
        self._folder.cleanup()

    def add(self, run: WhichRun, lines: Sequence[Line]) -> None:
        """Takes in lines of a run, in their order."""
        rows, unread = list[tuple[Any, ...]](), list[tuple[Any, ...]]()
        for line in lines:
            item = line["item"] and _digest([line["item"]["value"]])
            if line["record"] is not None:
                rows.append((run, item, *self._columns(line)))
            elif item is not None:
                unread.append((run, item, line["status"]))
            elif not line["answer"]:
                self.unplaced[run] = True
        self._db.executemany("insert into line values (null, ?, ?, ?, ?, ?, ?, ?)", rows)
        self._db.executemany("insert or ignore into unread values (?, ?, ?)", unread)

    def _columns(self, line: Line) -> tuple[Any, ...]:
        values = [key_values(line, key) for key in self.keys]
        digests = [None if value is None else _digest(value) for value in values]
        meta = {
            "session": line["session"],
            "item": line["item"] and line["item"]["value"],
            "url": line["url"],
            "at": line["at"],
            "doubted": sorted(line["candidates"]),
            "keys": values,
        }
        record = json.dumps(line["record"], sort_keys=True)
        return (record, json.dumps(meta), *digests, *[None] * (MOST_KEYS - len(digests)))

    def chosen(self) -> int:
        """The position of the key that leaves the fewest records without a match, and of equals matches the most."""
        figures = []
        for n in range(len(self.keys)):
            self._db.executescript(_OWN_KEYS.format(n=n))
            alone, matched = self._db.execute(_FIGURES.format(n=n)).fetchone()
            figures.append((alone, -matched, n))
        return min(figures)[2]

    def matched(self, run: WhichRun, key: int) -> Iterator[MatchedRecord]:
        """The records of a run in their order, each with its twin by one of the keys."""
        for record, meta, lines, twins, twin_record, twin_meta, unread in self._db.execute(
            _MATCHED.format(n=key), (run,)
        ):
            yield MatchedRecord(
                record,
                json.loads(meta),
                lines or 0,
                twins or 0,
                twin_record,
                twin_meta and json.loads(twin_meta),
                unread,
            )


def _digest(values: Sequence[str]) -> bytes:
    return hashlib.blake2b(json.dumps(values).encode(), digest_size=16).digest()
