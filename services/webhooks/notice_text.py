"""Notices in words: what people are told, as a letter or in a channel of a chat. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from shoal.agent.support.json_value import Json

_MOST_LINES = 20
"""A notice that holds more events tells of the last ones, and how many there were."""
_CHAT_CHARS = 1_900
"""Discord takes 2,000 characters of a message."""
_NAME_CHARS = 80
_BRACKET = re.compile(r"[\[\]\\]")
"""Signs that a link with words of its own is made of, in Discord's Markdown, and the one that would take the backslash
away.
"""

_VERBS = {
    "job.finished": "ended",
    "job.failed": "failed, whole or in part",
    "job.degraded": "is unlike its earlier runs",
    "records.changed": "has other records than the last good run",
    "session.waiting": "waits for a person",
    "session.unsure": "has sessions that ended unsure: a person has to say what became of them",
    "sink.failed": "could not hand its records to a sink",
}
_CHANGES = ("appeared", "went", "changed", "unclear")
_COUNTED = ("completed", "failed", "terminated", "unsure", "canceled")


@dataclass(frozen=True, slots=True)
class NoticeText:
    """One notice."""

    subject: str
    text: str  # plain, in lines


def notice_text(body: Mapping[str, Json], public_url: str) -> NoticeText:
    """The words of a notice.

    Args:
        body: of the outbox: `events`, and how many came before them.
        public_url: the dashboard's address, for links; "": there are none.
    """
    events = body["events"]
    last = events[-1]
    total = len(events) + body["more"]
    subject = f"{_name(last)} {_VERBS[last['type']]}"
    if total > 1:
        subject += f" (and {total - 1} more)"
    lines = [_line(event, public_url) for event in events[-_MOST_LINES:]]
    if total > len(lines):
        lines.insert(0, f"{total:,} events; the last {len(lines)}:")
    return NoticeText(subject, "\n\n".join(lines))


def chat_body(channel: str, notice: NoticeText) -> dict[str, Json]:
    """The JSON that the incoming webhook of a chat takes, in the public format of each.

    What pages and callers wrote is shown as text: none of it becomes a link with other words, or calls people.
    """
    text = f"{notice.subject}\n{notice.text}"
    if channel == "discord":
        return {"content": _cut(_BRACKET.sub(r"\\\g<0>", text)), "allowed_mentions": {"parse": []}}
    shown = _cut(text)
    if channel == "teams":
        # Not a TextBlock, whose text is Markdown.
        lines = [
            {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": line}]} for line in shown.split("\n")
        ]
        card = {"type": "AdaptiveCard", "version": "1.4", "body": lines}
        return {
            "type": "message",
            "attachments": [{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}],
        }
    # Slack reads &, < and > as markup.
    return {"text": shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")}


def _cut(text: str) -> str:
    return text if len(text) <= _CHAT_CHARS else text[: _CHAT_CHARS - 2].rstrip("\\") + " …"


def _name(event: Mapping[str, Json]) -> str:
    about = " ".join(str(event.get("schedule") or event.get("about", "")).split())
    short = about if len(about) <= _NAME_CHARS else f"{about[: _NAME_CHARS - 2]} …"
    return f"Job {event['job']}" + (f" ({short})" if short else "")


def _line(event: Mapping[str, Json], public_url: str) -> str:
    parts = [f"{event['at']}: {_name(event)} {_VERBS[event['type']]}"]
    if counts := event.get("counts"):
        counted = ", ".join(f"{counts[name]:,} {name}" for name in _COUNTED if counts.get(name))
        parts.append(f"Items: {counted}." if counted else "No items.")
    if changes := event.get("changes"):
        counted = ", ".join(f"{changes[name]:,} {name}" for name in _CHANGES if changes[name])
        parts.append(f"Changes since {event['since']}: {counted}.")
    error = event.get("error")
    if isinstance(error, Mapping) and error.get("message"):
        parts.append(f"Reason: {error['message']}")
    elif isinstance(error, str) and error:
        parts.append(f"Reason: {error}")
    parts += [f"- {reason['text']}" for reason in event.get("reasons") or ()]
    if held := event.get("held"):
        parts.append(
            f"Held back from: {', '.join(sink['place'] for sink in held)}. To have the records written, press Again "
            "beside each sink on the job's page, or run:"
        )
        parts += [f"`shoal sinks again {event['job']} {sink['sink']}`" for sink in held]
    if sessions := event.get("sessions"):
        parts.append(f"Sessions: {', '.join(session['id'] for session in sessions[:_MOST_LINES])}")
    if public_url:
        page = f"sessions/{event['session']}" if event.get("session") else f"jobs/{event['job']}"
        parts.append(f"{public_url.rstrip('/')}/{page}")
    return "\n".join(parts)
