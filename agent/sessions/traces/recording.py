"""A recording of a session's pages as it may be stored: rewritten, since nothing in it is known to be harmless.

Only kinds of events that are listed here are kept, and of these only what is listed. Left out are values of fields and
what was chosen, what a canvas showed, what was selected, and all that a replay would load or run.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence

from shoal.agent.browser import RawRecording
from shoal.agent.redaction.masking import HIDDEN, Hide, redacted_address
from shoal.agent.sessions.traces.recorded_nodes import redacted_attributes, redacted_node, redacted_text
from shoal.agent.support.json_value import Json

FORMAT = 1
_FAST = 1
_LOADED, _LOAD, _WHOLE, _CHANGE, _META = range(5)
"""Types of events, as rrweb numbers them."""
_MUTATION, _MOVES, _MOUSE, _SCROLL, _RESIZE, _INPUT, _TOUCHES, _MEDIA, _RULES = range(9)
_DRAGS, _DECLARATION, _ADOPTED = 12, 13, 15
"""Sources of changes."""
_NUMBERS: Mapping[int, tuple[str, ...]] = {
    _MOUSE: ("type", "id", "x", "y", "pointerType"),
    _SCROLL: ("id", "x", "y"),
    _RESIZE: ("width", "height"),
    _MEDIA: ("type", "id", "currentTime", "volume", "muted", "loop", "playbackRate"),
}
_TOO_DEEP = "a part of a page is not recorded, since it is nested too deeply"
_OVER = {
    "bytes": "a page changed so much that the rest of it is not recorded",
    "elements": "a page has so many elements that it is not recorded",
}


def redacted_recording(raw: RawRecording, hide: Hide) -> bytes | None:
    """The recording, packed: {format, tabs: [{events}], lacks: [sentence]}. None where no page was recorded."""
    lacks: dict[str, None] = {}
    tabs = [{"events": events} for batches in raw.tabs if (events := _of_tab(batches, hide, lacks))]
    if raw.full:
        lacks["the session's recording became too large, so that its end is not there"] = None
    if not tabs and not lacks:
        return None
    document = {"format": FORMAT, "tabs": tabs, "lacks": list(lacks)}
    return gzip.compress(json.dumps(document).encode(), compresslevel=_FAST)


def _of_tab(batches: Sequence[str], hide: Hide, lacks: dict[str, None]) -> list[dict[str, Json]]:
    """A tab's events, document by document; what an earlier document told late is left out."""
    events: list[dict[str, Json]] = []
    known: set[str] = set()
    here, drawn, last = "", False, 0
    for batch in batches:
        try:
            message = json.loads(batch)
        except (RecursionError, ValueError):
            lacks[_TOO_DEEP] = None
            continue
        if not isinstance(message, dict):
            continue
        document = str(message.get("document"))
        if document != here:
            if document in known:
                continue
            known.add(document)
            here, drawn = document, False
        if str(message.get("over")) in _OVER:
            lacks[_OVER[str(message["over"])]] = None
        for event in _redacted_events(message.get("events"), hide, lacks):
            drawn = drawn or event["type"] == _WHOLE
            if drawn or event["type"] == _META:
                last = event["timestamp"] = max(last, event["timestamp"])
                events.append(event)
    return events if any(event["type"] == _WHOLE for event in events) else []


def _redacted_events(events: Json, hide: Hide, lacks: dict[str, None]) -> Iterator[dict[str, Json]]:
    for event in events if isinstance(events, list) else ():
        if not isinstance(event, Mapping) or not isinstance(event.get("timestamp"), int):
            continue
        try:
            data = _redacted_data(event, hide)
        except RecursionError:
            lacks[_TOO_DEEP] = None
            continue
        if data is not None:
            yield {"type": event["type"], "data": data, "timestamp": event["timestamp"]}


