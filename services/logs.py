"""Logs: named events with one context record each, as JSON lines or for a person's eyes.

`log = structlog.get_logger(__name__)`, then `log.info(LogEvent.WORKER_STARTED, worker=name)`. Readers match on the
event's name, never on words.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, TextIO

import structlog

Format = Literal["auto", "console", "json"]

# Without local variables: they hold callers' data and secrets.
_TRACEBACKS = structlog.processors.ExceptionRenderer(structlog.tracebacks.ExceptionDictTransformer(show_locals=False))


def set_up(level: str = "info", form: Format = "auto", *, stream: TextIO | None = None) -> None:
    """Sends this process's log lines, ours and the libraries', to `stream` (stderr), from `level` on.

    Standard output stays free: it carries records.
    """
    target = stream or sys.stderr
    threshold = logging.getLevelNamesMapping()[level.upper()]
    as_json = form == "json" or (form == "auto" and not target.isatty())
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last: list[structlog.typing.Processor] = (
        [_TRACEBACKS, structlog.processors.JSONRenderer()]
        if as_json
        else [structlog.dev.ConsoleRenderer(colors=target.isatty(), exception_formatter=structlog.dev.plain_traceback)]
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(target)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(threshold)
    # These tell of every request or query at info; our own lines say what matters.
    for noisy in ("httpx", "httpcore", "uvicorn.access", "uvicorn.error", "botocore", "alembic", "sse_starlette"):
        logging.getLogger(noisy).setLevel(max(threshold, logging.WARNING))


def set_up_as_library() -> None:
    """Sends our warnings to the program's own logging, where nothing else was set up; a program that uses Shoal as a
    library decides about its logs itself, and its standard output is its own."""
    if not structlog.is_configured():
        structlog.configure(
            processors=[structlog.stdlib.add_log_level, _TRACEBACKS, structlog.processors.JSONRenderer()],
            wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
            logger_factory=structlog.stdlib.LoggerFactory(),
            cache_logger_on_first_use=False,
        )


@contextmanager
def through_stderr() -> Iterator[None]:
    """Sends log lines to what `sys.stderr` is now, for as long as the context lasts.

    What draws on the terminal stands there then, and has to know of every line that is not its own.
    """
    handlers = [logged_by for logged_by in logging.getLogger().handlers if isinstance(logged_by, logging.StreamHandler)]
    before = [(logged_by, logged_by.setStream(sys.stderr)) for logged_by in handlers]
    try:
        yield
    finally:
        for handler, stream in before:
            if stream is not None:
                handler.setStream(stream)
