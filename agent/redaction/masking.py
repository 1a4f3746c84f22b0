"""Passwords and the like by their names: in the caller's own details, in addresses, and in what pages call things.

A job is stored as it was given, since workers need it. What is shown of it, anywhere, goes through here. Texts in which
such a value comes up again are `shoal.agent.redaction.redactor`'s.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from urllib.parse import unquote_plus

from shoal.agent.spec import JobSpec
from shoal.agent.support.json_value import Json, row_of
from shoal.agent.types import LoopItem

HIDDEN = "(hidden)"
"""The text in place of a hidden value."""

_REFERENCE = re.compile(r"secret:[A-Za-z0-9_-][A-Za-z0-9._-]*\Z")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")
_ALONE = frozenset(
    (
        *("pin", "pw", "pwd", "pass", "passwd", "password", "passwords", "passwort", "kennwort", "heslo", "contrasena"),
        *("passphrase", "passcode", "secret", "secrets", "token", "tokens", "cvc", "cvv", "cvc2", "cvv2", "csc"),
        *("otp", "totp", "mfa", "tan", "authorization", "bearer", "cookie", "cookies", "credential", "credentials"),
        *("pan", "wachtwoord", "haslo", "senha", "mdp", "geheimnis", "losenord"),
    )
)
_WITHIN = (
    *("password", "passwort", "kennwort", "passwd", "passphrase", "passcode", "motdepasse", "contrasena", "secret"),
    *("apikey", "accesskey", "privatekey", "accesstoken", "authtoken", "refreshtoken", "cardnumber", "cardno"),
    *("creditcard", "ccnumber", "cardcode", "securitycode", "verificationcode", "kartennummer", "numerodecarte"),
    *("pincode", "pinnumber", "cvccode", "onetimecode", "sessionid", "codigodeseguridad"),
)
Hide = Callable[[str], str]
"""A text to the same text without the values that are known to be secret."""

_HOST_ENDS = re.compile(r"[/?#]")
_BETWEEN_PARAMETERS = re.compile("([?&;#])")
_ADDRESS = re.compile(r"\bhttps?://[^\s\"'<>]+")
_OF_LOGINS = frozenset(("auth", "code", "jwt", "key", "samlrequest", "samlresponse", "sid", "sig", "ticket"))
_WITHIN_OF_LOGINS = ("csrf", "xsrf", "session", "sessid", "signature")
"""Names that stand for a login or a form's token in an address or a page, though not in a job's own details."""
_FOLDED = str.maketrans("áàâäéèêëíìîïóòôöúùûüñç", "aaaaeeeeiiiioooouuuunc")


def names_secret(name: str) -> bool:
    """Return whether a detail of this name is a password, a secret, a token, a PIN, or the number or code of a card."""
    words = [word.lower() for part in _CAMEL.split(name) for word in _WORD.findall(part)]
    words = [word.translate(_FOLDED) for word in words]
    joined = "".join(words)
    return not _ALONE.isdisjoint(words) or any(part in joined for part in _WITHIN)


def is_reference(value: Json) -> bool:
    """Return whether a value only names a stored secret."""
    return isinstance(value, str) and _REFERENCE.match(value) is not None


def masked(value: Json, *, name: str = "", hide: bool = False) -> Json:
    """`value` with `HIDDEN` for what is secret by its name, at any depth; references to stored secrets stay.

    Args:
        value: any JSON.
        name: what it is called, with the names around it.
        hide: it is secret by a name around it.
    """
    if isinstance(value, Mapping):
        return {
            key: masked(part, name=str(key), hide=hide or names_secret(str(key)) or names_secret(f"{name} {key}"))
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [masked(part, name=name, hide=hide) for part in value]
    if hide:
        return value if value in (None, "") or isinstance(value, bool) or is_reference(value) else HIDDEN
    return masked_row(value) if isinstance(value, str) else value


def masked_row(text: str) -> str:
    """A loop's value as it is shown: the details of a row are masked, any other value stays as it is."""
    row = row_of(text)
    if row is None:
        return text
    shown = masked(row)
    return text if shown == row else json.dumps(shown, ensure_ascii=False)


