"""The HTTP status of the open page is a guard, whatever led to the page."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler

import pytest

from shoal.agent.browser import Context
from shoal.agent.types import LoopItem
from shoal.agent.workflows.divergences import DivergenceReason
from shoal.agent.workflows.learning.compile_fields import compile_pages
from shoal.agent.workflows.learning.page_sample import sample_page
from shoal.agent.workflows.replay.pages import replay_page
from tests.loopback import served

pytestmark = pytest.mark.asyncio(loop_scope="session")
SCHEMA = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "pages": {"type": "integer"}},
    "required": ["title", "pages"],
}
PAGE = """<!doctype html><html lang=en><title>Book {n}</title><main><h1 class=title>Book {n}</h1>
<dl><dt>Title</dt><dd>Book {n}</dd><dt>Pages</dt><dd id=pages>{pages}</dd></dl></main>"""


class Books(BaseHTTPRequestHandler):
    """Book 9 is gone: its page says what it said before, and the status alone tells. Book 8 is in no order (203)."""

    def do_GET(self) -> None:
        n = int(self.path.rpartition("/")[2])
        body = PAGE.format(n=n, pages=100 + 7 * n).encode()
        self.send_response({9: 410, 8: 203}.get(n, 200))
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Says nothing."""


async def test_a_page_with_another_status_than_those_that_were_learned_from_is_a_miss(page: Context) -> None:
    with served(Books) as site:
        samples = []
        for n in (1, 2, 3):
            await page.goto(f"{site}/b/{n}")
            record = {"title": f"Book {n}", "pages": 100 + 7 * n}
            item = LoopItem(n, f"{site}/b/{n}", True, f"Book {n}")
            samples.append(await sample_page(page, record, SCHEMA, item))
        assert [sample.status for sample in samples] == [200, 200, 200]
        branches = compile_pages(samples, SCHEMA).branches
        assert branches and branches[0].signature.status == (200,)
        said = {}
        for n in (4, 8, 9):
            await page.goto(f"{site}/b/{n}")
            read = await replay_page(page, branches, LoopItem(n, f"{site}/b/{n}", True, f"Book {n}"), SCHEMA)
            said[n] = read.record.value if read.record is not None else read.misses[0].reason
        assert said == {4: {"title": "Book 4", "pages": 128}, 8: DivergenceReason.STATUS, 9: DivergenceReason.STATUS}
