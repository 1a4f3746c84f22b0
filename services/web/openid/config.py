"""The operator's settings for logins by OpenID Connect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from shoal.services.errors import BadSetting
from shoal.services.web.http.api_keys import DEFAULT_TENANT, tenant_fault
from shoal.services.web.http.auth import is_loopback
from shoal.services.web.http.roles import ROLES

EVERYBODY = "*"
"""In place of a claim's value: the role of all that log in."""
CALLBACK = "/login/openid/callback"


@dataclass(frozen=True, slots=True)
class OpenId:
    """One provider, this gateway as its client, and which claims give which role and tenant.

    Raises:
        BadSetting: a part is missing, or no login could be safe with it.
    """

    issuer: str = ""  # exactly as the provider writes it; "": this login is off
    client_id: str = ""
    client_secret: str = field(default="", repr=False)  # "": a public client, which PKCE alone protects
    scopes: tuple[str, ...] = ("openid", "email", "profile")
    name_claim: str = "email"
    role_claim: str = "groups"
    roles: Mapping[str, str] = field(default_factory=dict)  # by a value of that claim
    tenant_claim: str = ""  # "": all are of `tenant`
    tenants: Mapping[str, str] = field(default_factory=dict)  # by a value of that claim
    tenant: str = DEFAULT_TENANT
    login_s: float = 8 * 3600.0  # how long a login holds
    public_url: str = ""  # this gateway, as people's browsers reach it

    def __post_init__(self) -> None:
        if not self.issuer:
            return
        _is_safe("SHOAL_OIDC_ISSUER", self.issuer)
        if not self.client_id:
            raise BadSetting("SHOAL_OIDC_ISSUER needs SHOAL_OIDC_CLIENT_ID")
        if not self.public_url:
            raise BadSetting("SHOAL_OIDC_ISSUER needs SHOAL_PUBLIC_URL: the provider sends people back to it")
        _is_safe("SHOAL_PUBLIC_URL", self.public_url)
        if "openid" not in self.scopes:
            raise BadSetting("SHOAL_OIDC_SCOPES: the scope openid must be one of them")
        if not self.roles:
            raise BadSetting("SHOAL_OIDC_ISSUER needs SHOAL_OIDC_ROLES: without a role no person may do anything")
        if unknown := sorted(set(self.roles.values()) - ROLES.keys()):
            raise BadSetting(f"SHOAL_OIDC_ROLES: there is no role {unknown[0]!r}; there are {', '.join(ROLES)}")
        if bool(self.tenant_claim) != bool(self.tenants):
            raise BadSetting("SHOAL_OIDC_TENANT_CLAIM and SHOAL_OIDC_TENANTS need each other")
        for tenant in self.tenants.values():
            if reason := tenant_fault(tenant):
                raise BadSetting(f"SHOAL_OIDC_TENANTS: {reason}")

    @property
    def on(self) -> bool:
        """Return whether people can log in so."""
        return bool(self.issuer)

    @property
    def provider(self) -> str:
        """The provider's host, for people."""
        return urlsplit(self.issuer).hostname or ""

    @property
    def callback(self) -> str:
        """The address that the provider sends people back to; it must be registered there."""
        return f"{self.public_url}{CALLBACK}"


def _is_safe(setting: str, url: str) -> None:
    """Raises BadSetting unless nobody between the two could change what is sent."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise BadSetting(f"{setting}: {url!r} is no http or https address without a query")
    if parts.scheme != "https" and not is_loopback(parts.hostname):
        raise BadSetting(f"{setting}: {url!r} must be https, since a login by OpenID Connect passes there")
