"""Small files that unpack to very much: reading one as a sitemap costs neither memory nor much time."""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from shoal.agent.documents.sitemaps.listing import NoSitemap, listed_in

MIB = 1 << 20
MANY = b"<x/>" * 2_100_000
ELEMENTS = b"<urlset>" + MANY
BOMBS: Mapping[str, Callable[[], bytes]] = {
    "elements": lambda: ELEMENTS,
    "children of an entry": lambda: b"<urlset><url>" + MANY,
    "nested": lambda: b"<urlset>" + b"<x>" * (8 * MIB),
    "names": lambda: b"<urlset>" + b"".join(b"<x%d/>" % n for n in range(300_000)),
    "attributes": lambda: b"<urlset><x " + b"".join(b"a%d='' " % n for n in range(300_000)),
    "a long address": lambda: b"<urlset><url><loc>" + b"x" * (40 * MIB) + b"</loc></url></urlset>",
    "a comment": lambda: b"<urlset><!--" + b"x" * (40 * MIB),
    "spaces": lambda: b" " * (49 * MIB),
    "a line": lambda: b"https://shop.example/" + b"x" * (40 * MIB),
    "entries": lambda: b"<urlset>" + b"<url><loc>/a</loc></url>" * (2 * MIB),
    "bytes": lambda: b"<urlset>" + b" " * (60 * MIB),
    "many files": lambda: b"",
    "namespaces": lambda: (
        b"<urlset xmlns='" + b"u" * (128 * 1024) + b"'>" + b"".join(b"<x%d a%d=''/>" % (n, n) for n in range(9_000))
    ),
}
"""Made when their test runs: together they are 300 MiB."""
SAID = {
    "elements": "more than 2,000,000 elements",
    "children of an entry": "more than 2,000,000 elements",
    "nested": "nested deeper than 16",
    "names": "more than 1,000 names",
    "attributes": "a tag or a comment of more than",
    "a long address": "an address has more than 2,048 characters",
    "a comment": "a tag or a comment of more than",
    "spaces": "neither XML nor a list",
    "a line": "a line of more than",
    "entries": "more than 50,000 entries",
    "bytes": "longer than 52,428,800 bytes",
    "many files": "neither XML nor a list",
    "namespaces": "more than 1,000 names",
}
MEASURED = """
import json, resource, sys, time
from pathlib import Path
from shoal.agent.documents.sitemaps.listing import NoSitemap, listed_in

body = Path(sys.argv[1]).read_bytes()
usage = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before, began = usage(), time.process_time()
try:
    said = listed_in(body, "https://shop.example/sitemap.xml.gz").cut
except NoSitemap as error:
    said = str(error)
print(json.dumps([said, time.process_time() - began, (usage() - before) / 1024]))
"""


@pytest.mark.parametrize("name", BOMBS)
def test_what_a_small_file_unpacks_to_is_bounded(name: str, tmp_path: Path) -> None:
    body = BOMBS[name]()
    packed = gzip.compress(body, 1) if body else gzip.compress(b" ") * 400_000
    path = tmp_path / "sitemap.xml.gz"
    path.write_bytes(packed)
    told = subprocess.run([sys.executable, "-c", MEASURED, str(path)], capture_output=True, check=True, timeout=300)
    said, cpu_s, mib = json.loads(told.stdout)
    assert SAID[name] in said
    assert (cpu_s < 20.0, mib < 64.0) == (True, True), (name, len(packed), said, cpu_s, mib)


async def test_an_event_loop_goes_on_while_a_sitemap_is_read() -> None:
    packed = gzip.compress(ELEMENTS, 1)
    turns = 0

    async def take_turns() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.01)
            turns += 1

    taking = asyncio.create_task(take_turns())
    with pytest.raises(NoSitemap, match="elements"):
        await asyncio.to_thread(listed_in, packed, "https://shop.example/sitemap.xml.gz")
    taking.cancel()
    assert turns > 10, "of some seconds"
