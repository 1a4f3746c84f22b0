"""Helm's own records, which come as protocol buffers: as much as keeping Secrets and listing them by labels needs."""

from __future__ import annotations

from collections.abc import Iterator

_MAGIC = b"k8s\x00"
_METADATA, _NAME, _LABELS = 1, 1, 11
"""Field numbers of Kubernetes' Secret and ObjectMeta."""


def name_and_labels(envelope: bytes) -> tuple[str, dict[str, str]]:
    """Return what the Secret in `envelope` is called, and its labels."""
    metadata = _first(_secret(envelope), _METADATA)
    labels = {}
    for number, entry in _fields(metadata):
        if number == _LABELS:
            labels[_first(entry, 1).decode()] = _first(entry, 2).decode()
    return _first(metadata, _NAME).decode(), labels


def secret_list(envelopes: list[bytes]) -> bytes:
    """A SecretList of these Secrets."""
    kind = _field(1, _field(1, b"v1") + _field(2, b"SecretList"))
    items = b"".join(_field(2, _secret(envelope)) for envelope in envelopes)
    return _MAGIC + kind + _field(2, _field(1, b"") + items)


def _secret(envelope: bytes) -> bytes:
    assert envelope.startswith(_MAGIC), "not an object of Kubernetes as a protocol buffer"
    return _first(envelope[len(_MAGIC) :], 2)


def _first(message: bytes, number: int) -> bytes:
    return next(value for found, value in _fields(message) if found == number)


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """(number, content) of each field that has a length; numbers are left out."""
    at = 0
    while at < len(message):
        key, at = _number(message, at)
        if key & 7 == 0:
            _, at = _number(message, at)
            continue
        assert key & 7 == 2, f"a field of kind {key & 7}"
        size, at = _number(message, at)
        yield key >> 3, message[at : at + size]
        at += size


def _number(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _field(number: int, content: bytes) -> bytes:
    size, length = len(content), b""
    while size >= 0x80:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content
