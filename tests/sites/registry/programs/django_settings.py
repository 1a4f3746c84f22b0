"""Settings that Django programs beside this file share: an admin, sessions, and a database in a file."""

from typing import Any

from django.conf import settings

_APPS = ("admin", "auth", "contenttypes", "sessions", "messages", "staticfiles")


def configure(urls: str, database: str, *apps: str, **more: Any) -> None:
    """Sets Django up, with the routes of the module `urls`, the given apps, and `more` settings."""
    settings.configure(
        DEBUG=True,
        SECRET_KEY="only for a test on the loopback address",
        ROOT_URLCONF=urls,
        ALLOWED_HOSTS=["127.0.0.1"],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": database}},
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        STATIC_URL="static/",
        USE_TZ=True,
        INSTALLED_APPS=[*(f"django.contrib.{app}" for app in _APPS), *apps],
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
        **more,
    )
