"""Records read from real pages that nobody here wrote, beside what the pages state and what other readers gave.

The pages are no part of this repository. A corpus is a folder with these files: `manifest.jsonl` (a line a page: kind,
id, url, file, charset, stated), the pages as gzip files, `peers.jsonl` (what other readers gave for the same page, by
name), and two modules that judge: `judge.py` (`Page`, `verdict`, `FIELDS`) and `judge_lists.py` (`judged`). Pages are
read as raw HTML, by rules alone, on every core.

    python load-tests/bench/web.py CORPUS [--kinds recipe,product,article,list] [--quick] [--json] [--wrong FILE]
        [--glossary FILE]

With --calibrate the whole corpus's counts by witness and kind of value are kept: how sure a value may be follows from
them (agent/read/record/value_kinds.py). A glossary is a JSON file: for each kind what a model answered to the fields'
names, as `x-glossary` holds it.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import logging
import multiprocessing
import os
import statistics
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _report import machine
from rich.console import Console
from rich.table import Table

from shoal.agent.page.from_html import page_from_html
from shoal.agent.read.field import Field
from shoal.agent.read.lists.fields import ListField
from shoal.agent.read.lists.records import read_list
from shoal.agent.read.record.record import read_record
from shoal.agent.read.record.value_kinds import MEASURED, kind_of
from shoal.agent.read.schema import properties_of
from shoal.agent.spec import X_GLOSSARY
from shoal.agent.types import FieldSource

_TEXT, _NUMBER = {"type": "string"}, {"type": "number"}
_LINES = {"type": "array", "items": _TEXT}
SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    "recipe": {
        **dict.fromkeys(("title", "author"), _TEXT),
        **dict.fromkeys(("ingredients", "instructions"), _LINES),
        "servings": _TEXT,
        "total_time": {"type": "integer", "description": "minutes"},
        "image": {"type": "string", "format": "uri"},
        "rating": _NUMBER,
    },
    "product": {
        **dict.fromkeys(("name", "currency", "availability", "sku", "brand", "gtin"), _TEXT),
        **dict.fromkeys(("price", "rating"), _NUMBER),
    },
    "article": {**dict.fromkeys(("title", "author", "body"), _TEXT), "date": {"type": "string", "format": "date"}},
}
LIST_FIELDS: Mapping[str, Mapping[str, Any]] = {
    "case_name": {"type": "string", "description": "the parties, such as Smith v. Jones"},
    "date_filed": {"type": "string", "format": "date", "description": "day the opinion was filed"},
    "docket_number": {"type": "string", "description": "the court's number of the case"},
    "url": {"type": "string", "format": "uri", "description": "link to the opinion (PDF)"},
}
PROPERTIES: Mapping[str, str] = {
    "title": "name", "instructions": "recipeInstructions", "ingredients": "recipeIngredient", "date": "datePublished",
    "servings": "recipeYield", "total_time": "totalTime", "rating": "ratingValue", "currency": "priceCurrency",
    "body": "articleBody",
}  # fmt: skip
"""schema.org's names of the fields that are called otherwise."""
_QUICK = 4
"""Of so many pages one is read by --quick."""

Row = Mapping[str, Any]


@dataclass
class Reading:
    """The reading of one page."""

    record: dict[str, Any] = field(default_factory=dict)  # by field: what is certain or likely
    sources: dict[str, FieldSource] = field(default_factory=dict)  # by field, of all that was found
    records: list[dict[str, str]] = field(default_factory=list)  # of a list
    seconds: float = 0.0  # CPU


