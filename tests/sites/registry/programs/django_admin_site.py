"""Django's admin over a seeded library: python django_admin_site.py DATABASE PORT. It has its own environment."""

import random
import sys

import django
from django.contrib import admin
from django.core.management import call_command
from django.urls import path
from django_settings import configure

configure(__name__, sys.argv[1], "office")
django.setup()
urlpatterns = [path("admin/", admin.site.urls)]

TITLES = ("A Winter in", "The Road to", "Letters from", "Return to", "Maps of")
PLACES = ("Oslo", "Porto", "Lyon", "Graz", "Turku", "Cork")


def seed() -> None:
    """Four authors, 57 books and one person who may log in, the same at each run."""
    from django.contrib.auth.models import User
    from office.models import Author, Book

    chance = random.Random(18)
    User.objects.create_superuser("ada", "ada@office.example", "correct horse 7")
    authors = [Author.objects.create(name=name, born=1930 + 9 * n) for n, name in enumerate(
        ("Ines Keller", "Hugo Dahl", "Kaja Bello", "Jonas Ferrari"))]  # fmt: skip
    for n in range(1, 58):
        Book.objects.create(
            title=f"{chance.choice(TITLES)} {chance.choice(PLACES)} {n}",
            author=chance.choice(authors),
            isbn=f"{9780000000000 + n * 37}",
            pages=chance.randrange(80, 600),
            price=f"{chance.randrange(500, 4900) / 100:.2f}",
            available=chance.random() < 0.6,
            summary=f"{chance.choice(('A quiet', 'A long', 'An odd'))} journey.",
        )


if __name__ == "__main__":
    call_command("migrate", run_syncdb=True, verbosity=0)
    seed()
    call_command("runserver", f"127.0.0.1:{sys.argv[2]}", use_reloader=False, verbosity=0)
