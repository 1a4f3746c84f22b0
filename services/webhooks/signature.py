"""Signatures of webhook messages, after the Standard Webhooks convention (standardwebhooks.com), version 1.

A receiver rebuilds `ID.TIMESTAMP.BODY`, takes HMAC-SHA256 of it with its tenant's secret, and compares with any of the
signatures in the header. The timestamp is signed too, so that a message that was caught cannot be played back later.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence

from shoal.services.errors import NotAllowed

PREFIX = "whsec_"
"""Makes a secret recognisable; what follows is base64."""
TOLERANCE_S = 300.0
"""A message whose timestamp is further away than this should be refused."""


def tenant_secret(master: str, tenant: str) -> str:
    """The secret of one tenant, derived from the cluster's own: no tenant can sign for another."""
    digest = hmac.new(master.encode(), f"webhook:{tenant}".encode(), hashlib.sha256).digest()
    return PREFIX + base64.b64encode(digest).decode()


def signed_headers(secrets: Sequence[str], message: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The headers of one message: its id, when it was sent, and a signature by each secret."""
    signatures = " ".join(_signature(secret, message, str(timestamp), body) for secret in secrets)
    return {"webhook-id": message, "webhook-timestamp": str(timestamp), "webhook-signature": signatures}


def verify(
    secret: str, headers: Mapping[str, str], body: bytes, now: float, *, tolerance_s: float = TOLERANCE_S
) -> str:
    """The id of a genuine message, for receivers: a message that comes twice has the same id both times.

    Args:
        headers: by lower-case name.
        now: seconds since the epoch.

    Raises:
        NotAllowed: it is not signed with this secret, or was signed too long ago.
    """
    message, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit()) or abs(now - int(timestamp)) > tolerance_s:
        raise NotAllowed("The message's timestamp is missing or too far from now.")
    expected = _signature(secret, message, timestamp, body).encode()
    if not any(
        hmac.compare_digest(expected, signature.encode()) for signature in headers.get("webhook-signature", "").split()
    ):
        raise NotAllowed("No signature of the message fits this secret.")
    return message


def _signature(secret: str, message: str, timestamp: str, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    digest = hmac.new(key, f"{message}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()