def secrets_in(value: Json, *, name: str = "", hide: bool = False) -> Iterator[str]:
    """The texts that `masked` hides."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            hidden = hide or names_secret(str(key)) or names_secret(f"{name} {key}")
            yield from secrets_in(part, name=str(key), hide=hidden)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from secrets_in(part, name=name, hide=hide)
    elif hide and value not in (None, "") and not isinstance(value, bool) and not is_reference(value):
        yield str(value)
    elif isinstance(value, str) and (row := row_of(value)) is not None:
        yield from secrets_in(row)


def secret_texts(spec: JobSpec, item: LoopItem | None) -> Iterator[str]:
    """The texts that are secret in the details of one session."""
    yield from secrets_in(spec.data)
    if spec.login is not None:
        yield from secrets_in(spec.login.data)
        yield from secrets_in([step.value for step in spec.login.steps or ()], hide=True)
    yield from secrets_in(spec.browser.headers)
    if spec.browser.proxy is not None:
        yield from secrets_in({"password": spec.browser.proxy.password})
    if item is not None and not item.is_link:
        yield from secrets_in(item.value)


def masked_item(item: LoopItem | None) -> LoopItem | None:
    """An item as it may be shown."""
    if item is None or item.is_link:
        return item
    value = masked_row(item.value)
    return item if value == item.value else replace(item, value=value, label=masked_row(item.label))


def masked_spec(spec: JobSpec) -> dict[str, Json]:
    """`spec` as its owner wrote it, without the passwords and headers that may stand in it."""
    shown: dict[str, Json] = spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    if "data" in shown:
        shown["data"] = masked(shown["data"])
    if "login" in shown:
        login = shown["login"]
        login |= {"data": masked(login["data"])} if "data" in login else {}
        for step in login.get("steps", ()):  # a selector need not say that its field is a password
            step |= {"value": masked(step["value"], hide=True)} if "value" in step else {}
    browser = shown.get("browser", {})
    if "headers" in browser:
        browser["headers"] = masked(browser["headers"], hide=True)
    if "proxy" in browser:
        browser["proxy"] = masked(browser["proxy"])
    _mask_values(shown.get("loop"))
    return shown


def _mask_values(loop: Json) -> None:
    while isinstance(loop, dict):
        if "values" in loop:
            loop["values"] = [masked_row(value) for value in loop["values"]]
        loop = loop.get("loop")


def may_open(name: str) -> bool:
    """Return whether a parameter, an attribute or a field of this name may hold what lets its holder in."""
    joined = "".join(filter(str.isalnum, name.lower()))
    return names_secret(name) or joined in _OF_LOGINS or any(part in joined for part in _WITHIN_OF_LOGINS)


def redacted_address(address: str, hide: Hide) -> str:
    """`address` without the values of parameters whose names mean a secret or a login, and without a user's name."""
    scheme, mark, rest = address.partition("://")
    if mark:
        host = _HOST_ENDS.split(rest, maxsplit=1)[0]
        address = f"{scheme}://{host.rpartition('@')[2]}{rest[len(host) :]}"
    return hide("".join(map(_parameter, _BETWEEN_PARAMETERS.split(address)))) if "=" in address else hide(address)


def _parameter(part: str) -> str:
    name, mark, value = part.partition("=")
    return f"{name}={HIDDEN}" if mark and value and may_open(unquote_plus(name)) else part


def redacted_sentence(text: str, hide: Hide) -> str:
    """`text` with each address in it as `redacted_address` tells it."""
    return hide(_ADDRESS.sub(lambda address: redacted_address(address[0], str), text)) if "://" in text else hide(text)
