"""Items that are rows and no links: read in their row, on whichever page of the list it stood."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from shoal.agent.browser import Browser
from shoal.agent.chromium.process.launch import launch
from shoal.agent.policies.policy import Policy
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from tests.cluster_world import world
from tests.loopback import served
from tests.worker_world import FakeParts

PARTS = [(f"Part {n:02}", f"P-{100 + n}", float(n) + 0.5) for n in range(1, 8)]
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "sku": {"type": "string"}, "price": {"type": "number"}},
    "required": ["name", "price"],
}
HEAD = "<thead><tr><th>Name</th><th>SKU</th><th>Price</th></tr></thead>"


class RealParts(FakeParts):
    """Workers with a real Chromium and the rules."""

    async def _launch(self) -> Browser:  # type: ignore[override]
        return await launch()

    def policy(self, spec: JobSpec, *, leaf: bool = True) -> Policy:
        return RulesPolicy()


def page(body: str) -> str:
    return f'<!doctype html><html lang="en"><head><title>Parts</title></head><body><h1>Parts</h1>{body}</body></html>'


def rows(parts: list[tuple[str, str, float]]) -> str:
    return "".join(f"<tr><td>{name}</td><td>{sku}</td><td>€ {price:.2f}</td></tr>" for name, sku, price in parts)


def linked(number: int) -> str:
    following = f'<a href="?page={number + 1}">Next</a>' if number < 3 else ""
    part = PARTS[3 * number - 3 : 3 * number]
    return page(f"<table>{HEAD}<tbody>{rows(part)}</tbody></table><nav>{following}</nav>")


SCRIPTED = """
<table>%s<tbody id=list></tbody></table><nav><button id=next>Next</button></nav>
<script>
const parts = %s; let at = 0;
const draw = () => {
  const row = ([n, s, p]) => `<tr><td>${n}</td><td>${s}</td><td>€ ${p.toFixed(2)}</td></tr>`;
  document.getElementById('list').innerHTML = parts.slice(at, at + 3).map(row).join('');
  document.getElementById('next').disabled = at + 3 >= parts.length;
};
document.getElementById('next').onclick = () => { at += 3; setTimeout(draw, 100); };
draw();
</script>
"""
OPENING = """
<table>%s<tbody id=list></tbody></table>
<script>
for (const [n, s, p] of %s) {
  const row = document.createElement('tr');
  row.innerHTML = `<td>${n}</td><td>${s}</td>`;
  row.style.cursor = 'pointer';
  row.onclick = () => { location.href = '/part?name=' + encodeURIComponent(n); };
  document.getElementById('list').append(row);
}
</script>
"""


def detail(name: str) -> str:
    _, sku, price = next(part for part in PARTS if part[0] == name)
    return page(f"<dl><dt>Name</dt><dd>{name}</dd><dt>SKU</dt><dd>{sku}</dd><dt>Price</dt><dd>€ {price:.2f}</dd></dl>")


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = parse_qs(parts.query)
        data = str([list(part) for part in PARTS])
        pages = {
            "/linked": lambda: linked(int(query.get("page", ["1"])[0])),
            "/scripted": lambda: page(SCRIPTED % (HEAD, data)),
            "/opening": lambda: page(OPENING % ("<thead><tr><th>Name</th><th>SKU</th></tr></thead>", data)),
            "/part": lambda: detail(query["name"][0]),
        }
        body = pages.get(parts.path, lambda: "<h1>Not here</h1>")().encode()
        self.send_response(200 if parts.path in pages else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


@pytest.mark.timeout(240)
@pytest.mark.parametrize("path", ["/linked", "/scripted", "/opening"])
async def test_each_row_of_a_list_is_read_wherever_it_stood(path: str) -> None:
    with served(_Handler) as url:
        async with world({}, parts=RealParts, slots=2) as here:
            loop: dict[str, Any] = {"from": {"select": "tbody tr"}}
            job = await here.submit(url=url + path, extract={"schema": SCHEMA}, loop=loop)
            row = await here.until(job, lambda row: row.finished_at is not None)
            lines = await here.store.results(job)
    told = [(line.record.value if line.record else line.error and line.error.message) for line in lines]
    assert told == [{"name": name, "sku": sku, "price": price} for name, sku, price in PARTS]
    assert (row.status, row.is_partial) == (Status.COMPLETED, False)
