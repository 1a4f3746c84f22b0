"""Which keys there are, and how a browser of a person may show what lies under one."""

from __future__ import annotations

import re
from urllib.parse import quote

_KEY = re.compile(r"[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*")

# S3 allows 1,024 bytes with the prefix in front; file systems 255 for each part.
_LONGEST_KEY = 900
_LONGEST_PART = 200

# What a browser shows without running anything of it. Everything else is offered as a file: a saved page would
# otherwise run its scripts with the rights of whatever host serves the artifact.
_SHOWN = frozenset({"image/jpeg", "image/png", "image/webp", "image/gif", "text/plain", "application/json"})


def checked_key(key: str) -> str:
    """`key` itself when it is one.

    Raises:
        ValueError: it is empty, too long, absolute, has other characters than `[A-Za-z0-9._/-]`, or an empty, `.` or
            `..` part.
    """
    parts = key.split("/")
    if not _KEY.fullmatch(key) or "." in parts or ".." in parts:
        raise ValueError(f"{key!r} is no artifact key: parts of [A-Za-z0-9._-], split by '/', none of them '.' or '..'")
    if len(key) > _LONGEST_KEY or max(map(len, parts)) > _LONGEST_PART:
        raise ValueError(f"this artifact key is too long: {key[:60]!r}…")
    return key


def is_key(name: str) -> bool:
    """Return whether something can lie under `name`. What others have put into a bucket may be called otherwise."""
    try:
        return checked_key(name) == name
    except ValueError:
        return False


def is_key_part(name: str) -> bool:
    """Return whether `name` can stand between two slashes of a key."""
    return "/" not in name and is_key(name)


def checked_prefix(prefix: str) -> str:
    """`prefix` as a key; one slash at its end is left out.

    Raises:
        ValueError: as `checked_key`. The empty prefix is none: it would delete everything.
    """
    return checked_key(prefix.removesuffix("/"))


def content_disposition(key: str, content_type: str, name: str = "") -> str:
    """The header that goes with the bytes under `key`: shown where that is harmless, else offered as a file.

    Args:
        name: of the file, where a site called it something.
    """
    kind = content_type.partition(";")[0].strip().lower()
    how = "inline" if kind in _SHOWN else "attachment"
    return f'{how}; filename="{key.rpartition("/")[2]}"{named(name)}'


def named(name: str) -> str:
    """The part of the header that says a file's own name, whatever letters it has (RFC 6266); "" for no name."""
    return f"; filename*=UTF-8''{quote(name, safe='')}" if name else ""
