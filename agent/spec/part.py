"""The base of every part of a job spec: frozen, and strict about its fields."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict


class SpecPart(BaseModel):
    # Lists are read up to their first fault (`fail_fast`): to make half a million of them takes a second, in which
    # nothing else of the process runs.
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


def _http_url(text: str) -> str:
    """`text` when it is an absolute http(s) URL with a host.

    Raises:
        ValueError: saying what is wrong with it.
    """
    try:
        parts = urlsplit(text.strip())
        _ = parts.port
    except ValueError as err:
        raise ValueError(f"not a URL: {err}") from err
    if parts.scheme.lower() not in ("http", "https"):
        instead = f", not with {parts.scheme}:" if parts.scheme else ""
        raise ValueError(f"must start with http:// or https://{instead}")
    if not parts.hostname:
        raise ValueError("has no host name")
    if parts.username or parts.password:
        raise ValueError("must not carry a user name or password; use `secrets`")
    return text.strip()


HttpUrl = Annotated[str, AfterValidator(_http_url)]
