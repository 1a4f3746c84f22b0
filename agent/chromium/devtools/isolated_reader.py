"""Runs functions beside a page's own scripts."""

from __future__ import annotations

import uuid
from typing import Any

from playwright.async_api import Error as PlaywrightError

from shoal.agent.chromium.devtools.closed_roots import hand_over_closed_roots
from shoal.agent.chromium.wire.connection import Session
from shoal.agent.errors import ActionError, BrowserError
from shoal.agent.support.json_value import Json
from shoal.agent.support.page_names import function_by_names

_WORLD = "shoal"
_ANOTHER = "shoal: another document's world"
# Chromium gives the number of a world again, to a frame's, say, once the page went to another process.
_IN_THAT_WORLD = """function (mark, isNew, ...given) {
  const known = Object.getOwnPropertyDescriptor(globalThis, 'shoalWorld')?.value;
  if (isNew ? globalThis !== globalThis.top : known !== mark) throw new Error("ANOTHER");
  if (isNew) Object.defineProperty(globalThis, 'shoalWorld', { value: mark, configurable: true });
  return (FUNCTION).apply(this, given);
}""".replace("ANOTHER", _ANOTHER)
LOST = (
    "Cannot find context",
    "Execution context was destroyed",
    "Inspected target navigated",
    "uniqueContextId not found",
)
"""Messages of Chromium when the document went away under a script."""
_TRIES = 5
_SUSPECTS = "globalThis.shoalPage?.suspects"
_TAKE_ROOTS = "function (...roots) { for (const root of roots) shoalPage.closed.set(root.host, root); }"
_DEEPEST_ROOTS = 5
"""Closed shadow roots within closed shadow roots that are found."""


class IsolatedReader:
    """The isolated world of a page's main frame, made anew for each document at first use."""

    def __init__(self, session: Session, frame: str) -> None:
        self._session = session
        self._frame = frame  # DevTools' id
        self._world: int | None = None
        self._mark = ""  # by which that world is known again
        self._is_new = True  # the mark is not there yet

    def forget_world(self) -> None:
        """The document is another one now: saves asking the world of the old one."""
        self._world = None

    async def read(self, script: str, arg: Json = None) -> Json:
        """Return what the function `script` returns for `arg`, which of a page has closed shadow trees in it.

        Raises:
            ActionError: the script threw, or gave what JSON cannot express.
        """
        for _ in range(_DEEPEST_ROOTS):
            answer = await self._read(script, arg)
            if not (isinstance(answer, dict) and answer.get("suspects") and await self._hand_over_roots()):
                break
        return answer

    async def _hand_over_roots(self) -> bool:
        """Hands the closed shadow roots of the document over to `page_tree.js`; True where it is to be asked again."""
        group = uuid.uuid4().hex
        try:
            world = await self._isolated_world()
            asked = {"expression": _SUSPECTS, "contextId": world, "objectGroup": group}
            suspects = (await self._session.send("Runtime.evaluate", asked))["result"].get("objectId")
            if suspects is None:
                return True  # another document's world: that one is read
            try:
                return await hand_over_closed_roots(self._session, suspects, world, group, _TAKE_ROOTS)
            finally:
                await self._session.send("Runtime.releaseObjectGroup", {"objectGroup": group})
        except PlaywrightError:
            return True  # an element or the document went away meanwhile: the page is asked again, and tells of it

    async def _read(self, script: str, arg: Json) -> Json:
        asked = _IN_THAT_WORLD.replace("FUNCTION", function_by_names(script))
        for attempt in range(_TRIES):
            try:
                answer = await self._session.send(
                    "Runtime.callFunctionOn",
                    {
                        "functionDeclaration": asked,
                        "executionContextId": await self._isolated_world(),
                        "arguments": [{"value": self._mark}, {"value": self._is_new}, {"value": arg}],
                        "returnByValue": True,
                        "awaitPromise": True,
                    },
                )
            except PlaywrightError as error:
                if attempt + 1 == _TRIES or not any(saying in error.message for saying in LOST):
                    self.forget_world()
                    raise
            else:
                if not _is_of_another(answer):
                    self._is_new = False
                    return _value(answer)
            # The page navigated in between: the same question to its new document.
            self.forget_world()
        raise BrowserError("the page went on again and again while it was read")

    async def _isolated_world(self) -> int:
        if self._world is None:
            self._mark, self._is_new = uuid.uuid4().hex, True
            asked = {"frameId": self._frame, "worldName": _WORLD}
            self._world = int((await self._session.send("Page.createIsolatedWorld", asked))["executionContextId"])
        return self._world


def _is_of_another(answer: dict[str, Any]) -> bool:
    return _ANOTHER in str(answer.get("exceptionDetails", {}).get("exception", {}).get("description", ""))


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
