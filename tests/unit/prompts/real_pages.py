"""Ten real pages as prompts show them: `python -m tests.unit.prompts.real_pages` reads them anew, by a browser.

The pages are of packages from registries: manuals from Debian, applications and tasks from PyPI. Each is kept as an
observation, cut to a few lines, so that a change of what prompts say is seen on them without a browser.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from shoal.agent.browser import ObserveOptions
from shoal.agent.errors import ModelUnavailable
from shoal.agent.models.model import Ask
from shoal.agent.observe.rebuild import rebuilt
from shoal.agent.policies.model import ModelPolicy, ModelPolicyOptions
from shoal.agent.policies.policy import SessionState
from shoal.agent.spec import JobSpec
from shoal.agent.types import Element, Observation
from tests.doubles import ScriptedModel
from tests.unit.agent.model.pages import FakePage

FOLDER = Path(__file__).parent / "pages"
SNAPSHOTS = Path(__file__).parent / "snapshots"
_OBSERVATION = TypeAdapter(Observation)
_CHARS = 1_500
_SCHEMA = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string"}, "city": {"type": ["string", "null"]}},
}


@dataclass(frozen=True)
class RealPage:
    """One page, and the decision that a model is asked for on it."""

    name: str
    site: str  # which of `sites` has it
    path: str
    decision: str  # plan, step or extract
    goal: str
    package: str  # what it is of, in words
    more: Mapping[str, Any] = field(default_factory=dict)  # further fields of the job


PAGES = (
    RealPage(
        *("manual-index", "python", "/library/persistence.html", "plan"),
        *("In which version of Python was dbm.sqlite3 added?", "Debian's manual of Python"),
    ),
    RealPage(
        *("manual-module", "python", "/library/shelve.html", "plan"),
        *("What does shelve.open return?", "Debian's manual of Python"),
    ),
    RealPage(
        *("git-manual", "git", "/git-rerere.html", "plan"),
        *("Which option of git rerere forgets a resolution?", "Debian's manual of Git"),
    ),
    RealPage(
        *("admin-list", "admin", "/admin/supplier/", "extract"),
        *("Read the suppliers", "Flask-Admin, from PyPI"),
        {"extract": {"schema": {"type": "array", "items": _SCHEMA}}},
    ),
    RealPage(
        *("admin-form", "admin", "/admin/supplier/new/", "step"),
        *("Add the supplier", "Flask-Admin, from PyPI"),
        {"data": {"name": "Estrada", "city": "Rome"}},
    ),
    RealPage(
        *("admin-details", "admin", "/admin/product/details/?id=5", "extract"),
        *("Read the product", "Flask-Admin, from PyPI"),
        {"extract": {"schema": _SCHEMA}},
    ),
    RealPage(
        *("data-table", "data", "/city/city", "plan"),
        *("How many people live in these cities in all?", "Datasette, from PyPI"),
    ),
    RealPage(*("data-row", "data", "/city/city/2", "plan"), *("Open the table of this row", "Datasette, from PyPI")),
    RealPage(
        *("task-login", "wob", "/miniwob/login-user.html", "step"),
        *("Do what the yellow field at the top of the page says", "MiniWoB++, from PyPI"),
    ),
    RealPage(
        *("task-calendar", "wob", "/miniwob/choose-date.html", "step"),
        *("Do what the yellow field at the top of the page says", "MiniWoB++, from PyPI"),
    ),
)


def load(name: str) -> Observation:
    """The page as it was observed."""
    return _OBSERVATION.validate_json((FOLDER / f"{name}.json").read_bytes())


async def request_on(page: RealPage) -> Ask:
    """Return what a model is asked on the page."""
    seen = load(page.name)
    model = ScriptedModel([])
    policy = ModelPolicy(model, None, options=ModelPolicyOptions(images=False))  # type: ignore[arg-type]
    spec = JobSpec.model_validate({"url": seen.url, "goal": page.goal, **page.more})
    shown: Any = FakePage({seen.url: seen}, at=seen.url)
    state = SessionState(spec=spec, loop=None, item=None, page=shown)
    ask = {"plan": policy.plan(state), "step": policy.step(state, page.goal, ()), "extract": policy.extract(state)}
    for name, decision in ask.items():
        if name != page.decision:
            decision.close()
    with contextlib.suppress(ModelUnavailable):  # the script has no answer: what was asked is all that is wanted
        await ask[page.decision]
    return model.asked[0]


def rendered(page: RealPage) -> str:
    """The messages of the prompt but for the first, which all prompts share; without the time."""
    ask = asyncio.run(request_on(page))
    text = "\n\n".join(message.text for message in ask.messages[1:])
    return "\n".join(line for line in text.splitlines() if not line.startswith("Date and time: ")) + "\n"


# --- reading them anew --------------------------------------------------------------------------------------


@contextmanager
def sites() -> Iterator[Mapping[str, str]]:
    """The addresses of the sites, while they are served."""
    from tests.sites.registry import cache, flask_admin, serving, sphinx

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="shoal-pages-")))
        database = sqlite3.connect(folder / "city.db")
        database.executescript(
            "create table city (id integer primary key, name text, country text, people integer);"
            "insert into city values (1, 'Ulm', 'Germany', 128000), (2, 'Graz', 'Austria', 302000);"
        )
        database.close()
        ports = serving.free_port(), serving.free_port()
        admin = [str(cache.pypi("flask-admin", flask_admin._PACKAGES)), str(flask_admin._PROGRAM)]
        datasette = cache.pypi("datasette", ("datasette==0.65.1", "setuptools==80.9.0"))
        data = [str(datasette), "-m", "datasette", "serve", str(folder / "city.db")]
        git = next(cache.debian("git-doc").glob("usr/share/doc/git/html"))
        import miniwob

        wob = Path(miniwob.__file__).parent / "html"
        yield {
            "python": stack.enter_context(serving.folder(sphinx._pages())),
            "git": stack.enter_context(serving.folder(git)),
            "wob": stack.enter_context(serving.folder(wob)),
            "admin": stack.enter_context(
                serving.program([*admin, str(folder / "shop.db"), str(ports[0])], ports[0], cwd=folder, path="/admin/")
            ),
            "data": stack.enter_context(serving.program([*data, "--port", str(ports[1])], ports[1], cwd=folder)),
        }


_BEGIN = "document.querySelector('#sync-task-cover')?.click()"
"""The script that begins a task of MiniWoB++."""


async def read_anew() -> None:
    """Writes each page as a browser shows it now."""
    from shoal.agent.chromium.process.launch import launch

    FOLDER.mkdir(exist_ok=True)
    browser = await launch()
    try:
        with sites() as at:
            for page in PAGES:
                context = await browser.new_context()
                await context.goto(at[page.site] + page.path)
                if page.site == "wob":
                    await context.read(f"() => {{ {_BEGIN} }}")
                await context.settle()
                seen = await context.observe(ObserveOptions(max_chars=_CHARS))
                await context.close()
                kept = _OBSERVATION.dump_json(_bare(seen), exclude_defaults=True, indent=1)
                (FOLDER / f"{page.name}.json").write_bytes(kept)
    finally:
        await browser.close()


def _bare(seen: Observation) -> Observation:
    """The observation without places and times, under an address that does not change."""
    parts = urlsplit(seen.url)
    host = f"{parts.scheme}://{parts.netloc}"

    def bare(one: Element, children: tuple[Element, ...]) -> Element:
        kept = {name: value.replace(host, "http://site.example") for name, value in one.attributes.items()}
        return replace(one, box=None, attributes=kept, children=children)

    url = seen.url.replace(host, "http://site.example")
    tabs = tuple(replace(tab, url=tab.url.replace(host, "http://site.example")) for tab in seen.tabs)
    return replace(seen, url=url, tabs=tabs, elements=rebuilt(seen.elements, bare), elapsed_s=0.0, console_errors=())


def write_snapshots() -> None:
    """Writes the prompts of the pages anew."""
    for page in PAGES:
        (SNAPSHOTS / f"page-{page.name}.txt").write_text(rendered(page), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(read_anew())
    write_snapshots()
