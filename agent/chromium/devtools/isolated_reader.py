"""Runs functions beside a page's own scripts."""

from __future__ import annotations

from typing import Any

from playwright.async_api import Error as PlaywrightError

from shoal.agent.chromium.devtools.protocol import DevTools
from shoal.agent.errors import ActionError
from shoal.agent.support.json_value import Json
from shoal.agent.support.page_names import function_by_names

_WORLD = "shoal"
LOST = (
    "Cannot find context",
    "Execution context was destroyed",
    "Inspected target navigated",
    "uniqueContextId not found",
)
"""Messages of Chromium when the document went away under a script."""
_TRIES = 5


class IsolatedReader:
    """The isolated world of a page's main frame, made anew for each document at first use."""

    def __init__(self, session: DevTools, frame: str) -> None:
        self._session = session
        self._frame = frame  # DevTools' id
        self._world: int | None = None

    def forget_world(self) -> None:
        """The document is another one now: saves asking the world of the old one."""
        self._world = None

    async def read(self, script: str, arg: Json = None) -> Json:
        """Return what the function `script` returns for `arg`.

        Raises:
            ActionError: the script threw, or gave what JSON cannot express.
        """
        for attempt in range(_TRIES):
            try:
                answer = await self._session.send(
                    "Runtime.callFunctionOn",
                    {
                        "functionDeclaration": function_by_names(script),
                        "executionContextId": await self._isolated_world(),
                        "arguments": [{"value": arg}],
                        "returnByValue": True,
                        "awaitPromise": True,
                    },
                )
            except PlaywrightError as error:
                # The page navigated in between: the same question to its new document.
                self._world = None
                if attempt + 1 == _TRIES or not any(saying in error.message for saying in LOST):
                    raise
                continue
            return _value(answer)
        raise AssertionError("unreachable: the last try returns or raises")

    async def _isolated_world(self) -> int:
        if self._world is None:
            asked = {"frameId": self._frame, "worldName": _WORLD}
            self._world = int((await self._session.send("Page.createIsolatedWorld", asked))["executionContextId"])
        return self._world


def _value(answer: dict[str, Any]) -> Json:
    failed = answer.get("exceptionDetails")
    if failed:
        description = failed.get("exception", {}).get("description") or failed.get("text", "")
        raise ActionError(
            f"the script failed in the page: {description.splitlines()[0] if description else 'no reason given'}"
        )
    result = answer["result"]
    if "unserializableValue" in result:
        raise ActionError(f"the script gave {result['unserializableValue']}, which JSON cannot express")
    return result.get("value")
