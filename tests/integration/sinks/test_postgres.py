"""Records as rows of a real PostgreSQL table: made from the schema, written by key, through whatever breaks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from shoal.services.addresses import Reach
from shoal.services.sinks.postgres import PostgresTarget
from shoal.services.store.jobs.sink_records import SinkState
from tests.certificates import postgres_over_tls, private_authority
from tests.integration.sinks.relay import Relay, relay
from tests.sink_world import product, sink_world


@pytest.fixture
async def port(empty_postgres_url: str) -> AsyncIterator[Relay]:
    async with relay(parse_qs(urlsplit(empty_postgres_url).query)["host"][0] + "/.s.PGSQL.5432") as state:
        yield state


def of(url: str, port: Relay, *key: str, **more: Any) -> dict[str, Any]:
    place = {"host": "db.example", "port": port.port, "database": urlsplit(url).path[1:], "user": "postgres"}
    return {"postgres": {**place, "table": "products", "tls": False, "key": list(key), **more}}


def rows(url: str, query: str = "select * from products order by shoal_job, shoal_row") -> list[dict[str, Any]]:
    with psycopg.connect(url, row_factory=psycopg.rows.dict_row) as connection:
        return connection.execute(query).fetchall()


def types(url: str) -> dict[str, str]:
    query = "select column_name, data_type from information_schema.columns where table_name = 'products'"
    return {row["column_name"]: row["data_type"] for row in rows(url, query)}


async def test_the_table_is_made_from_the_schema_and_values_are_as_they_were(
    tmp_path: Path, empty_postgres_url: str, port: Relay
) -> None:
    async with sink_world(tmp_path) as w:
        password = w.secret("DB", "any-password", f"http://db.example:{port.port}")
        products = [product(0, price=0.1, stock=None), product(1, price=12345678901.123457), product(2, colour="red")]
        job = await w.job([of(empty_postgres_url, port, password=password)], products)
        await w.until(job, SinkState.DONE)
        kinds = types(empty_postgres_url)
        assert {
            name: kinds[name] for name in ("sku", "price", "stock", "new", "since", "tags", "seller", "colour")
        } == {
            "sku": "text",
            "price": "numeric",
            "stock": "bigint",
            "new": "boolean",
            "since": "date",
            "tags": "jsonb",
            "seller": "jsonb",
            "colour": "text",
        }
        first, second, third = rows(empty_postgres_url)
        assert (first["price"], second["price"]) == (Decimal("0.1"), Decimal("12345678901.123457"))
        assert (first["stock"], second["stock"], first["since"]) == (None, 1, date(2026, 11, 28))
        assert first["tags"] == ["a", "b"] and first["seller"] == {"name": "=1+1", "score": 4.5}
        assert (third["colour"], first["colour"], first["shoal_more"]) == ("red", None, None)
        assert (first["shoal_job"], first["shoal_row"]) == (f"j{job}", 0)
        assert first["shoal_url"] == "https://shop.example/p/1"


async def test_a_key_has_one_row_which_the_newest_job_wrote(
    tmp_path: Path, empty_postgres_url: str, port: Relay
) -> None:
    async with sink_world(tmp_path) as w:
        sink = of(empty_postgres_url, port, "sku")
        older = await w.job([sink], [product(1, price=1), product(2, price=1), product(3, price=1)])
        await w.until(older, SinkState.DONE)
        newer = await w.job([sink], [product(2, price=2), product(4, price=2)])
        await w.until(newer, SinkState.DONE)
        await w.gateway.store.sinks.again(older, 0)
        await w.until(older, SinkState.DONE)
        found = {row["sku"]: (int(row["price"]), row["shoal_job"]) for row in rows(empty_postgres_url)}
        assert found == {
            "A1": (1, f"j{older}"),
            "A2": (2, f"j{newer}"),
            "A3": (1, f"j{older}"),
            "A4": (2, f"j{newer}"),
        }


async def test_records_without_their_key_are_rows_of_their_own_however_often_they_are_written(
    tmp_path: Path, empty_postgres_url: str, port: Relay
) -> None:
    async with sink_world(tmp_path) as w:
        job = await w.job(
            [of(empty_postgres_url, port, "sku")], [product(1), product(2, sku=None), product(3, sku=None)]
        )
        for _ in range(2):
            await w.until(job, SinkState.DONE)
            assert [row["sku"] for row in rows(empty_postgres_url)] == ["A1", None, None]
            await w.gateway.store.sinks.again(job, 0)
        await w.until(job, SinkState.DONE)


@pytest.mark.parametrize("key", [(), ("sku",)])
async def test_connections_that_are_cut_in_the_middle_lose_and_double_no_row(
    tmp_path: Path, empty_postgres_url: str, port: Relay, key: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.services.sinks.writer.PAUSES_S", (0.01,) * 3)
    monkeypatch.setattr(PostgresTarget, "batch_records", 7)
    write, writes = PostgresTarget.write, list[int]()

    async def cut_now_and_then(self: PostgresTarget, batch: Any, progress: Any) -> None:
        writes.append(progress.batches)
        if len(writes) in (3, 6, 11):  # the batch is under way, and may or may not be there
            asyncio.get_running_loop().call_later(0.002, port.cut)
        await write(self, batch, progress)

    monkeypatch.setattr(PostgresTarget, "write", cut_now_and_then)
    async with sink_world(tmp_path) as w:
        job = await w.job([of(empty_postgres_url, port, *key)], [product(n) for n in range(100)])
        await w.until(job, SinkState.DONE)
        assert sorted(row["sku"] for row in rows(empty_postgres_url)) == sorted(f"A{n}" for n in range(100))
        assert port.opened >= 2


async def test_a_table_that_is_there_gets_what_it_lacks_and_keeps_its_types(
    tmp_path: Path, empty_postgres_url: str, port: Relay
) -> None:
    with psycopg.connect(empty_postgres_url, autocommit=True) as connection:
        connection.execute("create table products (sku varchar(20) primary key, price text, stock smallint, own int)")
        connection.execute("insert into products (sku, price, own) values ('A1', 'old', 7), ('B1', 'kept', 8)")
    async with sink_world(tmp_path) as w:
        job = await w.job([of(empty_postgres_url, port, "sku")], [product(1), product(2, stock=99_999)])
        await w.until(job, SinkState.DONE)
        found = {row["sku"]: row for row in rows(empty_postgres_url)}
        assert found["B1"]["price"] == "kept" and found["B1"]["shoal_job"] is None
        assert (found["A1"]["price"], found["A1"]["own"], found["A1"]["stock"]) == ("1.99", 7, 1)
        assert (found["A2"]["stock"], found["A2"]["shoal_more"]) == (None, {"stock": 99_999})


async def test_a_private_address_is_not_reached_where_egress_forbids_it(
    tmp_path: Path, empty_postgres_url: str, port: Relay
) -> None:
    async with sink_world(tmp_path, reach=Reach()) as w:
        sink = of(empty_postgres_url, port)
        answer = await w.gateway.client.post(
            "/v1/jobs", json={"url": "https://shop.example/", "goal": "look", "sinks": [sink]}
        )
        assert answer.status_code == 400 and answer.json()["errors"][0]["field"] == "sinks[0].postgres"
        w.gateway.names.table["db.example"] = ["93.184.216.34"]  # as it is while the job is handed in, and never later
        job = await w.job([sink], [product(1)])
        row = await w.until(job, SinkState.FAILED)
        assert "db.example is not allowed: the address is loopback" in row.error and port.opened == 0


async def test_a_password_goes_only_where_its_keeper_bound_it(
    tmp_path: Path, empty_postgres_url: str, port: Relay
) -> None:
    async with sink_world(tmp_path) as w:
        password = w.secret("DB", "the-password", "other.example")
        job = await w.job([of(empty_postgres_url, port, password=password)], [product(1)])
        row = await w.failing(job)
        assert "secret 'DB' is bound to https://other.example" in row.error and port.opened == 0
        assert "the-password" not in row.error


async def test_a_server_that_is_away_is_tried_again(
    tmp_path: Path, empty_postgres_url: str, port: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.services.sinks.writer.PAUSES_S", (0.01,) * 200)
    async with sink_world(tmp_path) as w:
        port.accepts = False
        job = await w.job([of(empty_postgres_url, port)], [product(1)])
        row = await w.failing(job)
        assert row.state is SinkState.WAITING and "products of" in row.error
        port.accepts = True
        await w.until(job, SinkState.DONE)
        assert len(rows(empty_postgres_url)) == 1


async def test_a_key_that_is_no_field_is_refused_with_its_place(
    tmp_path: Path, empty_postgres_url: str, port: Relay
) -> None:
    async with sink_world(tmp_path, writing=False) as w:
        spec = {
            "url": "https://shop.example/",
            "extract": {"schema": {"type": "object", "properties": {"a": {"type": "string"}}}},
        }
        answer = await w.gateway.client.post("/v1/jobs", json={**spec, "sinks": [of(empty_postgres_url, port, "sku")]})
        assert answer.json()["errors"] == [
            {"field": "sinks[0].postgres.key[0]", "reason": "'sku' is no field of the schema"}
        ]


def of_table(sink: dict[str, Any], table: str, **more: Any) -> dict[str, Any]:
    return {"postgres": {**sink, "table": table, **more}}


async def test_rows_go_over_tls_to_a_server_whose_certificate_a_trusted_private_authority_gave(
    tmp_path: Path, empty_postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other = private_authority(tmp_path / "own"), private_authority(tmp_path / "other")
    with postgres_over_tls(empty_postgres_url, own) as port:
        place = {"host": "localhost", "port": port, "database": urlsplit(empty_postgres_url).path[1:]}
        sink = {**place, "user": "postgres"}
        async with sink_world(tmp_path) as w:
            monkeypatch.setenv("SSL_CERT_FILE", str(other.certificate))
            refused = await w.failing(await w.job([of_table(sink, "refused")], [product(1)]))
            assert "certificate verify failed" in refused.error
            monkeypatch.setenv("SSL_CERT_FILE", str(own.certificate))
            await w.until(await w.job([of_table(sink, "products")], [product(2)]), SinkState.DONE)
            unnamed = await w.failing(await w.job([of_table(sink, "others", host="127.0.0.1")], [product(3)]))
            assert "certificate" in unnamed.error and "127.0.0.1" in unnamed.error, "it is for another name"
    assert [row["sku"] for row in rows(empty_postgres_url)] == ["A2"]
