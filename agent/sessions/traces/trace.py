"""Playwright's trace of a session as it may be stored: rewritten, since nothing in it is known to be harmless.

What is not listed here is left out, so that a later version of Playwright cannot bring secrets in. Left out too are
results of calls, their logs, and their arguments but a few; sources and stacks, which tell of the machine; bodies of
requests; and bodies of answers that no page is drawn from. Pictures stay as they are, as screenshots do; drawings (SVG)
lose what could run.
"""

from __future__ import annotations

import codecs
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from shoal.agent.errors import TraceRefused
from shoal.agent.redaction.masking import Hide, redacted_address
from shoal.agent.sessions.traces.drawing import redacted_drawing
from shoal.agent.sessions.traces.requests import redacted_request
from shoal.agent.sessions.traces.snapshot import redacted_snapshot
from shoal.agent.support.json_value import Json

MOST_BYTES = 100_000_000
"""Of a trace, unpacked."""

_KNOWN_VERSION = 10
"""Of Playwright's format. What another one has in which place is not known, so it is refused."""

_PARAMS = frozenset(
    (
        *("selector", "url", "timeout", "waitUntil", "state", "x", "y", "deltaX", "deltaY", "button", "clickCount"),
        *("strict", "force", "steps", "position", "modifiers", "noWaitAfter", "trial", "type", "quality", "fullPage"),
    )
)
"""Arguments of calls that hold nothing that a person or a job may have given as a secret."""
_CONTEXT = (
    *("version", "type", "origin", "browserName", "playwrightVersion", "platform", "wallTime"),
    *("monotonicTime", "sdkLanguage", "testIdAttributeName"),
)
_OPTIONS = ("viewport", "deviceScaleFactor", "isMobile", "userAgent")
"""Of a context. Others are a proxy's password, headers, and what is stored of sites."""
_SHOWN: Mapping[str, tuple[str, ...]] = {
    "context-options": _CONTEXT,
    "before": ("type", "callId", "startTime", "class", "method", "pageId", "parentId"),
    "input": ("type", "callId", "point", "box"),
    "after": ("type", "callId", "endTime", "point"),
    "console": ("type", "messageType", "time", "pageId"),
    "event": ("type", "time", "class", "method", "pageId"),
    "screencast-frame": ("type", "pageId", "file", "width", "height", "timestamp", "frameSwapWallTime"),
    "frame-snapshot": ("type",),
}
_BYTE_ORDER_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""Of texts. No picture and no font begins with one, so what does is taken as markup."""
_OF_PAGES = frozenset({"page", "pageClosed", "dialog", "download", "pageError"})


@dataclass(frozen=True, slots=True)
class RedactedTrace:
    """The part of a trace that is kept."""

    trace: bytes  # a zip that Playwright's viewer opens
    requests: tuple[Mapping[str, Json], ...]  # entries of a HAR file


def redacted_trace(path: str, hide: Hide) -> RedactedTrace:
    """The trace that Playwright wrote to the file `path`, as it may leave the worker.

    Raises:
        TraceRefused: it has more than `MOST_BYTES`, or is of a format that is not known.
    """
    with zipfile.ZipFile(path) as given:
        if lacking := {"trace.trace", "trace.network"} - set(given.namelist()):
            raise TraceRefused(f"the trace lacks {', '.join(sorted(lacking))}")
        size = sum(entry.file_size for entry in given.infolist())
        if size > MOST_BYTES:
            raise TraceRefused(f"the trace has {size:,} bytes; {MOST_BYTES:,} are kept at most")
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as kept:
            names: set[str] = set()
            with kept.open("trace.trace", "w") as out:
                for event in _redacted_events(given, hide):
                    names |= _files_of(event)
                    out.write(_line(event))
            requests = tuple(_redacted_requests(given, hide))
            with kept.open("trace.network", "w") as out:
                for request in requests:
                    names |= {request["response"]["content"].get("_file", "")}
                    out.write(_line({"type": "resource-snapshot", "snapshot": request}))
            for name in sorted(names.intersection(given.namelist())):
                if (body := _body(name, given.read(name), hide)) is not None:
                    kept.writestr(name, body)
    return RedactedTrace(made.getvalue(), requests)


def _redacted_events(given: zipfile.ZipFile, hide: Hide) -> Iterator[dict[str, Json]]:
    known = False
    for event in _lines(given, "trace.trace"):
        known = known or event.get("type") == "context-options"
        if not known:
            raise TraceRefused("the trace does not begin with its format")
        if (redacted := _event(event, hide)) is not None:
            yield redacted


def _redacted_requests(given: zipfile.ZipFile, hide: Hide) -> Iterator[dict[str, Json]]:
    for event in _lines(given, "trace.network"):
        if event.get("type") == "resource-snapshot" and isinstance(event.get("snapshot"), Mapping):
            yield redacted_request(event["snapshot"], hide)


def _lines(given: zipfile.ZipFile, name: str) -> Iterator[Mapping[str, Json]]:
    """The events of one file; one that is nested too deeply, or cannot be read, is left out."""
    with given.open(name) as lines:
        for line in lines:
            try:
                event = json.loads(line) if line.strip() else None
            except (RecursionError, ValueError):  # half a line, say, or a number that is too long
                continue
            if isinstance(event, dict):
                yield event


def _event(event: Mapping[str, Json], hide: Hide) -> dict[str, Json] | None:
    """One event as it may be kept; None where it may not."""
    kind = str(event.get("type"))
    if kind == "context-options" and event.get("version") != _KNOWN_VERSION:
        raise TraceRefused(f"this trace has format {event.get('version')!r}, and {_KNOWN_VERSION} is known")
    if kind not in _SHOWN:
        return None
    redacted = {name: event[name] for name in _SHOWN[kind] if name in event}
    if kind == "context-options":
        options = event.get("options")
        redacted["options"] = {
            name: options[name] for name in _OPTIONS if isinstance(options, Mapping) and name in options
        }
    elif kind == "before":
        redacted["params"] = _params(event.get("params"), hide)
    elif kind == "after" and isinstance(error := event.get("error"), Mapping):
        # The lines below the first one are the log of the call, with what it typed.
        message = str(error.get("message", "")).partition("\n")[0]
        redacted["error"] = {"name": hide(str(error.get("name", "Error"))), "message": hide(message)}
    elif kind == "console":
        redacted |= {"text": hide(str(event.get("text", ""))), "location": _location(event.get("location"), hide)}
    elif kind == "event":
        if event.get("method") not in _OF_PAGES:
            return None
        redacted["params"] = _of_page(event.get("params"), hide)
    elif kind == "frame-snapshot":
        if not isinstance(snapshot := event.get("snapshot"), Mapping):
            return None
        try:
            redacted["snapshot"] = redacted_snapshot(snapshot, hide)
        except RecursionError:
            return None
    return redacted


def _params(params: Json, hide: Hide) -> dict[str, Json]:
    if not isinstance(params, Mapping):
        return {}
    redacted = {name: value for name, value in params.items() if name in _PARAMS}
    redacted |= {name: hide(value) for name, value in redacted.items() if isinstance(value, str)}
    return redacted | ({"url": redacted_address(str(params["url"]), hide)} if "url" in params else {})


def _location(location: Json, hide: Hide) -> dict[str, Json]:
    if not isinstance(location, Mapping):
        return {}
    shown = {name: location[name] for name in ("lineNumber", "columnNumber", "line", "column") if name in location}
    return {"url": redacted_address(str(location.get("url", "")), hide), **shown}


def _of_page(params: Json, hide: Hide) -> dict[str, Json]:
    """Return what a page did by itself."""
    if not isinstance(params, Mapping):
        return {}
    names = ("pageId", "openerPageId", "type", "message", "suggestedFilename")
    redacted: dict[str, Json] = {name: hide(str(params[name])) for name in names if params.get(name)}
    if "url" in params:
        redacted["url"] = redacted_address(str(params["url"]), hide)
    if isinstance(outer := params.get("error"), Mapping):
        inner = outer.get("error")
        error = inner if isinstance(inner, Mapping) else outer
        redacted["error"] = {"error": {name: hide(str(error[name])) for name in ("name", "message") if name in error}}
        redacted["location"] = _location(params.get("location"), hide)
    return redacted


def _files_of(event: Mapping[str, Json]) -> set[str]:
    """The files that an event refers to."""
    named = [event.get("file")] if event["type"] == "screencast-frame" else []
    if event["type"] == "frame-snapshot":
        named = [override.get("file") for override in event["snapshot"]["resourceOverrides"]]
    return {name for name in named if isinstance(name, str)}


def _body(name: str, data: bytes, hide: Hide) -> bytes | None:
    """A file as it may be kept; None: it may not. Style sheets and drawings are texts; other markup is no picture."""
    if name.endswith(".svg") or data.startswith(_BYTE_ORDER_MARKS) or data.lstrip().startswith(b"<"):
        drawing = redacted_drawing(data)
        return None if drawing is None else hide(drawing.decode()).encode()
    if not name.endswith((".css", ".dat", ".txt")):
        return data
    return hide(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _line(event: Mapping[str, Json]) -> bytes:
    return f"{json.dumps(event, ensure_ascii=False)}\n".encode("utf-8", "replace")
