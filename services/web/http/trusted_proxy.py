"""People whom a proxy in front of the gateway has let in already: it names them in a header."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field

from fastapi import Request

from shoal.services.errors import BadSetting, NotAllowed
from shoal.services.web.http.api_keys import DEFAULT_TENANT, Caller
from shoal.services.web.http.roles import ROLES

EVERYBODY_ELSE = "*"
"""In place of a name: the role of all that are not named."""

_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class TrustedProxy:
    """Which header names a person, and from which addresses it is believed.

    Raises:
        BadSetting: a header without addresses, an address that is none, or a role that there is not.
    """

    header: str = ""  # "": this login is off
    proxies: tuple[str, ...] = ()  # addresses and networks of the proxy
    roles: Mapping[str, str] = field(default_factory=dict)  # by the name that the header gives
    tenant: str = DEFAULT_TENANT  # whose jobs these people see, unless they are admins

    def __post_init__(self) -> None:
        if self.header and not self.proxies:
            raise BadSetting("SHOAL_LOGIN_HEADER needs SHOAL_LOGIN_PROXIES: else every caller could name itself")
        if unknown := sorted(set(self.roles.values()) - ROLES.keys()):
            raise BadSetting(f"SHOAL_LOGIN_ROLES: there is no role {unknown[0]!r}; there are {', '.join(ROLES)}")
        for proxy in self.proxies:
            try:
                ipaddress.ip_network(proxy)
            except ValueError as error:
                raise BadSetting(f"SHOAL_LOGIN_PROXIES: {proxy!r} is no address or network: {error}") from error

    def caller(self, request: Request) -> Caller | None:
        """The person whom the proxy names; None where the request does not come from it, or names none.

        Raises:
            NotAllowed: the person has no role, or the header is given twice.
        """
        if not self.header or not self._is_proxy(request):
            return None
        names = request.headers.getlist(self.header)
        if not any(names):
            return None
        if len(names) > 1:
            raise NotAllowed(f"The header {self.header} is given twice: the proxy must replace what callers send.")
        name = names[0].strip()
        if not name or not name.isprintable() or len(name) > _LONGEST_NAME:
            raise NotAllowed(f"The header {self.header} gives no name.")
        role = self.roles.get(name) or self.roles.get(EVERYBODY_ELSE)
        if role is None:
            raise NotAllowed(f"{name} has no role here. The operator gives one by SHOAL_LOGIN_ROLES.")
        return Caller(tenant=self.tenant, scopes=frozenset(ROLES[role]), name=name)

    def _is_proxy(self, request: Request) -> bool:
        try:
            address = ipaddress.ip_address(request.client.host if request.client else "")
        except ValueError:
            return False
        mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        return any((mapped or address) in ipaddress.ip_network(proxy) for proxy in self.proxies)
