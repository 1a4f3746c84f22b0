"""Running coroutines from commands: errors become sentences, Ctrl-C and its like a cancellation that cleans up."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from typing import Any

import typer

from shoal.services.cli import heavy
from shoal.services.cli.ending import EXPECTED, Exit, exit_of, sentences, tell
from shoal.services.settings import Settings, load_settings


def settings_of_process(*, serves: bool = False, **overrides: object) -> Settings:
    """The settings, with logs set up as they say.

    A command that does one thing for a person tells it in sentences, so its log begins at warnings unless somebody
    asked for more; one that `serves` logs as servers do.
    """
    settings = load_settings(**overrides)
    asked = serves or "log_level" in settings.model_fields_set
    heavy.set_up_logs(settings.log_level if asked else "warning", settings.log_format)
    return settings


_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, an orchestrator, and a terminal that was closed: all of them ask a command to end in order."""


def finish(work: Coroutine[Any, Any, Exit | None], *, serves: bool = False) -> None:
    """Runs `work` to its end and ends the command with its exit code.

    A command that `serves` runs until it is asked to end: when it is, at whatever moment, its exit code is 0. Any other
    that Ctrl-C ends says so, with an exit code of its own.
    """
    asked: list[int] = []
    try:
        code = asyncio.run(_until_signal(work, asked))
    except EXPECTED as error:
        exit_ = ended(error)
        raise (typer.Exit(Exit.DONE) if serves and asked else exit_) from None
    except (KeyboardInterrupt, asyncio.CancelledError):
        code = Exit.DONE if serves and asked else Exit.FAILED
    except BrokenPipeError:
        # The reader of our output (`| head`) has seen enough. Python would complain once more when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(Exit.DONE) from None
    if signal.SIGINT in asked and not serves:
        tell("interrupted")
        raise typer.Exit(Exit.INTERRUPTED)
    raise typer.Exit(code or Exit.DONE)


def ended(error: Exception) -> typer.Exit:
    """Tells an expected error, and gives the exit that goes with it."""
    for line in sentences(error):
        tell(line)
    return typer.Exit(exit_of(error))


async def _until_signal(work: Coroutine[Any, Any, Exit | None], asked: list[int]) -> Exit | None:
    """`work`, canceled by the first signal that asks it to end, which is noted; further ones hurry it."""
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()

    def end(number: int) -> None:
        asked.append(number)
        task.cancel()

    # `nohup` has SIGHUP ignored on purpose. A script's shell has SIGINT ignored for any command in the background.
    nohup = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    heeded = [number for number in _ENDING if not (nohup and number == signal.SIGHUP)]
    for number in heeded:
        loop.add_signal_handler(number, end, number)
    try:
        return await task
    finally:
        for number in heeded:
            loop.remove_signal_handler(number)
            if asked:  # it has ended in order; to be asked again must not change how
                signal.signal(number, signal.SIG_IGN)