def read(folder: Path, row: Row, glossaries: Mapping[str, Any]) -> Reading:
    """Read one page of a corpus, by the glossary of its kind where there is one."""
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    raw = gzip.decompress((folder / row["file"]).read_bytes())
    began = time.process_time()
    page = page_from_html(raw, row["url"], charset=row["charset"])
    if row["kind"] == "list":
        properties = {name: LIST_FIELDS[name] for name in row["fields"]}
        glossary = {name: entry for name, entry in glossaries.get("list", {}).items() if name in properties}
        schema = {"properties": properties, "required": list(row["fields"][:1]), X_GLOSSARY: glossary}
        found = read_list(page, [ListField(prop) for prop in properties_of(schema)])
        return Reading(records=[dict(record.values) for record in found.records], seconds=time.process_time() - began)
    schema = {"properties": SCHEMAS[row["kind"]], X_GLOSSARY: glossaries.get(row["kind"], {})}
    record = read_record(page, properties_of(schema))
    return Reading(record.value, record.sources, seconds=time.process_time() - began)


def _read(task: tuple[Path, Row, Mapping[str, Any]]) -> Reading:
    return read(*task)


@dataclass
class Figures:
    """Figures of all pages of a kind."""

    pages: int = 0
    seconds: list[float] = field(default_factory=list)
    counts: dict[str, dict[str, Counter[str]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Counter))
    )
    sureness: Counter[tuple[str, str]] = field(default_factory=Counter)
    calibration: Counter[tuple[str, str, str, bool]] = field(default_factory=Counter)  # witness, reason, kind, right
    wrong: list[dict[str, Any]] = field(default_factory=list)

    def add(self, reader: str, name: str, verdict: str) -> None:
        self.counts[reader][name][verdict] += 1
        self.counts[reader]["all"][verdict] += 1

    def shares(self, reader: str, name: str) -> tuple[float, float]:
        """Right or near of what is stated, and wrong of what is given, in percent."""
        count = self.counts[reader][name]
        right = count["right"] + count["near"]
        wrong = count["wrong"] + count["overfull"]
        return 100 * right / max(1, sum(count.values())), 100 * wrong / max(1, right + wrong)


def judge_records(judge: Any, row: Row, reading: Reading, peers: Mapping[str, Any], figures: Figures) -> None:
    """Count the verdicts on a single record, and on what peers gave of it."""
    page = judge.Page(row)
    schema = {"type": "object", "properties": SCHEMAS[row["kind"]]}
    asked = {prop.name: Field(prop) for prop in properties_of(schema)}
    for name, stated in row["stated"].items():
        if name not in judge.FIELDS[row["kind"]]:
            continue
        value = reading.record.get(name)
        verdict = judge.verdict(row["kind"], name, value, stated, page)
        figures.add("Shoal", name, verdict)
        if verdict != "missing":
            source = reading.sources[name]
            figures.sureness[source.sureness, verdict] += 1
            kind = kind_of(asked[name], PROPERTIES.get(name, name), value)
            figures.calibration[source.how, source.why, kind, verdict != "wrong"] += 1
        if verdict == "wrong":
            figures.wrong.append({"url": row["url"], "field": name, "value": value, "stated": stated})
        for peer, given in peers.items():
            if isinstance(given, dict):
                figures.add(peer, name, judge.verdict(row["kind"], name, given.get(name), stated, page))


def judge_rows(judge: Any, row: Row, reading: Reading, peers: Mapping[str, Any], figures: Figures) -> None:
    """Count the verdicts on a list's records, and on those of the floor beside them."""
    for reader, records in (("Shoal", reading.records), ("floor", peers.get("floor") or [])):
        judged = judge.judged(row, records)
        count = figures.counts[reader]["rows"]
        count["right"] += judged["matched"]
        count["missing"] += judged["rows"] - judged["matched"]
        for name in judge.FIELDS:
            for verdict, number in judged["count"][name].items():
                figures.counts[reader][name][verdict] += number
                figures.counts[reader]["all"][verdict] += number


