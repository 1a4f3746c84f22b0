"""Requests of a session as entries of a HAR file, without what may be a secret."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from urllib.parse import unquote_plus

from shoal.agent.redaction.masking import HIDDEN, Hide, redacted_address
from shoal.agent.support.json_value import Json

_SHOWN = frozenset(
    (
        *("accept", "accept-encoding", "accept-language", "accept-ranges", "age", "allow", "alt-svc", "cache-control"),
        *("connection", "content-disposition", "content-encoding", "content-language", "content-length"),
        *("content-range", "content-security-policy", "content-type", "date", "expires", "host"),
        *("if-modified-since", "last-modified", "origin", "pragma", "priority", "range", "referrer-policy"),
        *("retry-after", "server", "server-timing", "strict-transport-security", "te", "trailer", "transfer-encoding"),
        *("upgrade", "upgrade-insecure-requests", "user-agent", "vary", "via", "x-content-type-options"),
        *("x-frame-options", "x-robots-tag"),
    )
)
"""Headers whose values say nothing about a visitor. Of all others only the name is kept."""
_SHOWN_BEGIN = ("access-control-", "sec-ch-", "sec-fetch-")
_ADDRESSES = frozenset({"location", "content-location", "referer"})
_DRAWN = ("image/", "font/", "text/css")
"""Bodies that a picture of a page is drawn from; others are left out."""
_KEPT = ("startedDateTime", "time", "serverIPAddress", "pageref", "_frameref", "_monotonicTime", "_resourceType")


def redacted_request(entry: Mapping[str, Json], hide: Hide) -> dict[str, Json]:
    """One entry of Playwright's network log as it may leave the worker.

    The body stays named (`_file`) where a page is drawn with it.
    """
    request, response = _mapping(entry.get("request")), _mapping(entry.get("response"))
    content = _mapping(response.get("content"))
    mime = str(content.get("mimeType", ""))
    drawn = {"_file": content["_file"]} if mime.startswith(_DRAWN) and isinstance(content.get("_file"), str) else {}
    failure = {"_failureText": hide(str(response["_failureText"]))} if response.get("_failureText") else {}
    address = redacted_address(str(request.get("url", "")), hide)
    return {
        **{name: entry[name] for name in _KEPT if name in entry},
        "request": {
            "method": str(request.get("method", "")),
            "url": address,
            "httpVersion": str(request.get("httpVersion", "")),
            "cookies": [],
            "headers": _headers(request.get("headers"), hide),
            "queryString": _query(address),
            "headersSize": request.get("headersSize", -1),
            "bodySize": request.get("bodySize", -1),
        },
        "response": {
            "status": response.get("status", -1),
            "statusText": hide(str(response.get("statusText", ""))),
            "httpVersion": str(response.get("httpVersion", "")),
            "cookies": [],
            "headers": _headers(response.get("headers"), hide),
            "content": {"size": content.get("size", -1), "mimeType": mime, **drawn},
            "headersSize": response.get("headersSize", -1),
            "bodySize": response.get("bodySize", -1),
            "redirectURL": redacted_address(str(response.get("redirectURL", "")), hide),
            **failure,
        },
        "cache": {},
        "timings": _mapping(entry.get("timings")),
    }


def har(entries: Iterable[Mapping[str, Json]]) -> bytes:
    """A HAR 1.2 file of requests that `redacted_request` gave."""
    log = {
        "version": "1.2",
        "creator": {"name": "Shoal", "version": version("shoal")},
        "pages": [],
        "entries": [_standing_alone(entry) for entry in entries],
    }
    return json.dumps({"log": log}, ensure_ascii=False).encode("utf-8", "replace")


def _standing_alone(entry: Mapping[str, Json]) -> dict[str, Json]:
    """An entry that names no page and no file of a trace."""
    response = entry["response"]
    content = {name: value for name, value in response["content"].items() if name != "_file"}
    kept = {name: value for name, value in entry.items() if not name.startswith("_") and name != "pageref"}
    return {**kept, "response": {**response, "content": content}}


def _headers(headers: Json, hide: Hide) -> list[dict[str, str]]:
    given = [header for header in (headers if isinstance(headers, list) else ()) if isinstance(header, Mapping)]
    return [{"name": hide(str(header.get("name", ""))), "value": _header(header, hide)} for header in given]


def _header(header: Mapping[str, Json], hide: Hide) -> str:
    name, value = str(header.get("name", "")).lower(), str(header.get("value", ""))
    if name in _ADDRESSES:
        return redacted_address(value, hide)
    return hide(value) if name in _SHOWN or name.startswith(_SHOWN_BEGIN) else HIDDEN


def _query(address: str) -> list[dict[str, str]]:
    """The parameters of an address that was told already."""
    query = address.partition("#")[0].partition("?")[2]
    pairs = [part.partition("=") for part in query.split("&") if part]
    return [{"name": unquote_plus(name), "value": unquote_plus(value)} for name, _, value in pairs]


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}
