"""Wagtail: the pages of a site, edited behind a login."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from _solver import Move, Task, all_of, click, fill, quoted

from apps.asking import job
from shoal.agent.support.json_value import Json
from tests.sites.registry import cache
from tests.sites.registry import serving as sites

_MODELS = """from django.db import models
from wagtail.admin.panels import FieldPanel
from wagtail.fields import RichTextField
from wagtail.models import Page

class HomePage(Page):
    body = RichTextField(blank=True)
    opens = models.DateField(null=True, blank=True)
    content_panels = Page.content_panels + [FieldPanel("opens"), FieldPanel("body")]
"""
_PATIENT = """from .base import DATABASES
DATABASES["default"]["OPTIONS"] = {"timeout": 30, "transaction_mode": "IMMEDIATE"}
"""
USER, PASSWORD = "ada", "plum-tree-7"
_SEED = f"""
from django.contrib.auth.models import User
from home.models import HomePage
User.objects.create_superuser({USER!r}, "ada@club.example", {PASSWORD!r})
home = HomePage.objects.get()
for title, body in (("Garden", "Plums and pears."), ("Kitchen", "Soup at noon."), ("Cellar", "Closed.")):
    home.add_child(instance=HomePage(title=title, body="<p>" + body + "</p>"))
"""


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, Path]]:
    """A site of four pages, and its database."""
    python = cache.pypi("wagtail", ["wagtail==8.0.1"])

    def make(site: Path) -> None:
        sites.run(python.with_name("wagtail"), "start", "club", site)
        (site / "home" / "models.py").write_text(_MODELS, encoding="utf-8")
        (site / "club" / "settings" / "local.py").write_text(_PATIENT, encoding="utf-8")
        for command in (["makemigrations", "home"], ["migrate"], ["shell", "-c", _SEED]):
            sites.run(python, "manage.py", *command, cwd=site, limit_s=300)

    site = folder / "site"
    shutil.copytree(cache.made("made-wagtail-8.0.1", make), site)
    port = sites.free_port()
    command = [str(python), "manage.py", "runserver", "--noreload", f"127.0.0.1:{port}"]
    with sites.program(command, port, cwd=site, path="/admin/login/") as url:
        yield url, site / "db.sqlite3"


def tasks(url: str, database: Path) -> list[Task]:
    """Pages are made, changed, put aside and counted."""

    def page(title: str) -> tuple[int, ...] | None:
        """Return two numbers of a page of this title: is it live, and has it changes that are not?"""
        query = "select live, has_unpublished_changes from wagtailcore_page where draft_title = ?"
        with closing(sqlite3.connect(database)) as connection:
            return connection.execute(query, (title,)).fetchone()

    def spec(path: str, goal: str, name: str, **data: Json) -> dict[str, Json]:
        who: dict[str, Json] = {"username": USER, "password": PASSWORD}
        return job(f"{url}/admin/{path}", goal, name, data={**who, **data})

    login = Move(
        'textbox "Password',
        all_of(fill("textbox", "Username", USER), fill("textbox", "Password", PASSWORD), click("button", "Sign in")),
        last=False,
    )
    save = all_of(fill("textbox", "Opens", "2027-03-01"), click("button", "^Save draft$"))
    publish = all_of(click("button", "^Publish$"))
    return [
        Task(
            "wagtail create",
            spec("pages/add/home/homepage/3/", "Publish a page with this title", "wagtail create", title="Orchard"),
            over="Page 'Orchard' .*published",  # "created and", or "has been" once a draft saved itself
            moves=(
                login,
                Move('="Orchard"[\\s\\S]*button "Publish"', publish, {"text": "Page 'Orchard'"}),
                Move("", all_of(fill("textbox", "Title", "Orchard"), click("button", "More actions")), last=False),
            ),
            right=lambda told: page("Orchard") == (1, 0),
            perfect=3,
        ),
        Task(
            "wagtail date",
            spec(
                "pages/4/edit/",
                "Garden opens on this day: save a draft",
                "wagtail date",
                opens="2027-03-01",
            ),
            over="has been updated",
            moves=(
                login,
                Move("", save, {"text": "has been updated"}),
            ),
            right=lambda told: page("Garden") == (1, 1),
            perfect=2,
        ),
        Task(
            "wagtail unpublish",
            spec("pages/5/unpublish/", "Unpublish the kitchen's page", "wagtail unpublish"),
            over="unpublished",
            moves=(login, Move("", all_of(click("button", "Yes, unpublish")), {"text": "unpublished"})),
            right=lambda told: page("Kitchen") == (0, 1),
            perfect=2,
        ),
        Task(
            "wagtail search",
            spec("pages/3/", "What is the status of the page Cellar?", "wagtail search"),
            over="Cellar",
            moves=(login,),
            answer=quoted("(?i)cellar[\\s\\S]{0,400}?(live|draft)"),
            right=lambda told: "live" in told["answer"].lower(),
            perfect=2,
        ),
    ]
