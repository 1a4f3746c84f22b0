"""The end of a command: exit codes, and one clear sentence per error."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from enum import IntEnum

from shoal.agent.errors import AgentError, Recourse
from shoal.errors import ApiError, GatewayUnreachable, ShoalError
from shoal.records import Incomplete, IncompleteLists, JobSummary
from shoal.services.errors import BadInput, BadSetting, KeyReused, NotFound, ServiceError, WrongState


class Exit(IntEnum):
    """Exit codes for the shell."""

    DONE = 0
    FAILED = 1
    """The job failed."""
    USAGE = 2
    """The command or the job spec is wrong."""
    ENVIRONMENT = 3
    """Something that the command needs is not there: gateway, key, database, browser."""
    PARTIAL = 4
    """The job completed, and something is known to be missing: items that failed, a part of a list, or all records."""
    INTERRUPTED = 130
    """Ctrl-C ended the command."""


class BadUsage(Exception):
    """The command was called in a way that cannot work; the message says how it can."""


EXPECTED = (BadUsage, ShoalError, ServiceError, AgentError)
"""Errors that end a command with a sentence. Anything else is a bug and shows its traceback."""

_OUR_FAULT = (400, 404, 409, 413, 415)
_USAGE_ERRORS = (BadInput, NotFound, WrongState, KeyReused)


def exit_of(error: Exception) -> Exit:
    """The exit code of an expected error."""
    if isinstance(error, BadUsage) or (isinstance(error, ApiError) and error.status in _OUR_FAULT):
        return Exit.USAGE
    if isinstance(error, _USAGE_ERRORS):
        return Exit.USAGE
    if isinstance(error, AgentError) and error.recourse is not Recourse.CALLER:
        return Exit.FAILED
    return Exit.ENVIRONMENT


def sentences(error: Exception) -> list[str]:
    """Return what a person is told: the error, then a line per fault."""
    if isinstance(error, ApiError):
        lines = [_sentence(error.detail), *_untold(error.detail, [asdict(fault) for fault in error.faults])]
        if error.status == 401:
            lines.append("  Set SHOAL_API_KEY to a key; `shoal keys create` makes one.")
        return lines
    if isinstance(error, GatewayUnreachable):
        return [_sentence(str(error)), "  Is it running? `shoal up` starts one here; --gateway names another."]
    if isinstance(error, BadSetting):
        faults = error.details.get("faults")
        return [_sentence(str(fault)) for fault in faults] if isinstance(faults, list) else [_sentence(str(error))]
    if isinstance(error, BadInput):
        faults = error.details.get("errors")
        return [_sentence(error.message), *_untold(error.message, faults if isinstance(faults, list) else [])]
    return [_sentence(str(error) or type(error).__name__)]


def _untold(sentence: str, faults: Sequence[Mapping[str, str]]) -> list[str]:
    """A line for each fault that the sentence does not tell already; it mostly tells the first."""
    return [f"  {fault['field']}: {fault['reason']}" for fault in faults if fault["reason"] not in sentence]


def _sentence(text: str) -> str:
    word = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if word.isalpha() and word.islower() else text


def job_exit(job: JobSummary) -> Exit:
    """The exit code of a final job: done when it completed, and nothing is known to be missing."""
    if not job.succeeded:
        return Exit.FAILED
    return Exit.PARTIAL if job.partial else Exit.DONE


def incomplete_words(lists: Incomplete | IncompleteLists) -> str:
    """Return what lists lack, in words: "incomplete: 10 of 57"."""
    given, shown = lists.found, lists.shown
    n = lists.lists if isinstance(lists, IncompleteLists) else 1
    what = f"{given:,} of {shown:,}" if shown is not None else f"{given:,} record{'' if given == 1 else 's'}"
    return f"incomplete: {what}" + (f", in {n:,} lists" if n > 1 else "")


def tell(text: str) -> None:
    """A line for the person at the terminal."""
    print(printable(text), file=sys.stderr, flush=True)


_CONTROL = {code: "\ufffd" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"}


def printable(text: str) -> str:
    """`text` without what would steer a terminal: what pages say is told in errors and reasons."""
    return text.translate(_CONTROL)
