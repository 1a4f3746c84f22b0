"""Starting a Chromium."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import ProxySettings

from shoal.agent.browser import Browser
from shoal.agent.chromium.chromium_browser import ChromiumBrowser
from shoal.agent.chromium.faults import first_line
from shoal.agent.chromium.process.driver import Driver, acquire_driver
from shoal.agent.chromium.process.environment import browser_environment
from shoal.agent.chromium.process.find import find_chromium
from shoal.agent.chromium.process.pipe_handover import PipeHandover
from shoal.agent.chromium.process.process_tree import ProcessTree
from shoal.agent.chromium.process.sandbox import sandbox_works
from shoal.agent.chromium.process.starter import Starter, plain_starter, starter
from shoal.agent.chromium.wire.shared_pipe import SharedPipe
from shoal.agent.errors import BrowserError, BrowserNotFound
from shoal.agent.spec import Viewport
from shoal.agent.support.busy import longer_s

_FLAGS = (
    "--disable-quic",  # proxies and address checks see TCP only
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_NO_SANDBOX_HINT = "sandbox"


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """Options for the start of a Chromium."""

    executable: str | None = None  # path or command; None: found
    sandbox: Literal["auto", "yes", "no"] = "auto"  # auto: off only where the system denies it
    headless: bool = True
    proxy: str | None = None  # "http://host:port" that all of this browser's requests go through
    proxy_bypass: str | None = None  # hosts that are reached without the proxy, comma-separated
    temp_dir: str | None = None  # downloads and traces in the making land below it; None: the system's
    window: Viewport = Viewport()  # contexts that want this size need no emulation
    args: tuple[str, ...] = ()  # further command-line flags
    fenced: bool = False  # it reads no files but the system's and its own, where the kernel can keep it from others
    timeout_s: float = 30.0  # until the browser must answer; longer on a busy machine
    playwright: Mapping[str, Any] = field(default_factory=dict)  # further options of Playwright's own launch


async def launch(options: LaunchOptions = LaunchOptions()) -> Browser:
    """A new Chromium process; the caller closes it.

    Raises:
        BrowserNotFound: there is no such program.
        BrowserError: it did not start.
    """
    executable = find_chromium(options.executable)
    sandbox = options.sandbox == "yes" or (options.sandbox == "auto" and sandbox_works(executable))
    mark = f"--shoal-browser={secrets.token_hex(8)}"
    driver = await acquire_driver()
    temp, limit_s = _temp_folder(options.temp_dir), longer_s(options.timeout_s)
    sharing: asyncio.Task[SharedPipe] | None = None
    try:
        handover = PipeHandover(temp)
        sharing = asyncio.create_task(handover.shared(), name="share-pipe")
        program = await asyncio.to_thread(_starter, executable, temp, options, sandbox)
        further = dict(options.playwright)
        environment = {**browser_environment(), **further.pop("env", {})}
        async with asyncio.timeout(limit_s + 5):
            settings: dict[str, Any] = {
                "executable_path": program.program,
                "headless": options.headless,
                "chromium_sandbox": sandbox,
                "args": [*_FLAGS, mark, f"--window-size={options.window.width},{options.window.height}", *options.args],
                "proxy": _proxy(options),
                "artifacts_dir": temp,
                "env": {**environment, **program.with_pipe(handover.path).environment},
                "timeout": limit_s * 1000,
                # Ray and the command line end browsers themselves, in order; a handler here would race with them.
                "handle_sigint": False,
                "handle_sigterm": False,
                "handle_sighup": False,
            }
            browser = await driver.playwright.chromium.launch(**{**settings, **further})
            pipe = await sharing
    except (PlaywrightError, TimeoutError, OSError) as error:
        await _undo(driver, mark, temp, sharing)
        raise _launch_error(error, executable, options, limit_s) from error
    except BaseException:  # canceled: what was begun must not outlive those who asked for it
        await _undo(driver, mark, temp, sharing)
        raise
    processes = await asyncio.to_thread(ProcessTree.marked, mark)
    return ChromiumBrowser(browser, pipe, driver, processes, temp=temp, window=options.window)


async def _undo(driver: Driver, mark: str, temp: Path, sharing: asyncio.Task[SharedPipe] | None) -> None:
    """Ends a launch that came to nothing."""
    if sharing is not None:
        sharing.cancel()
        await asyncio.wait([sharing])
        if not sharing.cancelled() and sharing.exception() is None:
            sharing.result().close()
    begun = await asyncio.to_thread(ProcessTree.marked, mark)
    await asyncio.to_thread(begun.end, [])
    await driver.release()
    await asyncio.to_thread(shutil.rmtree, temp, True)


def _temp_folder(parent: str | None) -> Path:
    """A fresh folder for one browser."""
    if parent:
        Path(parent).mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix="shoal-browser-", dir=parent))


def _starter(executable: Path, temp: Path, options: LaunchOptions, sandbox: bool) -> Starter:
    """Return what starts the browser, so that it reads no other files than it may where something can keep it from
    them.

    Raises:
        NoStarter: no program may be run here that does it.
    """
    fence = starter(executable, temp, sandbox=sandbox) if options.fenced else None
    return fence if isinstance(fence, Starter) else plain_starter(executable, temp)


def _proxy(options: LaunchOptions) -> ProxySettings | None:
    if options.proxy is None:
        return None
    settings: ProxySettings = {"server": options.proxy}
    if options.proxy_bypass is not None:
        settings["bypass"] = options.proxy_bypass
    return settings


def _launch_error(error: Exception, executable: Path, options: LaunchOptions, limit_s: float) -> BrowserError:
    if isinstance(error, TimeoutError):
        return BrowserError(f"{executable} did not answer within {limit_s:.0f} s")
    if not isinstance(error, PlaywrightError):
        return BrowserError(f"{executable} did not start: {error}")
    if "ENOENT" in error.message or "doesn't exist" in error.message:
        return BrowserNotFound(f"{executable} is not there any more")
    if _NO_SANDBOX_HINT in error.message.lower() and options.sandbox == "yes":
        return BrowserError(f"{executable} cannot use its sandbox here; allow user namespaces, or set sandbox to auto")
    return BrowserError(f"{executable} did not start: {first_line(error)}")