def measured(
    folder: Path, kinds: Sequence[str], step: int, glossaries: Mapping[str, Any] | None = None
) -> dict[str, Figures]:
    """The figures of each kind."""
    sys.path.insert(0, str(folder))
    records, lists = importlib.import_module("judge"), importlib.import_module("judge_lists")
    rows = [row for row in _lines(folder / "manifest.jsonl") if row["kind"] in kinds]
    rows = [row for kind in kinds for row in [row for row in rows if row["kind"] == kind][::step]]
    peers = {(each.get("kind"), each.get("id")): each for each in _lines(folder / "peers.jsonl")}
    figures: dict[str, Figures] = defaultdict(Figures)
    with multiprocessing.get_context("spawn").Pool(os.cpu_count()) as pool:
        readings = pool.imap(_read, [(folder, row, glossaries or {}) for row in rows], chunksize=4)
        for row, reading in zip(rows, readings, strict=True):
            of_kind = figures[row["kind"]]
            of_kind.pages += 1
            of_kind.seconds.append(reading.seconds)
            given = peers.get((row["kind"], row["id"]), {})
            if row["kind"] == "list":
                judge_rows(lists, row, reading, given, of_kind)
            else:
                judge_records(records, row, reading, given, of_kind)
    return figures


def _lines(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def show(figures: Mapping[str, Figures]) -> None:
    """Print a table for each kind, how sure wrong values were, and what a page costs."""
    for kind, each in figures.items():
        table = Table(title=f"{kind}: {each.pages} pages; right or near of stated / wrong of given, %")
        table.add_column("field")
        for reader in each.counts:
            table.add_column(reader, justify="right")
        for name in each.counts["Shoal"]:
            table.add_row(name, *("{:.0f} / {:.1f}".format(*each.shares(reader, name)) for reader in each.counts))
        Console().print(table)
        median = 1000 * statistics.median(each.seconds)
        cost = f"CPU {median:.0f} ms a page in the median, {max(each.seconds):.1f} s at most"
        sure = ", ".join(f"{' '.join(key)} {number}" for key, number in sorted(each.sureness.items()))
        Console().print(cost, sure, sep="\n", highlight=False)


def calibrate(figures: Mapping[str, Figures]) -> None:
    """Keep the counts by witness, reason and kind of value."""
    count = sum((each.calibration for each in figures.values()), Counter[tuple[str, str, str, bool]]())
    rows = [[*key, count[*key, True], count[*key, False]] for key in sorted({key[:3] for key in count})]
    MEASURED.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n", encoding="utf-8")


def as_json(figures: Mapping[str, Figures]) -> dict[str, Any]:
    """One object for other programs."""
    told: dict[str, Any] = {}
    for kind, each in figures.items():
        right, wrong = each.shares("Shoal", "all")
        told |= {f"{kind} right": round(right, 1), f"{kind} wrong": round(wrong, 1)}
        told[f"{kind} CPU ms"] = round(1000 * statistics.median(each.seconds))
    return {"bench": "web", "figures": told, "targets": {}, "machine": machine()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--kinds", default="recipe,product,article,list")
    parser.add_argument("--quick", action="store_true", help=f"one page of {_QUICK}")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--wrong", type=Path, help="write the wrong values of single records, a line each")
    parser.add_argument("--calibrate", action="store_true", help="keep the counts by which sureness is decided")
    parser.add_argument("--glossary", type=Path, help="what a model answered to the fields' names, by kind")
    args = parser.parse_args()
    if args.calibrate and (args.quick or args.glossary or not SCHEMAS.keys() <= set(args.kinds.split(","))):
        parser.error("--calibrate measures all single records: leave out --quick, --kinds and --glossary")
    glossaries = json.loads(args.glossary.read_text(encoding="utf-8")) if args.glossary else {}
    figures = measured(args.corpus.resolve(), args.kinds.split(","), _QUICK if args.quick else 1, glossaries)
    if args.wrong:
        wrong = [json.dumps(each, ensure_ascii=False) for of_kind in figures.values() for each in of_kind.wrong]
        args.wrong.write_text("\n".join(wrong) + "\n", encoding="utf-8")
    if args.calibrate:
        calibrate(figures)
    print(json.dumps(as_json(figures))) if args.json else show(figures)


if __name__ == "__main__":
    main()
