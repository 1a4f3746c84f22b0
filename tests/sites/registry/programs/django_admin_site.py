"""Django's admin over a seeded library: python django_admin_site.py DATABASE PORT. It has its own environment."""

import random
import sys
from pathlib import Path

import django
from django.conf import settings
from django.contrib import admin
from django.core.management import call_command
from django.urls import path

sys.path.insert(0, str(Path(__file__).parent))
settings.configure(
    DEBUG=True,
    SECRET_KEY="only for a test on the loopback address",
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["127.0.0.1"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": sys.argv[1]}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    STATIC_URL="static/",
    USE_TZ=True,
    INSTALLED_APPS=[
        *("django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"),
        *("django.contrib.messages", "django.contrib.staticfiles", "office"),
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
    ],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                    "django.contrib.messages.context_processors.messages",
                ]
            },
        }
    ],
)
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
