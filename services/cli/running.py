"""Running coroutines from commands: errors become sentences, Ctrl-C becomes a cancellation that cleans up."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from typing import Any

import typer

from services import logs
from services.cli.ending import EXPECTED, Exit, exit_of, sentences, tell
from services.settings import Settings, load_settings


def settings_of_process(*, serves: bool = False, **overrides: object) -> Settings:
    """The settings, with logs set up as they say.

    A command that does one thing for a person tells it in sentences, so its log begins at warnings unless somebody
    asked for more; one that `serves` logs as servers do.
    """
    settings = load_settings(**overrides)
    asked = serves or "log_level" in settings.model_fields_set
    logs.set_up(settings.log_level if asked else "warning", settings.log_format)
    return settings


def finish(work: Coroutine[Any, Any, Exit | None]) -> None:
    """Runs `work` to its end and ends the command with its exit code."""
    try:
        code = asyncio.run(_until_signal(work))
    except EXPECTED as error:
        raise ended(error) from None
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise typer.Exit(Exit.FAILED) from None
    except BrokenPipeError:
        # The reader of our output (`| head`) has seen enough. Python would complain once more when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(Exit.DONE) from None
    raise typer.Exit(code or Exit.DONE)


def ended(error: Exception) -> typer.Exit:
    """Tells an expected error, and gives the exit that goes with it."""
    for line in sentences(error):
        tell(line)
    return typer.Exit(exit_of(error))


async def _until_signal(work: Coroutine[Any, Any, Exit | None]) -> Exit | None:
    """`work`, canceled by the first SIGINT or SIGTERM."""
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    try:
        return await task
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
