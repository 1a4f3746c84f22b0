"""What a job's own words say of sites: where it may act, and which addresses it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from shoal.agent.spec import JobSpec
from shoal.agent.support.json_value import Json
from shoal.agent.support.sites.sites import Sites, named_site, sites_of
from shoal.agent.support.web_addresses import address_parts, host_of, without_fragment
from shoal.agent.types import LoopItem

_ADDRESS = re.compile(
    r"\b(?:https?://[^\s<>\"'`]{1,2000}|(?:[a-z0-9-]{1,63}\.){1,20}[a-z]{2,63}(?::[0-9]{1,5})?(?:/[^\s<>\"'`]{0,2000})?)",
    re.IGNORECASE,
)
_AT_END = ".,;:!?)]}"


def sites_of_job(spec: JobSpec, item: LoopItem | None, depth: int) -> Sites:
    """Where a session of the job may act: what its `sites` name, else the sites of its own addresses.

    Args:
        item: the session's own. It counts where the job itself asks for the loop; a loop that a model planned may
            lead anywhere.
        depth: of the session.
    """
    if spec.sites:
        return Sites(tuple(map(named_site, spec.sites)))
    addresses = [spec.url]
    if spec.login is not None:
        addresses += [spec.login.url, *(step.open for step in spec.login.steps or () if step.open is not None)]
    if item is not None and spec.loop_at(depth - 1) is not None:
        addresses += [item.value] if item.is_link else []
        addresses += [item.page] if item.page else []
    return sites_of(addresses)


def named_addresses(words: Iterable[str]) -> frozenset[str]:
    """Whole addresses that the job's own words name: they were not composed by a model."""
    addresses = (match.rstrip(_AT_END) for text in words for match in _ADDRESS.findall(text))
    return frozenset(bare_address(address if "://" in address else f"https://{address}") for address in addresses)


def texts_of(value: Json) -> Iterator[str]:
    """All texts and numbers in `value`, keys aside."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from texts_of(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from texts_of(part)


def words_of(spec: JobSpec, item: LoopItem | None) -> tuple[str, ...]:
    """What the caller wrote that a session works for."""
    extract = spec.extract.goal if spec.extract is not None else None
    own = (item.value, item.label) if item is not None else ()
    return tuple(filter(None, (spec.goal, extract, spec.complete_criterion, *own, *texts_of(spec.data))))


def bare_address(url: str) -> str:
    """An address without what need not be written: scheme, fragment and the slash at its end."""
    parts = address_parts(without_fragment(url))
    query = f"?{parts.query}" if parts.query else ""
    return f"{host_of(url)}{parts.path.rstrip('/')}{query}"
