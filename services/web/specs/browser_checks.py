"""Checks of a job spec for values that no browser could take, made when a job is submitted rather than by each of its
sessions.

Not in the spec itself: jobs that were stored before stay readable, and time zones differ from machine to machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from zoneinfo import available_timezones

from shoal.agent.actions import ACTION_SETS
from shoal.agent.spec import BrowserSpec, JobSpec

_LOCALE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*", re.ASCII)
_USER_AGENT = re.compile(r"[\x20-\x7e]+")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", re.ASCII)
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_BROWSERS_OWN = frozenset(
    ("host", "connection", "keep-alive", "content-length", "transfer-encoding", "te", "trailer", "upgrade")
)
"""Headers that only the browser itself can set; with one of them it refuses every page."""


_NOT_YET: tuple[tuple[str, Callable[[JobSpec], bool]], ...] = (
    ("browser.attach", lambda spec: spec.browser.attach is not None),
    # A proxy of the job's own would lead past the filter that keeps browsers away from private addresses.
    ("browser.proxy", lambda spec: spec.browser.proxy is not None),
    ("browser.storage_state", lambda spec: spec.browser.storage_state is not None),
    ("browser.headless", lambda spec: not spec.browser.headless),
)


NOT_YET_FIELDS = frozenset(field for field, _ in _NOT_YET)
"""Fields of the job spec that this version does not do yet, by their path: refused, instead of being ignored."""


def unbrowsable(spec: JobSpec) -> list[dict[str, str]]:
    """The fields of `spec` that cannot be as they are, as {field, reason}."""
    not_yet = ((field, "not available in this version") for field, asked in _NOT_YET if asked(spec))
    faults = [*not_yet, *_of_actions(spec.action_sets), *_of_browser(spec.browser)]
    return [{"field": field, "reason": reason} for field, reason in faults]


def _of_actions(names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for index, name in enumerate(names):
        if name not in ACTION_SETS:
            yield f"action_sets[{index}]", f"there is no action set {name!r}; there are {', '.join(ACTION_SETS)}"


def _of_browser(browser: BrowserSpec) -> Iterator[tuple[str, str]]:
    if browser.locale is not None and not _LOCALE.fullmatch(browser.locale):
        yield "browser.locale", "must be a BCP 47 tag, such as de-DE"
    if browser.timezone is not None and _zones() and browser.timezone not in _zones():
        yield "browser.timezone", "must be a time zone's IANA name, such as Europe/Berlin"
    if browser.user_agent is not None and not _USER_AGENT.fullmatch(browser.user_agent):
        yield "browser.user_agent", "must be printable ASCII"
    for name, value in browser.headers.items():
        if not _HEADER_NAME.fullmatch(name):
            yield f"browser.headers.{name}", "is no name of a header"
        elif name.lower() in _BROWSERS_OWN:
            yield f"browser.headers.{name}", "is set by the browser alone"
        elif not _HEADER_VALUE.fullmatch(value):
            yield f"browser.headers.{name}", "has characters that a header cannot carry"


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    """The time zones that this machine knows; none on one without the list."""
    return frozenset(available_timezones())
