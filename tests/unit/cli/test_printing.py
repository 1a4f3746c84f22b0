"""Lines in item order, each once, as early as the order allows."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from typing_extensions import Buffer

from shoal.api import Api
from shoal.services.cli.printing import OrderedLines
from tests.gateway_world import World, completed, loop_of, world

VALUES = [str(number) for number in range(7)]


def printed(out: io.BytesIO) -> list[int]:
    return [json.loads(line)["item"]["index"] for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("page", [1, 2, 3, 500])
async def test_lines_are_written_up_to_the_first_gap(monkeypatch: pytest.MonkeyPatch, page: int) -> None:
    monkeypatch.setattr("shoal.ready.PAGE", page)
    async with world() as here:
        job = await here.submit(loop={"values": VALUES})
        items = await started(here)
        client = Api("http://127.0.0.1:8700", transport=here.client._transport)
        out = io.BytesIO()
        lines = OrderedLines(client, job, out)

        async def end(*indexes: int) -> list[int]:
            wanted = [work for work in items if work.item and work.item.index in indexes]
            await here.finish(wanted, lambda work: completed({"n": 1}, {"n": 2}))
            await lines.write_ready()
            return printed(out)

        assert await end(1, 3) == []
        assert await end(0) == [0, 0, 1, 1]
        assert await end(5) == [0, 0, 1, 1]
        assert await end(2) == [0, 0, 1, 1, 2, 2, 3, 3]
        await lines.write_rest()
        assert printed(out) == [0, 0, 1, 1, 2, 2, 3, 3, 5, 5]
        assert lines.lines == 10


async def started(here: World) -> list:
    (root,) = await here.claim()
    await here.finish([root], loop_of(VALUES, lambda work: completed()))
    return await here.claim()


async def test_nested_loops_are_written_at_the_end() -> None:
    async with world() as here:
        job = await here.submit()
        await here.run(lambda work: completed({"n": 1}))
        out = io.BytesIO()
        lines = OrderedLines(Api("http://127.0.0.1:8700", transport=here.client._transport), job, out, early=False)
        await lines.write_ready()
        assert out.getvalue() == b""
        await lines.write_rest()
        assert len(out.getvalue().splitlines()) == 1


async def test_a_file_has_each_line_before_the_next_is_written(tmp_path: Path) -> None:
    class Watched(io.BufferedWriter):
        def write(self, line: Buffer, /) -> int:
            seen.append((tmp_path / "lines").read_bytes().count(b"\n"))
            return super().write(line)

    seen: list[int] = []
    async with world() as here:
        await here.submit()
        await here.run(lambda work: completed({"n": 1}, {"n": 2}, {"n": 3}))
        with Watched(io.FileIO(tmp_path / "lines", "w")) as out:
            await OrderedLines(Api("http://127.0.0.1:8700", transport=here.client._transport), "j1", out).write_rest()
    assert seen == [0, 1, 2]
