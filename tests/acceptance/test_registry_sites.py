"""Jobs on sites and applications that were not written here, beside a truth that is had by other means.

Each test run takes those of `QUICK`; `make test-sites` (REGISTRY_SITES=all) takes all. `load-tests/bench/truth.py`
prints the figures, and docs/truth.md has them with their date.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from tests.embedded import Up
from tests.sites.registry.cache import Unreachable
from tests.sites.registry.running import verdicts
from tests.sites.registry.sites import ALL, QUICK
from tests.sites.ring import EVERYTHING

pytestmark = pytest.mark.timeout(600)


@dataclass(frozen=True)
class Floor:
    """The least results of a site's jobs. It is raised with each class of fault that is mended, and never lowered."""

    stated: int  # values that the truth holds, at least: a truth that shrank would let anything pass
    right: float  # share of them that is given and right, at least
    wrong: int = 0  # at most
    invented: int = 0  # at most
    doubted: int = 0  # lists that are whole and called incomplete, at most
    misjudged: int = 0  # forms whose outcome is told wrong, at most


FLOORS: dict[str, Floor] = {
    "Sphinx (Python manual)": Floor(940, 0.98),
    "MkDocs (its manual)": Floor(400, 0.98),
    "Javadoc (commons-lang3)": Floor(200, 0.98, doubted=1),
    "man pages (ncurses, git)": Floor(78, 0.98),
    "DocBook (Debian Reference)": Floor(410, 0.98, doubted=1),
    "script tables (npm)": Floor(2700, 0.98),
    "Trac": Floor(680, 0.95),
    "Roundup": Floor(420, 0.98),
    "Flask-Admin": Floor(930, 0.98),
    "Django admin": Floor(490, 0.98),
    "Otter Wiki": Floor(76, 0.85),
    "Datasette": Floor(2600, 0.95),
    "hgweb (Mercurial)": Floor(960, 0.98, doubted=1),
    "Oscar": Floor(590, 0.98),
    "Doxygen (JsonCpp)": Floor(240, 0.2),
    "script grids (npm)": Floor(1600, 0.98),
    "Apache manual": Floor(900, 0.98),
    "gtk-doc (GLib)": Floor(220, 0.17),
    "SQLite manual": Floor(1200, 0.98),
    "Texinfo (R, Octave)": Floor(1400, 0.98),
    "rustdoc (std)": Floor(170, 0.4),
    "Haddock (aeson)": Floor(40, 0.6),
    "Node.js manual": Floor(50, 0.13, wrong=1),
}


@pytest.mark.parametrize("name", list(ALL) if EVERYTHING else QUICK)
def test_its_records_and_outcomes_are_the_truth(cluster: Up, name: str) -> None:
    try:
        with ALL[name]() as cases:
            done = asyncio.run(verdicts(cluster.url, cases))
    except Unreachable as error:
        pytest.skip(f"{name} cannot be installed: {error}")
    floor = FLOORS[name]
    said = "\n".join(f"{verdict.case}: {fault}" for verdict in done for fault in verdict.faults[:6])
    stated = sum(verdict.stated for verdict in done)
    assert stated >= floor.stated
    assert sum(verdict.right for verdict in done) >= floor.right * stated, said
    assert sum(len(verdict.wrong) for verdict in done) <= floor.wrong, said
    assert sum(len(verdict.invented) for verdict in done) <= floor.invented, said
    assert sum(verdict.lists - verdict.lists_honest for verdict in done) == 0, said
    assert sum(verdict.lists_doubted for verdict in done) <= floor.doubted, said
    assert sum(verdict.outcomes - verdict.outcomes_right for verdict in done) <= floor.misjudged, said


def test_every_site_has_a_floor() -> None:
    assert set(FLOORS) == set(ALL)
    assert set(QUICK) < set(ALL)
