"""Roles: named bundles of scopes, for keys and for people that a proxy lets in."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from shoal.services.web.http.api_keys import SCOPES, Scope

ROLES: Mapping[str, tuple[Scope, ...]] = {
    "viewer": ("read",),
    "submitter": ("read", "submit"),
    "operator": ("read", "submit", "control"),
    "admin": ("read", "submit", "control", "admin"),
}
"""Scopes of each role, the least first."""


def role_of(scopes: Collection[str]) -> str:
    """The role that has exactly these scopes, "" where none does. A key that may `admin` may do all else too."""
    held = set(SCOPES) if "admin" in scopes else set(scopes)
    return next((role for role, bundle in ROLES.items() if set(bundle) == held), "")
