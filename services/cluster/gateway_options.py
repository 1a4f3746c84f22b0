"""From the settings to what the gateway has to know. The settings stop here.

Apart from those of the other parts: a cluster's own process does not run the gateway, and would import all of it.
"""

from __future__ import annotations

import secrets

from shoal.services.browsers.configs import reach
from shoal.services.errors import BadSetting
from shoal.services.settings import Settings
from shoal.services.web.deps import GatewayOptions, Prices
from shoal.services.web.http.auth import needs_keys
from shoal.services.web.http.trusted_proxy import TrustedProxy
from shoal.services.web.openid.config import OpenId
from shoal.services.web.specs.specs import SpecRules
from shoal.services.webhooks.mail import MailServer

_MIB = 1024 * 1024


def spec_rules(settings: Settings) -> SpecRules:
    """Return what the operator lets jobs ask for."""
    return SpecRules(
        reach(settings),
        settings.max_attempts,
        people=bool(settings.help_url),
        mail=bool(settings.smtp_url.get_secret_value()),
        mail_domains=settings.mail_domains,
        sink_dirs=settings.sink_dirs,
    )


def mail_server(settings: Settings) -> MailServer | None:
    """Return where letters to people are handed in;
    None: nowhere.

    Raises:
        BadSetting: its address cannot be read.
    """
    url = settings.smtp_url.get_secret_value()
    return MailServer.parse(url, settings.mail_from) if url else None


def openid(settings: Settings) -> OpenId:
    """Return where people may log in by OpenID Connect.

    Raises:
        BadSetting: no login could be safe so, or the secret's file cannot be read.
    """
    return OpenId(
        issuer=settings.oidc_issuer,
        client_id=settings.oidc_client_id,
        client_secret=_client_secret(settings),
        scopes=settings.oidc_scopes,
        name_claim=settings.oidc_name_claim,
        role_claim=settings.oidc_role_claim,
        roles=settings.oidc_roles,
        tenant_claim=settings.oidc_tenant_claim,
        tenants=settings.oidc_tenants,
        tenant=settings.login_tenant,
        login_s=settings.oidc_login_minutes * 60,
        public_url=settings.public_url,
    )


def _client_secret(settings: Settings) -> str:
    given, file = settings.oidc_client_secret.get_secret_value(), settings.oidc_client_secret_file
    if file is None:
        return given
    if given:
        raise BadSetting("SHOAL_OIDC_CLIENT_SECRET and SHOAL_OIDC_CLIENT_SECRET_FILE: give one of them")
    try:
        return file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"SHOAL_OIDC_CLIENT_SECRET_FILE={str(file)!r}: {error}") from error


def gateway_options(settings: Settings) -> GatewayOptions:
    """Return what the operator sets for the gateway.

    Raises:
        BadSetting: two settings contradict each other.
    """
    return GatewayOptions(
        cookie_secret=settings.cookie_secret.get_secret_value().encode() or secrets.token_bytes(32),
        webhook_secrets=tuple(filter(None, settings.webhook_secret.get_secret_value().split(","))),
        auth=needs_keys(settings.auth, settings.host),
        rules=spec_rules(settings),
        mail=mail_server(settings),
        public_url=settings.public_url,
        live_url=settings.live_url or settings.help_url,
        help_token=settings.help_token.get_secret_value(),
        body_limit=settings.body_limit_kib * 1024,
        batch_limit=settings.batch_limit_mib * _MIB,
        requests_per_s=settings.requests_per_s,
        tenant_queued=settings.tenant_queued,
        tenant_quotas=settings.tenant_quotas,
        proxy=TrustedProxy(settings.login_header, settings.login_proxies, settings.login_roles, settings.login_tenant),
        openid=openid(settings),
        artifact_url_s=settings.artifact_url_s,
        secrets_dir=settings.secrets_dir,
        sink_dirs=settings.sink_dirs,
        prices=Prices(settings.price_prompt, settings.price_completion, settings.price_currency),
        secure_cookies=settings.public_url.startswith("https://"),
    )


def checked_gateway_options(settings: Settings) -> GatewayOptions:
    """Return what the operator sets for a gateway that is to start.

    Raises:
        BadSetting: two settings contradict each other, or it would ask nobody for the login that they name.
    """
    options = gateway_options(settings)
    for name, given in (("SHOAL_LOGIN_HEADER", bool(settings.login_header)), ("SHOAL_OIDC_ISSUER", options.openid.on)):
        if given and not options.auth:
            raise BadSetting(f"{name} needs SHOAL_AUTH=on: this gateway lets everybody in who reaches it")
    return options
