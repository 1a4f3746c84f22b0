"""A page's archive as it may leave the worker: texts and addresses in it without secrets."""

from __future__ import annotations

import quopri
from collections.abc import Callable
from email import message_from_string
from email.header import Header, decode_header, make_header
from email.message import Message
from email.policy import compat32

_TEXTS = frozenset({"application/json", "application/xhtml+xml", "application/xml", "image/svg+xml"})
"""Types of parts that are text, beside `text/`."""
_AS_READ = compat32.clone(linesep="\r\n", max_line_length=None)
"""Leaves long addresses in one line."""


def redacted_archive(mhtml: str, hide: Callable[[str], str]) -> bytes:
    """The MHTML document `mhtml` with `hide` applied to its headers and texts; parts without a secret as they were."""
    document = message_from_string(mhtml, policy=_AS_READ)
    for part in document.walk():
        for name, value in part.items():
            _hide_in_header(part, name, value, hide)
        if part.get_content_maintype() == "text" or part.get_content_type() in _TEXTS:
            _hide_in_text(part, hide)
    return document.as_bytes()


def _hide_in_header(part: Message, name: str, value: str, hide: Callable[[str], str]) -> None:
    text = str(make_header(decode_header(value)))  # a title is encoded where it has other letters than ASCII's
    redacted = hide(text)
    if redacted != text:
        part.replace_header(name, Header(redacted, None if redacted.isascii() else "utf-8", maxlinelen=0).encode())


def _hide_in_text(part: Message, hide: Callable[[str], str]) -> None:
    data = part.get_payload(decode=True)
    assert isinstance(data, bytes), "a text has no parts"
    text = data.decode("utf-8", "surrogateescape")
    redacted = hide(text)
    if redacted != text:
        part.set_payload(quopri.encodestring(redacted.encode("utf-8", "surrogateescape")).decode("ascii"))
        part.replace_header("Content-Transfer-Encoding", "quoted-printable")
