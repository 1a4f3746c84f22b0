"""The parts of a page's address, and addresses that are made of them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from shoal.agent.support.web_addresses import address_parts, without_fragment

_NAMED = re.compile(r"\{([^{}]*)\}")
_PLAIN = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9_.~-]*")
"""Texts that may be put into an address: nothing that could lead elsewhere in it."""


def page_parts(url: str) -> Mapping[str, str]:
    """The parts of a page's address by name: `path 2` is the second part of its path, `query id` a value of its query.

    What has other signs than letters, digits and `-_.~` is left out, and so are names that are there twice.
    """
    address = address_parts(without_fragment(url))
    parts = {f"path {number}": part for number, part in enumerate(address.path.split("/"))}
    pairs = [pair.partition("=") for pair in address.query.split("&")]
    names = [name for name, _, _ in pairs]
    parts |= {f"query {name}": value for name, _, value in pairs if names.count(name) == 1 and _PLAIN.fullmatch(name)}
    return {name: part for name, part in parts.items() if _PLAIN.fullmatch(part)}


def parts_in(template: str) -> tuple[str, ...]:
    """The names of the parts that `template` takes, such as `path 2` of `https://shop.example/api/{path 2}`."""
    return tuple(dict.fromkeys(_NAMED.findall(template)))


def filled(template: str, page_url: str) -> str:
    """`template` with the parts of the page's address; "" where that has not all of them, or is of another origin."""
    parts = page_parts(page_url)
    if any(name not in parts for name in parts_in(template)):
        return ""
    address = _NAMED.sub(lambda named: parts[named[1]], template)
    return address if same_origin(page_url, address) else ""


def same_origin(page_url: str, other: str) -> bool:
    """Return whether both addresses are of one scheme, host and port."""
    own, its = address_parts(page_url), address_parts(other)
    return bool(own.netloc) and (own.scheme, own.netloc.lower()) == (its.scheme, its.netloc.lower())