def _redacted_data(event: Mapping[str, Json], hide: Hide) -> dict[str, Json] | None:
    """Return what an event of the recorder says, as it may be kept; None where the event is left out."""
    kind, data = event.get("type"), event.get("data")
    if kind in (_LOADED, _LOAD):
        return {}
    if not isinstance(data, Mapping):
        return None
    if kind == _META:
        return {"href": redacted_address(str(data.get("href", "")), hide), **_numbers(data, ("width", "height"))}
    if kind == _WHOLE:
        node, offset = redacted_node(data.get("node"), hide), data.get("initialOffset")
        place = _numbers(offset, ("left", "top")) if isinstance(offset, Mapping) else {"left": 0, "top": 0}
        return None if node is None else {"node": node, "initialOffset": place}
    return _redacted_change(data, hide) if kind == _CHANGE else None


def _redacted_change(data: Mapping[str, Json], hide: Hide) -> dict[str, Json] | None:
    source = data.get("source")
    if isinstance(source, int) and source in _NUMBERS:
        return {"source": source, **_numbers(data, _NUMBERS[source])}
    if source == _MUTATION:
        return {"source": source, **_mutation(data, hide)}
    if source in (_MOVES, _TOUCHES, _DRAGS):
        places = [_numbers(place, ("x", "y", "id", "timeOffset")) for place in _mappings(data, "positions")]
        return {"source": source, "positions": places}
    if source == _INPUT:
        text = HIDDEN if data.get("text") else ""
        return {"source": source, **_numbers(data, ("id",)), "text": text, "isChecked": False}
    if source in (_RULES, _ADOPTED):
        return {"source": source, **_styles(data, hide)}
    return None


def _mutation(data: Mapping[str, Json], hide: Hide) -> dict[str, Json]:
    adds = []
    for add in _mappings(data, "adds"):
        node = redacted_node(add.get("node"), hide)
        if node is not None:
            places = {name: add.get(name) for name in ("parentId", "nextId", "previousId")}
            adds.append({**{n: v if isinstance(v, int) else None for n, v in places.items()}, "node": node})
    redacted: dict[str, Json] = {
        "texts": [
            {**_numbers(text, ("id",)), "value": redacted_text(str(text.get("value") or ""), hide)}
            for text in _mappings(data, "texts")
        ],
        "attributes": [
            {**_numbers(change, ("id",)), "attributes": redacted_attributes(change["attributes"], hide)}
            for change in _mappings(data, "attributes")
            if isinstance(change.get("attributes"), Mapping)
        ],
        "removes": [
            _numbers(remove, ("parentId", "id")) | ({"isShadow": True} if remove.get("isShadow") is True else {})
            for remove in _mappings(data, "removes")
        ],
        "adds": adds,
    }
    return redacted | ({"isAttachIframe": True} if data.get("isAttachIframe") is True else {})


def _styles(data: Mapping[str, Json], hide: Hide) -> dict[str, Json]:
    """Rules that were put into a style sheet, or taken out of it, and sheets that scripts made."""
    redacted = _numbers(data, ("id", "styleId"))
    if isinstance(ids := data.get("styleIds"), list):
        redacted["styleIds"] = [number for number in ids if isinstance(number, int)]
    if "styles" in data:
        redacted["styles"] = [
            {**_numbers(sheet, ("styleId",)), "rules": _redacted_rules(sheet, "rules", hide)}
            for sheet in _mappings(data, "styles")
        ]
    for name in ("adds", "removes"):
        if name in data:
            redacted[name] = _redacted_rules(data, name, hide)
    return redacted


def _redacted_rules(data: Mapping[str, Json], name: str, hide: Hide) -> list[dict[str, Json]]:
    rules = []
    for rule in _mappings(data, name):
        text = {"rule": redacted_text(rule["rule"], hide, style=True)} if isinstance(rule.get("rule"), str) else {}
        index = rule.get("index")
        whole = isinstance(index, list) and all(isinstance(part, int) for part in index)
        rules.append({**text, **({"index": index} if whole or isinstance(index, int) else {})})
    return rules


def _numbers(data: Mapping[str, Json], names: Sequence[str]) -> dict[str, Json]:
    """The numbers of these names, and nothing else: a text may hold anything."""
    return {name: data[name] for name in names if isinstance(data.get(name), int | float)}


def _mappings(data: Mapping[str, Json], name: str) -> list[Mapping[str, Json]]:
    parts = data.get(name)
    return [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []
