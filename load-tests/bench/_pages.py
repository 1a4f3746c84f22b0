"""The pages that observations are measured on, served from a thread of the benchmark's own process."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit

from _site import loopback, products

DOCS = (Path("/usr/share/doc/python3-doc/html"), Path("/usr/share/doc/python3/html"))
SITES = Path(__file__).resolve().parents[2] / "tests" / "sites"
MINIWOB = (
    *("click-test-2", "click-checkboxes", "click-tab-2", "choose-date", "email-inbox", "social-media"),
    *("use-autocomplete", "book-flight", "search-engine", "drag-items"),
)
_KINDS = {".css": "text/css", ".js": "text/javascript", ".png": "image/png", ".svg": "image/svg+xml"}

# MiniWoB++ shows a task only once it was started; the same seed gives the same task on both sides.
START_MINIWOB = "Math.seedrandom(7); core.EPISODE_MAX_TIME = 1e7; core.startEpisodeReal()"


@dataclass(frozen=True)
class BenchPage:
    """One page to look at."""

    name: str
    url: str
    script: str = ""  # run in the page's own world once it is loaded
    big: bool = False  # looked at less often


def table_page(rows: int) -> str:
    cells = "".join(
        f"<tr><td>{i}<td><a href=/r/{i}>Row {i}</a><td>text {i}<td><button>Edit {i}</button></tr>" for i in range(rows)
    )
    return f"<!doctype html><title>Table</title><table>{cells}</table>"


def index_page(entries: int) -> str:
    items = "".join(f"<li>word {i}<ul><li><a href='lib.html#{i}'>entry {i}</a></ul>" for i in range(entries))
    return f"<!doctype html><title>Index</title><ul>{items}</ul>"


def controls_page() -> str:
    """A thousand planted controls, 150 of them divs that only listen, and 110 traps that nobody can see."""
    parts = []
    for i in range(1000):
        if i % 20 in (3, 7, 11):
            parts.append(f"<div class=listens>Div {i}</div>")
        elif i % 4 == 0:
            parts.append(f"<label for=f{i}>Field {i}</label><input id=f{i}>")
        else:
            parts.append(f"<button>Button {i}</button>" if i % 4 == 1 else f"<a href=#{i}>Link {i}</a>")
    traps = "".join(
        f"<button style='{style}'>Trap {i}</button>" for i in range(55) for style in ("display:none", "opacity:0")
    )
    script = (
        "<script>document.querySelectorAll('.listens').forEach(d => d.addEventListener('click', () => {}))</script>"
    )
    style = "<style>button, a, .listens { display: inline-block; margin: 4px }</style>"
    return f"<!doctype html><title>Controls</title>{style}{''.join(parts)}{traps}{script}"


PLANTED = 1000


def nested_page(other: str) -> str:
    """Frames of this and of another site, and shadow roots of both kinds, with buttons in all of them."""
    inner = "<button>In frame</button><a href='#1'>Link in frame</a><p>text</p>"
    outer = "<p>outer</p><iframe width=300 height=100 srcdoc='<button>Deep</button>'></iframe>"
    return f"""<!doctype html><title>Nested</title><h1>Frames and roots</h1><button>Outside</button>
      <iframe width=400 height=120 srcdoc="{inner}"></iframe>
      <iframe width=400 height=220 srcdoc="{outer}"></iframe>
      <iframe width=400 height=120 src="{other}/small"></iframe>
      <x-open></x-open><x-closed></x-closed>
      <script>
        for (const mode of ['open', 'closed']) customElements.define('x-' + mode, class extends HTMLElement {{
          constructor() {{ super(); this.attachShadow({{ mode }}).innerHTML = '<button>In ' + mode + '</button>'; }}
        }});
      </script>"""


@contextmanager
def served(*, quick: bool) -> Iterator[str]:
    """The address under which the made pages, the Python documentation, MiniWoB++ and tests/sites can be had."""
    made = {
        "/table": table_page(1000 if quick else 5000),
        "/index": index_page(3000 if quick else 17_000),
        "/controls": controls_page(),
        "/small": "<!doctype html><title>Small</title><button>In another site's frame</button>",
    }
    with loopback.served(_handler(made)) as url:
        made["/nested"] = nested_page(url.replace("127.0.0.1", "localhost"))
        yield url


def _handler(made: Mapping[str, str]) -> type[BaseHTTPRequestHandler]:
    folders = {"/docs/": docs_folder(), "/miniwob/": miniwob_folder(), "/sites/": SITES}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            kind, body = "text/html; charset=utf-8", made.get(path, "").encode()
            for prefix, folder in folders.items():
                if folder is not None and path.startswith(prefix):
                    file = folder / path.removeprefix(prefix)
                    kind, body = _KINDS.get(file.suffix, kind), file.read_bytes() if file.is_file() else b""
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def docs_folder() -> Path | None:
    """Return where Debian's python3-doc put its pages; None where it is not installed."""
    return next((folder.resolve() for folder in DOCS if (folder / "genindex-all.html").exists()), None)


def miniwob_folder() -> Path | None:
    """The pages of the package miniwob; None where it is not installed."""
    found = importlib.util.find_spec("miniwob")
    return Path(found.origin).parent / "html" if found is not None and found.origin else None


def shop_pages(shop: str) -> list[BenchPage]:
    """A product, a list of products, and the longest form of the demo shop."""
    return [
        BenchPage("product", products(shop)[0]),
        BenchPage("catalogue", f"{shop}/all"),
        BenchPage("quote form", f"{shop}/quote"),
    ]


def bench_pages(shop: str, made: str, *, quick: bool) -> list[BenchPage]:
    """Everything that is looked at; what is not installed here is left out."""
    pages = [
        *shop_pages(shop),
        BenchPage("nested", f"{made}/nested"),
        BenchPage("controls", f"{made}/controls"),
        BenchPage("table", f"{made}/table", big=True),
        BenchPage("index", f"{made}/index", big=True),
    ]
    if docs_folder() is not None:
        pages.append(BenchPage("docs os", f"{made}/docs/library/os.html", big=True))
        if not quick:
            pages.append(BenchPage("docs genindex", f"{made}/docs/genindex-all.html", big=True))
    if miniwob_folder() is not None:
        tasks = MINIWOB[:2] if quick else MINIWOB
        pages += [BenchPage(f"wob {task}", f"{made}/miniwob/miniwob/{task}.html", START_MINIWOB) for task in tasks]
    return pages
