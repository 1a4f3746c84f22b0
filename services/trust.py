"""The certificate authorities that our own HTTP clients trust."""

from __future__ import annotations

import ssl
from functools import cache

import httpx


@cache
def authorities() -> ssl.SSLContext:
    """Those of the file that SSL_CERT_FILE names, else of SSL_CERT_DIR, else certifi's.

    Our clients read nothing else of the environment: a proxy there would see requests that are checked by address.
    """
    return httpx.create_ssl_context(trust_env=True)
