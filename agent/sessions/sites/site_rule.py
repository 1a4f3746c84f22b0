"""On which sites a job acts: the rule that holds for each action, of a model, a workflow or the rules policy.

Pages elsewhere are read, and links that stand on a page are followed. Nothing is typed, chosen, sent or uploaded there,
and no address is opened that a model or a workflow composed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote_plus

from shoal.agent.actions.primitives.navigation import web_address
from shoal.agent.actions.registry import primitive
from shoal.agent.actions.sending import is_quiet
from shoal.agent.errors import ActionError, ActionInvalid, SiteRefused
from shoal.agent.redaction.hidden_values import hidden_values
from shoal.agent.redaction.spellings import is_weak
from shoal.agent.support.json_value import Json
from shoal.agent.support.sites.prospect import Prospect
from shoal.agent.support.sites.sites import (
    Sites,
    bare_address,
    named_addresses,
    site_of,
    texts_of,
)
from shoal.agent.support.web_addresses import BLANK, WEB, address_parts, clipped_address
from shoal.agent.types import Action
from shoal.agent.worker_messages import Work

_TYPED = ("value", "text", "options", "code")
_CARRIED_CHARS = 6
"""Shorter texts stand in addresses by chance."""


def site_rule(work: Work) -> SiteRule:
    """The rule for one attempt of a session.

    What an earlier one or the session of its loop typed, the site may know.
    """
    spec, before = work.spec, work.checkpoint is not None or work.depth > 0
    sites = spec.acting_sites(work.item, work.depth)
    return SiteRule(sites, named_addresses(spec.words(work.item)), set(texts_of(spec.data) if before else ()))


@dataclass(slots=True)
class SiteRule:
    """The sites of one session, and what it has put into pages so far."""

    sites: Sites
    named: frozenset[str] = frozenset()  # addresses that the job's own words name
    typed: set[str] = field(default_factory=set)  # into pages, by this session

    def asks(self, action: Action) -> bool:
        """Return whether the rule has to know what would come of the action."""
        return bool(_addresses(action)) or (_gives(action) != "nothing" and not is_quiet(action))

    def refusal(self, action: Action, prospect: Prospect) -> SiteRefused | None:
        """Why the action is not done; None where it may be."""
        for address in _addresses(action):
            if fault := self._composed(address, listed=prospect.listed):
                return fault
        gives = _gives(action)
        if gives == "nothing" or is_quiet(action):
            return None
        for url in prospect.links if gives == "click" else ():
            if not self.sites.cover(url) and self._carries(url):
                return self._refused(url, "the link that leads there carries what was typed before")
        if gives == "click" and not (prospect.field or prospect.sends):
            return None
        for url in prospect.documents:
            if not self.sites.cover(url):
                return self._refused(url, "nothing is typed, chosen or sent there")
        for url in prospect.forms if gives == "text" or prospect.sends else ():
            if not self.sites.cover(url):
                return self._refused(url, "a form of this page sends there")
        return None

    def note(self, args: Mapping[str, Json]) -> None:
        """Notes what an action with these arguments has put into a page."""
        self.typed.update(text for name in _TYPED if name in args for text in texts_of(args[name]))

    def _composed(self, url: str, *, listed: bool) -> SiteRefused | None:
        if not (url == BLANK or listed or self._is_known(url)):
            return self._refused(url, "no link of this page leads to that address, and the job does not name it")
        return self.carried(url)

    def carried(self, url: str) -> SiteRefused | None:
        """Why an address that a page gave is neither opened nor taken as an item; None where it may be."""
        if url == BLANK or self._is_known(url) or not self._carries(url):
            return None
        return self._refused(url, "the address carries what was typed before")

    def _is_known(self, url: str) -> bool:
        return self.sites.cover(url) or bare_address(url) in self.named

    def _carries(self, url: str) -> bool:
        """Return whether a text that was typed stands in the address, in any of the usual spellings,
        or with other marks.
        """
        strong = sorted(text for text in self.typed if not is_weak(text))
        if not strong:
            return False
        if hidden_values(tuple((text, "") for text in strong)).text(url, weak=False) != url:
            return True
        letters_of_url = _squeezed(unquote_plus(unquote_plus(url)))
        bare = [letters for text in strong if len(letters := _squeezed(text)) >= _CARRIED_CHARS]
        return any(letters in letters_of_url or letters[::-1] in letters_of_url for letters in bare)

    def _refused(self, url: str, why: str) -> SiteRefused:
        site = site_of(url)
        name = str(site) if site is not None else repr(clipped_address(url))
        return SiteRefused(
            f"{name} is not among the sites that this job may act on ({self.sites}): {why}. "
            "Where it is wanted, name it in `sites` of the job",
            site=name,
        )


def _gives(action: Action) -> str:
    try:
        return primitive(action.name).gives
    except ActionInvalid:
        return "nothing"  # it is not performed


def _addresses(action: Action) -> list[str]:
    """The addresses that an action opens or fetches; one that is none is refused by the action itself."""
    url, files = action.args.get("url"), action.args.get("file")
    given = [text for text in (files if isinstance(files, list | tuple) else [files]) if isinstance(text, str)]
    fetched = [text for text in given if address_parts(text).scheme in WEB]
    if not isinstance(url, str):
        return fetched
    try:
        return [web_address(url), *fetched]
    except ActionError:
        return fetched


def _squeezed(text: str) -> str:
    return "".join(char for char in text.lower() if char.isalnum())
