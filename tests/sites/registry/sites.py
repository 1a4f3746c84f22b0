"""All sites, and the few that are quick enough for each test run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager

from tests.sites.registry import (
    apache_manual,
    datasette,
    django_admin,
    docbook,
    doxygen,
    flask_admin,
    gtk_doc,
    haddock,
    hgweb,
    javadoc,
    man_pages,
    mkdocs,
    node_manual,
    oscar,
    otter_wiki,
    roundup,
    rustdoc,
    script_grids,
    script_tables,
    sphinx,
    sqlite_manual,
    texinfo,
    trac,
)
from tests.sites.registry.case import Case

Site = Callable[[], AbstractContextManager[list[Case]]]

ALL: Mapping[str, Site] = {
    module.NAME: module.site
    for module in (
        *(sphinx, mkdocs, javadoc, man_pages, docbook, script_tables, script_grids, doxygen),
        *(trac, roundup, flask_admin, django_admin, otter_wiki, datasette, hgweb, oscar),
        *(apache_manual, gtk_doc, sqlite_manual, texinfo, rustdoc, haddock, node_manual),
    )
}
"""By name: serves the site and gives its cases. Raises `cache.Unreachable` where its package cannot be had."""

QUICK = (man_pages.NAME,)
"""Those that `make test` runs; `make test-sites` runs all."""
