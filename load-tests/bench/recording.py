"""The cost of the recording of a page to the page: the same visits with and without, in turns.

A visit opens the page, waits until it has been quiet for 0.3 s, observes it and hovers over an element, in a context of
its own. Wall time is that of the visit, less the 0.3 s; processor time is that of the browser and all below it. The
context's own making and end, and the cleaning of the recording, are counted by themselves: they are no page's time.

Pages: an entry of the demo shop; a table of 4,000 cells; one whose script changes 20 cells of it, 30 times a second.

    python load-tests/bench/recording.py [--rounds 15] [--quick] [--json]
"""

from __future__ import annotations

import asyncio
import time
from http.server import BaseHTTPRequestHandler

import psutil
from _report import Report, Target, arguments
from _site import demo_site, loopback, products

from shoal.agent.browser import Browser, ContextOptions
from shoal.agent.chromium.process.launch import launch
from shoal.agent.sessions.traces.recording import redacted_recording
from shoal.agent.types import Action

QUIET_S = 0.3
BUSY_S = 1.0
ROWS = [[f"<td class=c{n % 9}>cell {n} of {row}</td>" for n in range(40)] for row in range(100)]
TABLE = "".join(f"<tr>{''.join(cells)}</tr>" for cells in ROWS)
STYLE = "<style>td { padding: 2px; border: 1px solid #ccc } .c1 { color: teal } .c2 { font-weight: bold }</style>"
PAGES = {
    "/table": f"<!doctype html><title>Table</title>{STYLE}<h1>Table</h1><table>{TABLE}</table>",
    "/changing": f"""<!doctype html><title>Changing</title>{STYLE}<h1>Changing</h1><table>{TABLE}</table><script>
let n = 0; const cells = document.querySelectorAll('td');
const turn = () => {{ for (let i = 0; i < 20; i++) cells[(n * 20 + i) % cells.length].textContent = 'now ' + n;
  if (++n < {round(BUSY_S * 30)}) setTimeout(turn, 33); else document.title = 'done'; }};
turn();</script>""",
}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = PAGES.get(self.path, "").encode()
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


def used_s(pids: tuple[int, ...]) -> float:
    """Processor time of these processes so far."""
    total = 0.0
    for pid in pids:
        try:
            times = psutil.Process(pid).cpu_times()
            total += times.user + times.system
        except psutil.NoSuchProcess:
            continue
    return total


async def visit(browser: Browser, url: str, *, recording: bool) -> tuple[float, float, float]:
    """Wall and processor seconds of the page, and the wall seconds of its recording's end."""
    context = await browser.new_context(ContextOptions(recording=recording))
    try:
        await context.goto("about:blank")
        pids = (await browser.health()).pids
        before, began = used_s(pids), time.perf_counter()
        await context.goto(url)
        await context.settle(quiet_s=QUIET_S, budget_s=10)
        await context.observe()
        (bid,) = await context.locate(["h1"])
        await context.act(Action("hover", {"bid": bid}))
        wall, pids = time.perf_counter() - began - QUIET_S, (await browser.health()).pids
        cpu, ends = used_s(pids) - before, time.perf_counter()
        raw = await context.end_recording()
        if raw is not None:
            assert redacted_recording(raw, lambda text: text) is not None
        return wall, cpu, time.perf_counter() - ends
    finally:
        await context.close()


async def measure(report: Report, rounds: int) -> None:
    with demo_site() as shop, loopback.served(Handler) as own:
        pages = {"shop": products(shop)[0], "table": f"{own}/table", "changing": f"{own}/changing"}
        browser = await launch()
        try:
            for name, url in pages.items():
                for number in range(rounds + 1):
                    turns = (False, True) if number % 2 else (True, False)
                    seen = {recording: await visit(browser, url, recording=recording) for recording in turns}
                    if not number:
                        continue  # the first round warms the browser up
                    (plain, plain_cpu, _), (recorded, recorded_cpu, end) = seen[False], seen[True]
                    report.add(f"{name}: ms without", plain * 1000)
                    report.add(f"{name}: ms with", recorded * 1000)
                    report.add(f"{name}: CPU ms without", plain_cpu * 1000)
                    report.add(f"{name}: CPU ms with", recorded_cpu * 1000)
                    report.add(f"{name}: ms to end and clean it", end * 1000)
                for unit in ("ms", "CPU ms"):
                    ratio = report.median(f"{name}: {unit} with") / report.median(f"{name}: {unit} without")
                    report.add(f"{name}: {unit}, with / without", ratio)
        finally:
            await browser.close()


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    targets = {f"{name}: ms, with / without": Target(1.1, at_least=False) for name in ("shop", "table", "changing")}
    report = Report("recording", targets)
    asyncio.run(measure(report, 3 if options.quick else options.rounds))
    report.show(as_json=options.json)


if __name__ == "__main__":
    main()
