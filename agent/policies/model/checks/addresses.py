"""Addresses and files that a model may name: those that the job or the page really gives, never composed ones.

A page can ask a model to open `https://elsewhere.example/?q=` with the person's data behind it. So an address is opened
only on the job's own sites, or exactly as it stands as a link on the page or in the job's words; and a file is handed
to a page only when the job names it or the session downloaded it. `SiteRule` holds this where actions are performed.
"""

from __future__ import annotations

from dataclasses import dataclass

from shoal.agent.models.reply import ReplyProblem
from shoal.agent.policies.model.requests.elements import absolute, walk
from shoal.agent.policies.policy import SessionState
from shoal.agent.support.sites.sites import Sites, bare_address, named_addresses
from shoal.agent.support.web_addresses import BLANK
from shoal.agent.types import Observation


@dataclass(frozen=True, slots=True)
class AllowedTargets:
    """The addresses, files and words that the job and the page give."""

    sites: Sites  # where any address may be opened
    named: frozenset[str]  # whole addresses that the job's own words name
    links: frozenset[str]  # whole addresses on the page
    texts: tuple[str, ...]  # the job's own words and data
    downloads: frozenset[str]

    def check_address(self, address: str, base: str) -> None:
        """Lets an address pass that is given.

        Raises:
            ReplyProblem: it is neither on one of the job's sites, nor named by the job, nor a link of the page.
        """
        whole = absolute(address if "://" in address else f"https://{address.strip().lstrip('/')}", base) or ""
        known = self.sites.cover(whole) or bare_address(whole) in self.named
        if address.strip() != BLANK and not known and whole not in self.links:
            raise ReplyProblem(
                "an address is neither a link of this page nor on a site that the job may act on", repr(address[:80])
            )

    def check_file(self, reference: str) -> None:
        """Lets a file pass that is given.

        Raises:
            ReplyProblem: neither goal nor data name it, and the session did not download it.
        """
        named = any(reference in text for text in self.texts)
        if not reference or not (named or reference in self.downloads):
            raise ReplyProblem("no file of that name is given by the job's goal or data", repr(reference[:80]))


def allowed_targets(state: SessionState, seen: Observation) -> AllowedTargets:
    """Return what a decision on the page `seen` may name."""
    spec, item = state.spec, state.item
    words = spec.words(item)
    if spec.loop is not None and item is None:  # an item's session is for its own value, one of perhaps 100,000
        words += tuple(spec.loop.values or ())
    sites = spec.acting_sites(item, state.depth)
    links = {absolute(element.attributes.get("href", ""), seen.url) for element in walk(seen.elements)}
    downloads = {
        reference for file in seen.downloads for reference in (file.path, file.artifact, file.url) if reference
    }
    named = named_addresses(words)
    return AllowedTargets(sites, named, frozenset(link for link in links if link), words, frozenset(downloads))
