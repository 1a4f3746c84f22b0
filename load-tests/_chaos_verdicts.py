"""Compares what the shop saw with what the store says, after a storm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from _chaos_cluster import ChaosCluster
from _chaos_doubts import Doubt

from shoal.agent.support.json_value import Json
from shoal.services.store.ids import parse_session


def products_wrong(rows: Sequence[Json], truth: Sequence[Json]) -> list[str]:
    """Return what is wrong with the extracted records; the shop is well, so every item can be completed."""
    wrong = _incomplete(rows, len(truth), "products")
    for row in rows:
        index, record = row["item"]["index"], row["record"]
        if row["status"] != "completed":
            wrong.append(f"products: item {index} is {row['status']}: {row['error']}")
        elif any(record.get(name) != truth[index][name] for name in ("name", "price")):
            wrong.append(f"products: item {index} is {record}, not {truth[index]['name']}, {truth[index]['price']}")
    return wrong


def pages_wrong(rows: Sequence[Json], records: Sequence[Json], name: str) -> list[str]:
    """Return what is wrong with records that have to be the truth as a whole. Every item can be completed."""
    wrong = _incomplete(rows, len(records), name)
    for row in rows:
        index = row["item"]["index"]
        if row["status"] != "completed":
            wrong.append(f"{name}: item {index} is {row['status']}: {row['error']}")
        elif row["record"] != records[index]:
            wrong.append(f"{name}: item {index} is {row['record']}, not {records[index]}")
    return wrong


def forms_wrong(rows: Sequence[Json], emails: Sequence[str], sent: Sequence[Json], form: str = "forms") -> list[str]:
    """Return what is wrong between the forms that the shop received and what the results say."""
    wrong = _incomplete(rows, len(emails), form)
    received = Counter(one["fields"]["email"] for one in sent)
    for row in rows:
        index, status = row["item"]["index"], row["status"]
        times = received[emails[index]]
        if times > 1:
            wrong.append(f"{form}: item {index} is {status} and was sent {times} times")
        if status == "completed" and times == 0:
            wrong.append(f"{form}: item {index} is completed and was never sent")
        if status == "failed" and times:
            wrong.append(f"{form}: item {index} was received and is told as failed: {row['error']}")
        elif status not in ("completed", "unsure"):
            wrong.append(f"{form}: item {index} is {status} and was sent {times} times: {row['error']}")
    return wrong


def doubts(cluster: ChaosCluster, rows: Sequence[Json]) -> list[Doubt]:
    """The unsure items, each with the time that its action was marked and not confirmed."""
    processes = cluster.workers()
    return [_doubt(cluster, row, processes) for row in rows if row["status"] == "unsure"]


def _doubt(cluster: ChaosCluster, row: Json, processes: Mapping[str, int]) -> Doubt:
    evidence = cluster.get(f"/v1/sessions/{row['session']}")["evidence"] or {}
    action, began, ended, worker = "", 0.0, 0.0, None
    for at, owner, marked in cluster.marks(parse_session(row["session"])):
        if marked and not action:
            began, worker = at, owner
        action = marked
        ended = at
    named = evidence.get("action", "") if began else ""
    said = (row["error"] or {}).get("message", "")
    return Doubt(row["item"]["index"], named, processes.get(worker or ""), began, ended, said)


def last_steps(cluster: ChaosCluster, rows: Sequence[Json]) -> list[str]:
    """Return what the sessions that failed did at last, for the person who looks for the cause."""
    told = []
    for row in [row for row in rows if row["status"] not in ("completed", "unsure")][:5]:
        attempts = cluster.get(f"/v1/sessions/{row['session']}")["attempts"]
        steps = [step for tasks in attempts for task in tasks for step in task["steps"]]
        told += [f"item {row['item']['index']}: {step}"[:1500] for step in steps[-3:]]
    return told


def store_wrong(cluster: ChaosCluster, expected: int) -> list[str]:
    """Return what is wrong with the rows themselves: one per item, all final, and no lease left."""
    wrong = []
    counted = "select count(*), count(distinct (parent, idx)) from session where parent is not null"
    items, places = cluster.store(counted)[0]
    if (items, places) != (expected, expected):
        wrong.append(f"store: {items} rows for {places} places of {expected} items")
    if cluster.done() != expected:
        wrong.append(f"store: {cluster.done()} of {expected} items are final")
    leased = cluster.store("select count(*) from session where owner is not null or lease_until is not null")[0][0]
    if leased:
        wrong.append(f"store: {leased} leases are left")
    return wrong


def _incomplete(rows: Sequence[Json], expected: int, name: str) -> list[str]:
    seen = Counter(row["item"]["index"] for row in rows)
    return [f"{name}: item {i} is there {seen[i]} times" for i in range(expected) if seen[i] != 1]
