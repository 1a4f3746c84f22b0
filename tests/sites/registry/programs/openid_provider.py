"""Django OAuth Toolkit as a provider of OpenID Connect: python openid_provider.py DATABASE PORT REDIRECT SECRET.

It has its own environment. Ada is in the group `shoal-admins`; Eve is in none.
"""

import sys

import django
from django.contrib import admin
from django.core.management import call_command
from django.urls import include, path
from django_settings import configure
from jwcrypto import jwk

DATABASE, PORT, REDIRECT, SECRET = sys.argv[1:]

configure(
    __name__,
    DATABASE,
    "oauth2_provider",
    LOGIN_URL="/admin/login/",
    SESSION_COOKIE_NAME="provider_session",
    CSRF_COOKIE_NAME="provider_csrf",
    OAUTH2_PROVIDER={
        "OIDC_ENABLED": True,
        "OIDC_ISS_ENDPOINT": f"http://127.0.0.1:{PORT}/o",
        "OIDC_RSA_PRIVATE_KEY": jwk.JWK.generate(kty="RSA", size=2048).export_to_pem(True, None).decode(),
        "OIDC_RP_INITIATED_LOGOUT_ENABLED": True,
        "OAUTH2_VALIDATOR_CLASS": f"{__name__}.Validator",
        "SCOPES": {"openid": "Who you are", "email": "Your address", "profile": "Your name"},
    },
)
django.setup()

from oauth2_provider.oauth2_validators import OAuth2Validator  # noqa: E402  # a model, so only after the set-up


class Validator(OAuth2Validator):
    """Claims of this provider."""

    oidc_claim_scope = None  # groups come with every scope

    def get_additional_claims(self, request):
        return {
            "email": request.user.email,
            "email_verified": True,
            "groups": [group.name for group in request.user.groups.all()],
        }


urlpatterns = [path("admin/", admin.site.urls), path("o/", include("oauth2_provider.urls", "oauth2_provider"))]


def seed() -> None:
    """Two people and the gateway as a client."""
    from django.contrib.auth.models import Group, User
    from oauth2_provider.models import Application

    admins = Group.objects.create(name="shoal-admins")
    for name in ("ada", "eve"):
        person = User.objects.create_superuser(name, f"{name}@id.example", f"correct horse {name}")
        person.groups.set([admins] if name == "ada" else [])
    Application.objects.create(
        name="Shoal",
        client_id="shoal",
        client_secret=SECRET,
        client_type="confidential",
        authorization_grant_type="authorization-code",
        redirect_uris=REDIRECT,
        algorithm="RS256",
    )


if __name__ == "__main__":
    call_command("migrate", run_syncdb=True, verbosity=0)
    seed()
    call_command("runserver", f"127.0.0.1:{PORT}", use_reloader=False, verbosity=0)
