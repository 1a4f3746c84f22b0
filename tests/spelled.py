"""Spellings that a page, an address or a script may give to a text."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

Spell = Callable[[str], str]


def each(form: str) -> Spell:
    """Writes each character by its code point."""
    return lambda text: "".join(form.format(ord(char)) for char in text)


def in_base64(before: int, behind: int, *, url_safe: bool = False) -> Spell:
    encoded = base64.urlsafe_b64encode if url_safe else base64.b64encode
    return lambda text: encoded(b"q" * before + text.encode() + b"z" * behind).decode()


SPELLED: dict[str, Spell] = {
    "raw": lambda text: text,
    "upper case": str.upper,
    "lower case": str.lower,
    "other case": str.swapcase,
    "reversed": lambda text: text[::-1],
    "percent": lambda text: quote(text, safe=""),
    "percent, small digits": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    "percent, all of it": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "percent twice": lambda text: quote(quote(text, safe=""), safe=""),
    "percent as a browser's path": lambda text: quote(text, safe="!$&'()*+,;=:@/"),
    "form": quote_plus,
    "HTML": html.escape,
    "HTML in HTML": lambda text: html.escape(html.escape(text)),
    "HTML, decimal": each("&#{};"),
    "HTML, hexadecimal": each("&#x{:X};"),
    "HTML, padded": each("&#x{:06x};"),
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON in JSON": lambda text: json.dumps(json.dumps(text))[3:-3],
    "JSON as an HTML attribute": lambda text: html.escape(json.dumps(text)[1:-1]),
    "JSON, slashes escaped": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "JSON in an address": lambda text: quote(json.dumps(text)[1:-1], safe=""),
    "escapes of a script": each("\\u{{{:x}}}"),
    "hexadecimal": lambda text: text.encode().hex(),
    "hexadecimal, capitals": lambda text: text.encode().hex().upper(),
    **{f"base64, {n} before, {m} behind": in_base64(n, m) for n in range(3) for m in range(3)},
    **{f"base64 of addresses, {n} before": in_base64(n, 1, url_safe=True) for n in range(3)},
    "base64 in an address": lambda text: quote(in_base64(0, 0)(text), safe=""),
}
