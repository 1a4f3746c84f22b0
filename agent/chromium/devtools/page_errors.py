"""Errors that pages make by themselves: errors of their scripts, and requests that failed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from shoal.agent.chromium.wire.connection import Session
from shoal.agent.support.printable import readable
from shoal.agent.types import PageError, PageErrors

_MOST = 50
"""Different errors between two calls of `take`; of the others only the number is kept."""
LONGEST = 2_000
"""Characters of a text or an address: more than are ever shown. A secret is hidden before a text is clipped further,
since half of one could not be told from other text."""
_BLOCKED = "net::ERR_BLOCKED_BY_CLIENT"
"""Of a request that the job itself does not want."""


def exception_text(event: dict[str, Any]) -> str:
    """The first line of what a page's script threw and nothing caught."""
    details = event["exceptionDetails"]
    description = details.get("exception", {}).get("description") or details.get("text", "")
    return description.splitlines()[0] if description else ""


def console_text(event: dict[str, Any]) -> str:
    """Return what a page's script wrote to the console as an error; "" for anything else."""
    if event["type"] not in ("error", "assert"):
        return ""
    return " ".join(str(arg.get("value", arg.get("description", ""))) for arg in event["args"])


class PageErrorLog:
    """The errors of the pages of one context, each once and counted."""

    def __init__(self) -> None:
        self._errors: dict[tuple[str, str, str], PageError] = {}
        self._left_out = 0

    async def follow(self, session: Session) -> None:
        """Hears what `session` tells from now on, and what it kept of the current document.

        Exceptions and the console come only once the caller enables `Runtime` there.
        """
        session.on("Runtime.exceptionThrown", self._on_exception)
        session.on("Runtime.consoleAPICalled", self._on_console)
        session.on("Log.entryAdded", self._on_entry)
        await session.send("Log.enable")

    def take(self) -> PageErrors:
        """The errors since the last call."""
        taken = PageErrors(tuple(self._errors.values()), self._left_out)
        self._errors, self._left_out = {}, 0
        return taken

    def _on_exception(self, event: dict[str, Any]) -> None:
        details = event["exceptionDetails"]
        self._note("console", exception_text(event), _place(details.get("url", ""), details.get("lineNumber")))

    def _on_console(self, event: dict[str, Any]) -> None:
        frames = event.get("stackTrace", {}).get("callFrames") or [{}]
        self._note("console", console_text(event), _place(frames[0].get("url", ""), frames[0].get("lineNumber")))

    def _on_entry(self, event: dict[str, Any]) -> None:
        """Keep what the browser itself wrote to the console."""
        entry = event["entry"]
        if entry["level"] != "error" or _BLOCKED in entry["text"]:
            return
        if entry["source"] == "network":
            self._note("network", entry["text"], entry.get("url", ""))
        else:
            self._note("console", entry["text"], _place(entry.get("url", ""), entry.get("lineNumber")))

    def _note(self, kind: Literal["console", "network"], text: str, where: str) -> None:
        if not text:
            return
        key = (kind, text[:LONGEST], where[-LONGEST:] if kind == "console" else where[:LONGEST])
        known = self._errors.get(key)
        if known is not None:
            self._errors[key] = replace(known, times=known.times + 1)
        elif len(self._errors) < _MOST:
            self._errors[key] = PageError(kind, readable(key[1]), readable(key[2]))
        else:
            self._left_out += 1


def _place(url: str, line: int | None) -> str:
    """A script and its line, as editors write it; "" where the script has no address."""
    return f"{url}:{line + 1}" if url and line is not None else url
