"""Options that several commands share, and reading what they name."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from shoal.agent.support.json_value import Json
from shoal.services.cli.ending import BadUsage

Gateway = Annotated[
    str, typer.Option("--gateway", metavar="URL", help="The gateway to talk to; default: SHOAL_GATEWAY.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON instead of text for people.")]
JobArgument = Annotated[str, typer.Argument(metavar="JOB", help="Id of the job, such as j12.")]


def json_from(option: str, text: str) -> Json:
    """The JSON that an option gives: a file's, or the text itself where it is JSON. `-` reads standard input.

    Raises:
        Usage: it is neither.
    """
    inline = text.lstrip().startswith(("{", "[", '"'))
    source = text if inline else _read(option, text, "JSON, a file that holds it")
    try:
        return json.loads(source, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise BadUsage(f"{option}: not valid JSON: {error}") from error


def lines_from(option: str, text: str) -> list[str]:
    """The values that an option gives: a JSON array, or the lines of a file (`-`: of standard input).

    Raises:
        Usage: there are none, or they are no texts.
    """
    if text.lstrip().startswith("["):
        values = json_from(option, text)
        if not all(isinstance(value, str) for value in values):
            raise BadUsage(f"{option}: the values must be texts")
    else:
        values = [
            line.strip()
            for line in _read(option, text, "a JSON array, a file with a value in each line").splitlines()
            if line.strip()
        ]
    if not values:
        raise BadUsage(f"{option}: there are no values")
    return list(values)


def pairs_from(option: str, texts: list[str]) -> dict[str, str]:
    """`name=value` options as a mapping.

    Raises:
        Usage: one has no equals sign.
    """
    pairs = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise BadUsage(f"{option}: write NAME=VALUE, not {text!r}")
        pairs[name] = value
    return pairs


def _read(option: str, name: str, takes: str) -> str:
    """Return what a file holds, or standard input for `-`,
    without the mark that Windows programs begin files with.

    Raises:
        BadUsage: it cannot be read; told with what the option `takes`.
    """
    try:
        return (sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")).removeprefix("\ufeff")
    except (OSError, UnicodeDecodeError) as error:
        why = _why(error)
        raise BadUsage(f"{option}: cannot read {name}: {why}; give {takes}, or - for standard input") from error


def _no_number(text: str) -> Json:
    raise ValueError(f"{text} is no number of JSON")


def _why(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8 text"
