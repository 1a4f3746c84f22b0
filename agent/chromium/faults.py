"""Playwright's and Chromium's errors as ours. What a network error means stands in `shoal.agent.fault_table`."""

from __future__ import annotations

import re

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from shoal.agent.errors import (
    ActionError,
    ActionTimeout,
    AgentError,
    BrowserGone,
    ElementMissing,
    ElementNotUsable,
    NavigationError,
    NavigationTimeout,
    PageCrashed,
)
from shoal.agent.fault_table import network_fault

CRASH_S = 0.3
"""Seconds after a navigation was cut off within which a crash may become known."""
GONE_S = 1.0
"""Seconds after a call was cut off within which the end of the process may become known."""

# The order matters: Playwright mentions several of these in one message.
_SAYINGS: tuple[tuple[str, type[AgentError]], ...] = (
    (r"Page crashed|Target crashed", PageCrashed),
    (r"Browser (has been )?closed|browser has disconnected|Connection closed|Browser\.close", BrowserGone),
    (r"element was detached|Element is not attached|Frame was detached|Cannot find context"
     r"|failed to find (frame|element)", ElementMissing),
    (r"intercepts pointer events|element is not (visible|enabled|editable|stable)|outside of the viewport"
     r"|is not an? <|Cannot type text into|Malformed value|not a checkbox|did not change its state"
     r"|Element is not|Node is not|did not find some options|cannot be filled|not have a role allowing",
     ElementNotUsable),
)  # fmt: skip

_NET = re.compile(r"net::(ERR_[A-Z0-9_]+)")
_NOISE = re.compile(r"^[A-Za-z]+\.[a-z_]+: |\x1b\[\d+m")
_FIRST_CHARS, _LINE_CHARS = 500, 300


def net_error(message: str) -> str | None:
    """The name of Chromium's network error in `message`, such as ERR_CONNECTION_REFUSED."""
    match = _NET.search(message)
    return match.group(1) if match else None


def navigation_error(error: PlaywrightError, url: str, seconds: float) -> AgentError:
    """Return what a failed navigation to `url` means; `seconds` is the limit that it had."""
    if isinstance(error, PlaywrightTimeout):
        return NavigationTimeout(f"{url} did not load within {seconds:g} s", url=url)
    name = net_error(error.message)
    if name is not None:
        fault = network_fault(name)
        hint = f"; {fault.hint}" if fault.hint else ""
        return fault.error(f"{url} could not be opened: {name}{hint}", url=url, net_error=name)
    known = _by_saying(error)
    if isinstance(known, (PageCrashed, BrowserGone)):
        return known
    return NavigationError(f"{url} could not be opened: {first_line(error)}", url=url)


def action_error(error: PlaywrightError) -> AgentError:
    """Return what a failed call on a page or an element means."""
    known = None if _was_begun(error) else _by_saying(error)
    if known is not None:
        return known
    if isinstance(error, PlaywrightTimeout):
        return ActionTimeout(first_line(error))
    return ActionError(first_line(error))


def _was_begun(error: PlaywrightError) -> bool:
    """Return whether the input was sent before the time was up: what was in the way before that is history."""
    log = error.message
    earlier = max(log.rfind("intercepts pointer events"), log.rfind("is not stable"))
    return isinstance(error, PlaywrightTimeout) and log.rfind("  performing ") > earlier


def _by_saying(error: PlaywrightError) -> AgentError | None:
    for pattern, kind in _SAYINGS:
        if match := re.search(pattern, error.message, re.IGNORECASE):
            if kind in (PageCrashed, BrowserGone):
                return kind()
            return kind(f"{first_line(error)} ({_line_of(error.message, match)})")
    return None


def _line_of(text: str, match: re.Match[str]) -> str:
    """The line of Playwright's call log that says what was in the way.

    An element's words that Playwright cut, or that would have to be, are left out: a secret is hidden only whole.
    """
    end = text.find("\n", match.start())
    line = _NOISE.sub("", text[text.rfind("\n", 0, match.start()) + 1 : end if end >= 0 else len(text)]).strip(" -")
    return line if len(line) <= _LINE_CHARS and "…" not in line else match.group()


def first_line(error: PlaywrightError) -> str:
    """Playwright's message without its call log; of a long one, the parts before its colons that are short enough."""
    lines = error.message.strip().splitlines() or [type(error).__name__]
    line = _NOISE.sub("", lines[0]).strip()
    return line if len(line) <= _FIRST_CHARS else f"{line[:_FIRST_CHARS].rpartition(': ')[0]}…"
