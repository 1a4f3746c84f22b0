"""Keys, snapshots, counts, closing."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from shoal.agent.status import Status
from shoal.agent.types import Outcome
from shoal.services.errors import NotFound, StoreAway
from shoal.services.store.records import AuditFilter, NewAuditEntry, NewJob
from tests.store_world import DONE, ERROR, World, spec

S = Status


async def test_snapshots_are_named_to_the_letter(w: World) -> None:
    """Tenants `Case`, `CASE`, `C_se` and `C%` are four."""
    names = [f"saved:{tenant}:1" for tenant in ("C%", "CASE", "C_se", "Case", "case")]
    for name in names:
        await w.store.put_state(name, {"of": name})
    assert list(await w.store.states("saved:Case:")) == ["saved:Case:1"]
    await w.store.drop_states("saved:Case:", older_than_s=-1.0)
    assert sorted(await w.store.states("saved:")) == sorted(set(names) - {"saved:Case:1"})
    for wild in ("saved:C%", "saved:C_"):
        await w.store.drop_states(wild, older_than_s=-1.0)
    assert sorted(await w.store.states("saved:")) == ["saved:CASE:1", "saved:case:1"]


async def test_keys_are_found_by_hash_and_revoked(w: World) -> None:
    key = await w.store.create_key("ci", "acme", ["read", "submit"], "hash1")
    other = await w.store.create_key("ops", "*", ["admin"], "hash2")
    assert key.scopes == ("read", "submit") and key.revoked_at is None
    assert await w.store.find_key("hash1") == key and await w.store.find_key("hash3") is None
    assert await w.store.keys() == [key, other]
    w.clock.now += 5
    revoked = await w.store.revoke_key(key.id)
    assert revoked.revoked_at is not None and revoked.revoked_at.timestamp() == w.clock.now
    w.clock.now += 5
    assert await w.store.revoke_key(key.id) == revoked == await w.store.find_key("hash1")
    with pytest.raises(NotFound):
        await w.store.revoke_key(other.id + 1)


async def test_a_person_has_one_row_that_is_renewed_and_can_be_shut_out(w: World) -> None:
    ada = await w.store.admit_person("ada", "acme", ["read"], "person:1", 60.0)
    assert ada is not None and (ada.person, ada.left_s, ada.scopes) == (True, 60.0, ("read",))
    w.clock.now += 100
    again = await w.store.admit_person("ada b", "other", ["admin"], "person:1", 60.0)
    assert again is not None and (again.id, again.name, again.tenant, again.left_s) == (ada.id, "ada b", "other", 60.0)
    assert again.scopes == ("admin",) and again.created_at == ada.created_at
    await w.store.revoke_key(ada.id)
    assert await w.store.admit_person("ada", "acme", ["admin"], "person:1", 60.0) is None
    shut_out = await w.store.find_key("person:1")
    assert shut_out is not None and shut_out.revoked_at is not None and shut_out.tenant == "other"
    restored = await w.store.restore_person(ada.id)
    assert (restored.revoked_at, restored.left_s) == (None, 0.0)  # logging in again is up to the person
    assert await w.store.admit_person("ada", "acme", ["read"], "person:1", 60.0) is not None
    key = await w.store.create_key("ci", "acme", ["read"], "hash1")
    await w.store.revoke_key(key.id)
    with pytest.raises(NotFound):
        await w.store.restore_person(key.id)  # a revoked key stays revoked
    revoked = await w.store.find_key("hash1")
    assert revoked is not None and revoked.revoked_at is not None and not revoked.person


async def test_a_login_that_ended_is_kept_until_it_would_have_ended(w: World) -> None:
    assert not await w.store.login_ended("one")
    await asyncio.gather(*(w.store.end_login("one", 60.0) for _ in range(4)))  # two clicks, at two gateways
    await w.store.end_login("two", 90_000.0)
    assert await w.store.login_ended("one") and await w.store.login_ended("two")
    assert not await w.store.login_ended("ONE")
    w.clock.now += 3_600  # a gateway whose clock is behind may still take it for good
    await w.store.end_login("three", 60.0)
    assert await w.store.login_ended("one")
    w.clock.now += 61
    await w.store.end_login("four", 60.0)
    assert not await w.store.login_ended("one") and await w.store.login_ended("two")


async def test_the_first_logins_of_a_person_at_two_gateways_make_one_row(w: World) -> None:
    rows = await asyncio.gather(*(w.store.admit_person("ada", "acme", ["read"], "person:1", 60.0) for _ in range(8)))
    assert len({row.id for row in rows if row is not None}) == 1 and None not in rows
    assert len(await w.store.keys()) == 1


async def test_the_audit_log_is_narrowed_whatever_the_case(w: World) -> None:
    began = w.clock.now
    for actor, detail in (("Ada", "50% of ALL"), ("otto", "500 of all"), ("ada_b", "Größe")):
        await w.store.add_audit(NewAuditEntry("acme", actor, "PATCH /x", "s", detail, "r"))
        w.clock.now += 10

    async def actors(**asked: Any) -> list[str]:
        return [entry.actor for entry in await w.store.audit(AuditFilter(**asked))]

    assert await actors(actor="ADA") == ["ada_b", "Ada"]
    assert await actors(actor="a_b") == ["ada_b"]
    assert await actors(text="0% of all") == ["Ada"]
    assert await actors(text="patch", actor="t") == ["otto"]
    assert await actors(tenant="other", actor="ada") == []
    later = datetime.fromtimestamp(began + 10, UTC)
    assert (await actors(since=later), await actors(until=later)) == (["ada_b", "otto"], ["Ada"])


async def test_a_key_says_when_it_expires_and_when_it_was_last_used(w: World) -> None:
    key = await w.store.create_key("ci", "acme", ["read"], "hash1", 90.0)
    assert key.expires_at is not None and key.expires_at.timestamp() == w.clock.now + 90
    assert (key.used_at, key.left_s) == (None, 90.0)
    began = w.clock.now
    for later, used_at in ((10, 10), (59, 10), (70, 70), (90, 70)):
        w.clock.now = began + later
        await w.store.note_key_use(key.id)
        found = await w.store.find_key("hash1")
        assert found is not None and found.used_at is not None
        assert (found.used_at.timestamp() - began, found.left_s) == (used_at, 90 - later)


async def test_requests_of_one_tenant_are_counted_for_all_gateways(w: World) -> None:
    async def ask(spent: int = 0, tenant: str = "acme") -> float:
        return await w.store.spend(tenant, spent, per_s=2.0, most=4.0)

    waits = await asyncio.gather(*(ask() for _ in range(6)))
    assert sorted(waits) == [0, 0, 0, 0, 0.5, 0.5]
    assert await ask(tenant="other") == 0
    w.clock.now += 0.5
    assert await ask() == 0 and await ask() == 0.5
    assert await ask(spent=3) == 2  # these were let in already: they are made up for
    assert await ask() == 2  # who is refused is not charged
    w.clock.now += 2
    assert await ask() == 0 and await ask() == 0.5
    w.clock.now += 3600  # what was not used is lost beyond the most
    assert [await ask() for _ in range(5)] == [0, 0, 0, 0, 0.5]
    w.clock.now -= 3600  # a clock that was set back gives nothing, and is waited for by nobody
    assert await ask() == 0.5
    w.clock.now += 0.5
    assert await ask() == 0


async def test_snapshots_are_kept_by_name_with_their_age(w: World) -> None:
    await w.store.put_state("dispatcher/a", {"slots": 1})
    await w.store.put_state("dispatcher/b", {"slots": 2})
    await w.store.put_state("other", {})
    w.clock.now += 3
    await w.store.put_state("dispatcher/a", {"slots": 3})
    assert await w.store.states("dispatcher/") == {"dispatcher/a": ({"slots": 3}, 0), "dispatcher/b": ({"slots": 2}, 3)}
    assert await w.store.states("DISPATCHER") == {} and await w.store.states("dispatcher_") == {}


async def test_sessions_are_counted_by_tenant_and_status(w: World) -> None:
    job, _ = await w.open_loop(5)
    held = await w.claim(2)
    await w.finish((held[0], DONE))
    await w.submit(tenant="other")
    paused = await w.submit(tenant="other")
    await w.store.pause(paused)
    assert await w.store.counts_by_status() == {
        ("acme", S.WAITING): 1,
        ("acme", S.QUEUED): 3,
        ("acme", S.RUNNING): 1,
        ("acme", S.COMPLETED): 1,
        ("other", S.QUEUED): 1,
        ("other", S.PAUSED): 1,
    }
    assert await w.store.open_by_status() == {
        ("acme", S.WAITING): 1,
        ("acme", S.QUEUED): 3,
        ("acme", S.RUNNING): 1,
        ("other", S.QUEUED): 1,
        ("other", S.PAUSED): 1,
    }
    assert job


async def test_what_no_free_slot_could_take_is_counted(w: World) -> None:
    job, _ = await w.open_loop(7, hosts=2, loop={"values": ["a"], "concurrency": 4})
    ready = {(partition.job, partition.domain): partition for partition in await w.store.partitions()}
    assert len(ready) == 2 and {number for number, _ in ready} == {job}
    seen = await w.store.unclaimable([*ready, (job, 999), (999, 1)])
    assert (seen.delayed, seen.held) == (0, 3)
    assert set(seen.in_partitions) == set(ready) and sum(seen.in_partitions.values()) == 4
    (tried, *_) = await w.claim(1)
    await w.finish((tried, Outcome(S.QUEUED, error=ERROR)), ready_in_s=30.0)
    seen = await w.store.unclaimable(list(ready)[:1])
    assert (seen.delayed, seen.held) == (1, 3)
    assert len(seen.in_partitions) == 1
    assert (await w.store.unclaimable([])).in_partitions == {}
    await w.store.pause(job)
    seen = await w.store.unclaimable([])
    assert (seen.delayed, seen.held) == (0, 0), "the sessions of a paused job wait for its owner"


async def test_a_closed_store_is_away(w: World) -> None:
    other = await w.another()
    await other.close()
    await other.close()
    for call in (other.partitions(), other.changed(60.0), other.submit([NewJob("acme", spec(), "shop.example")])):
        with pytest.raises(StoreAway):
            await call


async def test_whoever_waits_for_a_change_is_let_go_when_the_store_is_closed(w: World) -> None:
    other = await w.another()
    known = await other.changed(0.2)
    waiting = asyncio.create_task(other.changed(300.0, since=known + 1_000))
    await asyncio.sleep(0)
    await other.close()
    await asyncio.wait_for(waiting, 60)
