"""Actions that open pages."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from shoal.agent.actions.action_context import ActionContext
from shoal.agent.errors import ActionError, ActionInvalid, ActionRefused

_OPENABLE = ("http", "https")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_HOST_AND_PORT = re.compile(r"[\w.-]+:[0-9]{1,5}(?![^/?#])")
_OWN_MACHINE = re.compile(r"(localhost|127\.[0-9.]+)(?![^:/?#])")
"""No certificate authority signs for it."""


async def goto(on: ActionContext, url: str) -> None:
    """Opens a web address.

    Examples:
        goto('https://www.example.com')
    """
    await on.navigate(web_address(url))


def web_address(url: str) -> str:
    """`url` as an absolute address; "example.com/x" gets https.

    Raises:
        ActionInvalid: it is none.
        ActionRefused: it is no web page: local files and scripts are not opened on a model's word.
    """
    url = url.strip()
    if url == "about:blank":
        return url
    try:
        if not _ABSOLUTE.match(url) and (_HOST_AND_PORT.match(url) or not urlsplit(url).scheme.isalpha()):
            url = f"{'http' if _OWN_MACHINE.match(url) else 'https'}://{url.removeprefix('//')}"
        url.encode()  # halves of characters are in no address
        parts = urlsplit(url)
        _ = parts.port  # which may be none
    except ValueError as error:
        raise ActionInvalid(f"url: {url!r} is not an address: {error}") from error
    if parts.scheme not in _OPENABLE:
        raise ActionRefused(f"url: only http and https addresses are opened, not {parts.scheme}:")
    if not parts.hostname:
        raise ActionInvalid(f"url: {url!r} has no host name")
    return parts.geturl()


async def go_back(on: ActionContext) -> None:
    """Goes back to the page before, as the browser's button does.

    Examples:
        go_back()
    """
    await _travel(on, "go_back", "there is no page to go back to")


async def go_forward(on: ActionContext) -> None:
    """Goes forward again after going back.

    Examples:
        go_forward()
    """
    await _travel(on, "go_forward", "there is no page to go forward to")


async def _travel(on: ActionContext, call: str, at_the_end: str) -> None:
    with on.faults():
        before = on.url
        response = await getattr(on.page, call)(wait_until="domcontentloaded", timeout=on.left_ms)
        if response is None and on.url == before:
            raise ActionError(at_the_end)


async def reload(on: ActionContext) -> None:
    """Loads the page again.

    Examples:
        reload()
    """
    with on.faults():
        await on.page.reload(wait_until="domcontentloaded", timeout=on.left_ms)


async def search(on: ActionContext, query: str) -> None:
    """Looks something up with the configured search engine.

    Examples:
        search('opening hours of the town hall')
    """
    await on.navigate(on.search_url(query))
