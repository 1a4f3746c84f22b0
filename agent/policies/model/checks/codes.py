"""Which field of a page takes a one-time code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from shoal.agent.types import Element

_TEXT_TYPES = frozenset({"", "text", "tel", "number", "password"})
_TELLING = ("autocomplete", "name", "id", "placeholder", "aria-label", "title")
_EXACT = "one-time-code"
"""The value of `autocomplete` that HTML has for it."""

_PLAIN = frozenset({"otp", "totp", "hotp", "mfa", "2fa", "tfa", "passcode", "onetime", "verification", "verify"}) | {
    *("authenticator", "authentication", "bestätigungscode", "einmalcode", "sicherheitscode")
}
_CODE = frozenset({"code", "token", "kode", "codice", "código", "codigo"})
_OTHER_CODES = frozenset(
    {
        *(
            "post",
            "postal",
            "postcode",
            "zip",
            "plz",
            "country",
            "area",
            "dial",
            "dialling",
            "phone",
            "city",
            "airport",
        ),
        *("promo", "promotion", "promotional", "coupon", "discount", "voucher", "gift", "referral", "invite"),
        *("invitation", "product", "item", "article", "qr", "bar", "language", "currency", "csrf"),
        *("bank", "sort", "swift", "bic", "tax", "card", "cvv", "cvc", "csc"),
    }
)
_WORD = re.compile(r"2fa|[^\W\d_]+|\d+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def code_field(elements: Iterable[Element]) -> Element | None:
    """The field for a one-time code: by what it says about itself, whole words only; else the only empty text field."""
    fields = [e for e in elements if e.tag == "input" and e.attributes.get("type", "").lower() in _TEXT_TYPES]
    for fits in (_is_exact, _is_plainly, _is_some_code):
        fitting = [field for field in fields if fits(field)]
        if fitting:
            return next((field for field in fitting if not field.attributes.get("value")), fitting[0])
    empty = [field for field in fields if not field.attributes.get("value")]
    return empty[0] if len(empty) == 1 else None


def _is_exact(field: Element) -> bool:
    return _EXACT in field.attributes.get("autocomplete", "").lower().split()


def _is_plainly(field: Element) -> bool:
    words = _words(field)
    return bool(_PLAIN & set(words)) or any(a == "one" and b == "time" for a, b in pairwise(words))


def _is_some_code(field: Element) -> bool:
    words = set(_words(field))
    return bool(_CODE & words) and not _OTHER_CODES & words


def _words(field: Element) -> list[str]:
    """Return what the field says of itself, word by word; "otpCode" and "otp_code" are two."""
    names = " ".join((field.name, *(field.attributes.get(name, "") for name in _TELLING)))
    return _WORD.findall(_HUMP.sub(" ", names).casefold())
