"""The meaning of each fault, and the treatment of the attempt that met it: one table, which docs/errors.md prints.

A fault is an HTTP status of a page, an answer of the cluster's own egress filter, or a network error of Chromium. It
becomes a class of `agent.errors`. The class says who acts (`Recourse`), and that says whether another attempt follows,
whether this one counts, and how long the pause is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from shoal.agent.error_info import ErrorInfo
from shoal.agent.errors import (
    AccessDenied,
    AddressForbidden,
    AgentError,
    CertificateRefused,
    EgressForbidden,
    HostUnreachable,
    NavigationError,
    NavigationTimeout,
    PageMissing,
    Recourse,
    RequestRefused,
    ServerBusy,
    ServerFailed,
)

# --- faults -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fault:
    """The meaning of one fault."""

    error: type[NavigationError]
    hint: str = ""  # what to do about it; part of the message
    site_pause: bool = False  # the answer's Retry-After is the least pause before another attempt


HTTP_FAULTS: Mapping[int, Fault] = MappingProxyType(
    {
        401: Fault(
            AccessDenied,
            "it asks for a login: fill in its form by `goal` and `data` on the login page, or send an `Authorization` "
            "header by `browser.headers`",
        ),
        403: Fault(
            AccessDenied,
            "it refuses this visitor: it may want a login first (`goal` and `data` on the login page), or refuse "
            "programs",
        ),
        404: Fault(PageMissing, "check the address: the site has no such page"),
        407: Fault(RequestRefused, "a proxy in between asks for a login: tell the operator"),
        410: Fault(PageMissing),
        429: Fault(ServerBusy, site_pause=True),
        451: Fault(AccessDenied),
        503: Fault(ServerBusy, site_pause=True),
    }
)
"""By HTTP status of the page."""

OTHER_4XX = Fault(RequestRefused)
OTHER_5XX = Fault(ServerFailed)

EGRESS_HEADER = "X-Shoal-Egress"
"""A header on every answer of the egress filter's own; its value is a key of `EGRESS_FAULTS`."""

EGRESS_FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        "refused": Fault(EgressForbidden),
        "unreachable": Fault(HostUnreachable),
        "timeout": Fault(HostUnreachable),
        "invalid": Fault(NavigationError),
    }
)
"""By answer of the egress filter. These come before `HTTP_FAULTS`: their 403, 502 and 504 are not the site's."""

_UNREACHABLE = Fault(
    HostUnreachable,
    "check the host name and the port, and whether the site can be reached from where the workers run",
)
_FORBIDDEN = Fault(AddressForbidden)
_CERTIFICATE = Fault(
    CertificateRefused,
    "the site's certificate is self-signed, out of date or made for another host: name the host that it is made for, "
    "or have the operator add its authority to those that the workers' machines trust",
)
_OTHER_NETWORK_ERROR = Fault(NavigationError)

CERTIFICATE_ERRORS = "ERR_CERT_"
"""Prefix of the names of all errors of certificates."""

NETWORK_FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        "ERR_NAME_NOT_RESOLVED": _UNREACHABLE,
        "ERR_NAME_RESOLUTION_FAILED": _UNREACHABLE,
        "ERR_DNS_TIMED_OUT": _UNREACHABLE,
        "ERR_DNS_SERVER_FAILED": _UNREACHABLE,
        "ERR_CONNECTION_REFUSED": _UNREACHABLE,
        "ERR_CONNECTION_FAILED": _UNREACHABLE,
        "ERR_CONNECTION_TIMED_OUT": _UNREACHABLE,
        "ERR_ADDRESS_UNREACHABLE": _UNREACHABLE,
        "ERR_ADDRESS_INVALID": _UNREACHABLE,
        "ERR_INTERNET_DISCONNECTED": _UNREACHABLE,
        "ERR_PROXY_CONNECTION_FAILED": _UNREACHABLE,
        "ERR_SOCKS_CONNECTION_FAILED": _UNREACHABLE,
        "ERR_SOCKS_CONNECTION_HOST_UNREACHABLE": _UNREACHABLE,
        "ERR_TUNNEL_CONNECTION_FAILED": _UNREACHABLE,
        "ERR_TIMED_OUT": Fault(NavigationTimeout),
        "ERR_BLOCKED_BY_CLIENT": _FORBIDDEN,
        "ERR_BLOCKED_BY_ADMINISTRATOR": _FORBIDDEN,
        "ERR_BLOCKED_BY_LOCAL_NETWORK_ACCESS_CHECKS": _FORBIDDEN,
        "ERR_BLOCKED_BY_PRIVATE_NETWORK_ACCESS_CHECKS": _FORBIDDEN,
        "ERR_UNSAFE_PORT": _FORBIDDEN,
        "ERR_NETWORK_ACCESS_DENIED": _FORBIDDEN,
    }
)
"""By Chromium's network error (net_error_list.h has about 250). One that is not listed is a `NavigationError`."""


def http_fault(status: int) -> Fault:
    """Return what an HTTP status of 400 and above means."""
    return HTTP_FAULTS.get(status) or (OTHER_5XX if status >= 500 else OTHER_4XX)


def network_fault(name: str) -> Fault:
    """Return what a network error of Chromium means, such as ERR_CONNECTION_REFUSED."""
    if name.startswith(CERTIFICATE_ERRORS):
        return _CERTIFICATE
    return NETWORK_FAULTS.get(name, _OTHER_NETWORK_ERROR)


# --- attempts ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pause:
    """The pause of a session before its next attempt. The pause doubles each time, and chance adds up to a half."""

    first_s: float
    longest_s: float
    longest_retry_after_s: float  # a site may ask for any pause; a slip of a digit does not park a job for a year

    def before(self, attempt: int, chance: float, retry_after_s: float = 0.0) -> float:
        """Seconds before the attempt that follows attempt number `attempt` (from 1), with `chance` from 0 to 1."""
        growing_s = min(self.longest_s, self.first_s * 2.0 ** min(attempt - 1, 10)) * (1 + chance / 2)
        return max(growing_s, min(retry_after_s, self.longest_retry_after_s))


@dataclass(frozen=True, slots=True)
class Treatment:
    """The treatment of a failed attempt."""

    again: bool  # another attempt follows
    counts: bool = True  # the attempt counts towards `max_attempts`


PAUSE = Pause(first_s=1.0, longest_s=60.0, longest_retry_after_s=3600.0)

TREATMENTS: Mapping[Recourse, Treatment] = MappingProxyType(
    {
        Recourse.RETRY: Treatment(again=True),
        Recourse.OTHER_SESSION: Treatment(again=True),
        Recourse.OPERATOR: Treatment(again=True, counts=False),
        Recourse.GIVE_UP: Treatment(again=False),
        Recourse.CALLER: Treatment(again=False),
    }
)
"""By who acts."""


def _errors_for(recourse: Recourse) -> frozenset[str]:
    """The names of the classes of errors with this recourse, as `ErrorInfo.cls` has them."""
    names: set[str] = set()
    todo: list[type[AgentError]] = [AgentError]
    while todo:
        error = todo.pop()
        todo += error.__subclasses__()
        if error.recourse is recourse:
            names.add(error.__name__)
    return frozenset(names)


_OPERATORS = _errors_for(Recourse.OPERATOR)


def treatment_of(error: ErrorInfo) -> Treatment:
    """Return what becomes of an attempt that failed by this error.
    A single error may be more hopeful than its class.
    """
    if error.cls in _OPERATORS:
        return TREATMENTS[Recourse.OPERATOR]
    return TREATMENTS[Recourse.RETRY if error.retryable else Recourse.GIVE_UP]
