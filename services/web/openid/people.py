"""From the claims of a login to a person here: a name, a tenant and a role, or a refusal."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shoal.agent.support.json_value import Json
from shoal.services.errors import NotAllowed
from shoal.services.store.api_keys import PERSON
from shoal.services.web.http.roles import ROLES
from shoal.services.web.openid.config import EVERYBODY, OpenId

LONGEST_NAME = 200
_MOST_VALUES = 1_000
"""Groups of one person that are looked at."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who has logged in, and what that person may do here."""

    key_hash: str  # of the person's row: made from issuer and subject, which alone are never given to another
    name: str
    tenant: str
    role: str


def person_of(claims: Mapping[str, Json], openid: OpenId) -> Person:
    """The person that claims are of. They were checked before: this only reads them.

    Raises:
        NotAllowed: the claims give no role, no tenant or more than one tenant.
    """
    subject = str(claims["sub"])
    name = _name(claims, openid.name_claim) or subject[:LONGEST_NAME]
    held = {EVERYBODY, *_values(claims, openid.role_claim)}
    roles = {role for value, role in openid.roles.items() if value in held}
    if not roles:
        raise NotAllowed(f"{name} has no role here. The operator gives one by SHOAL_OIDC_ROLES.")
    identity = hashlib.sha256(f"{openid.issuer}\n{subject}".encode()).hexdigest()
    role = max(roles, key=list(ROLES).index)
    return Person(f"{PERSON}{identity}", name, _tenant(claims, openid, name), role)


def _tenant(claims: Mapping[str, Json], openid: OpenId, name: str) -> str:
    if not openid.tenant_claim:
        return openid.tenant
    held = _values(claims, openid.tenant_claim)
    tenants = sorted({tenant for value, tenant in openid.tenants.items() if value in held})
    if not tenants:
        raise NotAllowed(f"{name} has no tenant here. The operator gives one by SHOAL_OIDC_TENANTS.")
    if len(tenants) > 1:
        raise NotAllowed(f"{name} has several tenants ({', '.join(tenants)}), and a login is of one.")
    return tenants[0]


def _name(claims: Mapping[str, Json], claim: str) -> str:
    values = _values(claims, claim)
    name = values[0].strip() if len(values) == 1 else ""
    return name if name.isprintable() and len(name) <= LONGEST_NAME else ""


def _values(claims: Mapping[str, Json], claim: str) -> Sequence[str]:
    """The texts that a claim holds: one or a list. `a.b` is the claim of that name, else `b` within `a`.

    An address that the provider has not verified is what the person says, and counts for nothing.
    """
    value: Json = claims
    for name in (claim,) if claim in claims else claim.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    if claim == "email" and claims.get("email_verified") is not True:
        return ()
    values = value if isinstance(value, list) else [value]
    return [text for text in values[:_MOST_VALUES] if isinstance(text, str)]
