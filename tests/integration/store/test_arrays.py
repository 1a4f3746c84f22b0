"""Parameters that hold many values, as PostgreSQL reads them."""

from __future__ import annotations

import psycopg
import pytest

from shoal.services.store.database.codec import dump_array


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([], "bigint"),
        ([0, -1, 2**62], "bigint"),
        ([0.1, 1e300, -2.0], "double precision"),
        ([], "text"),
        (["plain", "", "null", "NULL", "a,b", "{x}", 'q"q', "back\\slash", "new\nline", " space ", "ü✓"], "text"),
    ],
)
async def test_an_array_is_read_as_it_was_given(postgres_url: str, values: list[float | str], kind: str) -> None:
    async with await psycopg.AsyncConnection.connect(postgres_url) as conn:
        rows = await conn.execute(f"select cast(%s as {kind}[])", [dump_array(values)])
        assert await rows.fetchone() == (values,)
