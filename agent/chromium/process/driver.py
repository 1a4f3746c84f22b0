"""Playwright's driver process, shared by all browsers of one event loop."""

from __future__ import annotations

import asyncio
import contextlib
from weakref import WeakKeyDictionary

from playwright._impl import _driver, transport
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Playwright, async_playwright

from shoal.agent.chromium.process.environment import browser_environment

_STOP_S = 5.0
"""The driver is asked once to end; with its pipe closed it ends by itself."""

_OF_PLAYWRIGHT = ("PW_LANG_NAME", "PW_LANG_NAME_VERSION", "PW_CLI_DISPLAY_VERSION")
"""Variables by which Playwright tells its driver who speaks to it."""

ENGINE = "shoal"
"""Name of our selector engine: "shoal=12" is the element that the walker gave the number 12."""

# Asks the walker, which lives in the same isolated world. Playwright may load this into pages' own worlds as well,
# where it does nothing until it is asked, and it is never asked there.
_ENGINE_SOURCE = """({
  queryAll(root, selector) {
    const walker = Object.getOwnPropertyDescriptor(globalThis, 'shoalWalker')?.value;
    const element = walker?.select(selector);
    return element ? [element] : [];
  }
})"""


class Driver:
    """One Node.js process that speaks to browsers; counted, so that the last browser ends it."""

    def __init__(self, playwright: Playwright) -> None:
        self.playwright = playwright
        self.users = 0
        self._engine: asyncio.Task[None] | None = None

    async def register_engine(self) -> None:
        """Teaches Playwright to find elements by our ids; done once, before the first action on an element."""
        if self._engine is None:
            register = self.playwright.selectors.register
            self._engine = asyncio.ensure_future(register(ENGINE, _ENGINE_SOURCE, content_script=True))
        await asyncio.shield(self._engine)

    async def release(self) -> None:
        """Says that one browser needs it no longer."""
        self.users -= 1
        if self.users > 0:
            return
        loop = asyncio.get_running_loop()
        if _drivers.get(loop) is self:
            del _drivers[loop]
        with contextlib.suppress(PlaywrightError, TimeoutError, OSError):
            async with asyncio.timeout(_STOP_S):
                await self.playwright.stop()


_drivers: WeakKeyDictionary[asyncio.AbstractEventLoop, Driver] = WeakKeyDictionary()
_starting: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


async def acquire_driver() -> Driver:
    """This event loop's driver, started when there is none; the caller releases it."""
    loop = asyncio.get_running_loop()
    async with _starting.setdefault(loop, asyncio.Lock()):
        driver = _drivers.get(loop)
        if driver is None:
            _restrict_driver()
            driver = _drivers[loop] = Driver(await async_playwright().start())
        driver.users += 1
        return driver


def forget_driver(driver: Driver) -> None:
    """Makes the next browser start a fresh driver, because this one died."""
    loop = asyncio.get_running_loop()
    if _drivers.get(loop) is driver:
        del _drivers[loop]


def _driver_environment() -> dict[str, str]:
    """The driver's environment: a browser's, and what Playwright adds."""
    made = _driver.get_driver_env()
    return {**browser_environment(made), **{name: made[name] for name in _OF_PLAYWRIGHT if name in made}}


def _restrict_driver() -> None:
    """Makes every driver that is started from now on have no more of the environment than a browser has.

    Playwright has no option for it. A Playwright that makes the driver's environment otherwise must not go on with
    all of ours, so its absence raises here.

    Raises:
        RuntimeError: this version of Playwright makes the driver's environment in another place.
    """
    if not hasattr(transport, "get_driver_env"):
        raise RuntimeError("this version of Playwright starts its driver in another way: its environment is unknown")
    transport.get_driver_env = _driver_environment
