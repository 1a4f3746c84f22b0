"""Where the sessions of a job may act, where they log in, and the words that they work for."""

from __future__ import annotations

from shoal.agent.spec.job_spec import JobSpec
from shoal.agent.support.sites.sites import Sites, named_site, sites_of, texts_of
from shoal.agent.support.web_addresses import address_parts
from shoal.agent.types import LoopItem


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


def words_of(spec: JobSpec, item: LoopItem | None) -> tuple[str, ...]:
    """What the caller wrote that a session works for."""
    extract = spec.extract.goal if spec.extract is not None else None
    own = (item.value, item.label) if item is not None else ()
    return tuple(filter(None, (spec.goal, extract, spec.complete_criterion, *own, *texts_of(spec.data))))


def is_login_page(spec: JobSpec, url: str) -> bool:
    """Whether `url` is the page of the job's login: sites lead there whom they do not know."""
    if spec.login is None:
        return False
    page, login, start = _place(url), _place(spec.login.url), _place(spec.url)
    return page == login and login != start  # where both are one page, its address tells nothing


def _place(url: str) -> tuple[str, str]:
    parts = address_parts(url)
    return parts.netloc, parts.path.rstrip("/")
