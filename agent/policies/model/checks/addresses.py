"""Addresses and files that a model may name: those that the job or the page really gives, never composed ones.

A page can ask a model to open `https://elsewhere.example/?q=` with the person's data behind it. So an address is opened
only on a host that the job or the browser is concerned with already, or exactly as it stands as a link on the page; and
a file is handed to a page only when the job names it or the session downloaded it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from shoal.agent.models.reply import ReplyProblem
from shoal.agent.policies.model.requests.elements import absolute, walk
from shoal.agent.policies.policy import SessionState
from shoal.agent.support.json_value import Json
from shoal.agent.support.web_addresses import address_parts
from shoal.agent.types import Observation

_ADDRESS = re.compile(
    r"\b(?:https?://)?((?:[a-z0-9-]{1,63}\.){1,20}[a-z]{2,63}|localhost|\d+\.\d+\.\d+\.\d+)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Given:
    """What the job and the page give."""

    hosts: frozenset[str]
    links: frozenset[str]  # whole addresses on the page
    texts: tuple[str, ...]  # the job's own words and data
    downloads: frozenset[str]

    def check_address(self, address: str, base: str) -> None:
        """Lets an address pass that is given.

        Raises:
            ReplyProblem: it is neither on a known host nor a link of the page.
        """
        whole = absolute(address if "://" in address else f"https://{address.strip().lstrip('/')}", base)
        host = _host(whole or "")
        known = any(host == allowed or host.endswith(f".{allowed}") for allowed in self.hosts)
        if address.strip() != "about:blank" and not known and whole not in self.links:
            raise ReplyProblem(
                "an address is neither a link of this page nor on a host that the job names", repr(address[:80])
            )

    def check_file(self, reference: str) -> None:
        """Lets a file pass that is given.

        Raises:
            ReplyProblem: neither goal nor data name it, and the session did not download it.
        """
        named = any(reference in text for text in self.texts)
        if not reference or not (named or reference in self.downloads):
            raise ReplyProblem("no file of that name is given by the job's goal or data", repr(reference[:80]))


def given(state: SessionState, seen: Observation) -> Given:
    """What a decision on the page `seen` may name."""
    spec = state.spec
    item = state.item
    words = [spec.goal or "", spec.url, *((item.value, item.label) if item else ()), *_texts(spec.data)]
    if spec.extract is not None and spec.extract.goal:
        words.append(spec.extract.goal)
    if spec.loop is not None and item is None:  # an item's session is for its own value, one of perhaps 100,000
        words += spec.loop.values or ()
    hosts = {_host(address) for address in (seen.url, state.page.url, *(tab.url for tab in seen.tabs))}
    hosts |= {host.lower() for text in words for host in _ADDRESS.findall(text)}
    links = {absolute(element.attributes.get("href", ""), seen.url) for element in walk(seen.elements)}
    downloads = {
        reference for file in seen.downloads for reference in (file.path, file.artifact, file.url) if reference
    }
    return Given(frozenset(hosts - {""}), frozenset(link for link in links if link), tuple(words), frozenset(downloads))


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


def _host(address: str) -> str:
    return address_parts(address).hostname or ""
