"""Passwords and the like in the caller's own details: which they are by name, and the details without them.

A job is stored as it was given, since workers need it. What is shown of it, anywhere, goes through here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from urllib.parse import quote, quote_plus

from shoal.agent.spec import JobSpec
from shoal.agent.support.json_value import Json
from shoal.agent.types import ActionResult, Checkpoint, ErrorInfo, LoopItem, Outcome, PageErrors, Step, Task

HIDDEN = "(hidden)"
"""What is shown in place of a value that is not."""

_WITHIN_CHARS = 6
"""Shorter values are hidden only where they stand alone: a text full of other numbers must stay readable."""

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
_FOLDED = str.maketrans("áàâäéèêëíìîïóòôöúùûüñç", "aaaaeeeeiiiioooouuuunc")


def names_secret(name: str) -> bool:
    """Whether a detail of this name is a password, a secret, a token, a PIN, or the number or code of a card."""
    words = [word.lower() for part in _CAMEL.split(name) for word in _WORD.findall(part)]
    words = [word.translate(_FOLDED) for word in words]
    joined = "".join(words)
    return not _ALONE.isdisjoint(words) or any(part in joined for part in _WITHIN)


def is_reference(value: Json) -> bool:
    """Whether a value only names a stored secret."""
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
    row = _row(text)
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
    elif isinstance(value, str) and (row := _row(value)) is not None:
        yield from secrets_in(row)


class Masker:
    """Hides values that are known to be secret wherever they come up in a text."""

    __slots__ = ("_long", "_short")

    def __init__(self) -> None:
        self._long: dict[str, None] = {}  # the longest first
        self._short: dict[str, re.Pattern[str]] = {}

    def __bool__(self) -> bool:
        return bool(self._long or self._short)

    def hide(self, values: Iterable[str]) -> None:
        """Knows these values too, as they are and as JSON and addresses spell them."""
        for value in values:
            spelled = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
            spelled |= {quote(value, safe=""), quote_plus(value)}
            for text in spelled:
                if len(text) >= _WITHIN_CHARS:
                    self._long[text] = None
                elif text:
                    self._short[text] = re.compile(f"(?<=[\"'=]){re.escape(text)}(?=[\"'&#]|$)")
        self._long = dict.fromkeys(sorted(self._long, key=len, reverse=True))

    def text(self, text: str) -> str:
        """`text` with `HIDDEN` for the values. Short ones are hidden where they stand alone or in quotes only."""
        if text.strip() in self._short:
            return HIDDEN
        for value in self._long:
            text = text.replace(value, HIDDEN)
        for pattern in self._short.values():
            text = pattern.sub(HIDDEN, text)
        return text

    def json(self, value: Json) -> Json:
        """`value` with `HIDDEN` for the values in all its texts; ids of elements are left alone."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):
            return [self.json(part) for part in value]
        if isinstance(value, Mapping):
            return {name: part if str(name).endswith("bid") else self.json(part) for name, part in value.items()}
        return HIDDEN if isinstance(value, int | float) and str(value) in self._short else value

    def tasks(self, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
        """Tasks as they may be shown."""
        return tuple(replace(t, reason=self.text(t.reason), steps=tuple(map(self._step, t.steps))) for t in tasks)

    def _step(self, step: Step) -> Step:
        return replace(
            step,
            url=self.text(step.url),
            results=tuple(map(self.result, step.results)),
            page_errors=self.page_errors(step.page_errors),
        )

    def page_errors(self, errors: PageErrors) -> PageErrors:
        """Errors of pages as they may be shown."""
        told = (replace(error, text=self.text(error.text), where=self.text(error.where)) for error in errors.told)
        return replace(errors, told=tuple(told))

    def result(self, result: ActionResult) -> ActionResult:
        """What an action did, and what it was given, as it may be shown."""
        effect = result.effect
        return replace(
            result,
            action=replace(result.action, args=self.json(result.action.args)),
            error=self.error(result.error),
            effect=replace(
                effect,
                url=self.text(effect.url) if effect.url else effect.url,
                value=self.text(effect.value) if effect.value else effect.value,
                appeared=tuple(map(self.text, effect.appeared)),
                went=tuple(map(self.text, effect.went)),
                fields=tuple((self.text(name), self.text(value)) for name, value in effect.fields),
                invalid=tuple(map(self.text, effect.invalid)),
            ),
            value=self.json(result.value),
        )

    def error(self, error: ErrorInfo | None) -> ErrorInfo | None:
        """An error as it may be shown."""
        return error and replace(error, message=self.text(error.message))

    def checkpoint(self, known: Checkpoint) -> Checkpoint:
        """What is known of a session, as it may be shown; no session goes on from this."""
        return replace(
            known,
            url=self.text(known.url),
            pending_action=self.text(known.pending_action),
            history=self.tasks(known.history),
        )

    def outcome(self, outcome: Outcome) -> Outcome:
        """How a session ended, as it may be shown. What was read from pages stays: it is the job's result."""
        return replace(
            outcome,
            url=self.text(outcome.url),
            reason=self.text(outcome.reason),
            error=self.error(outcome.error),
            tasks=self.tasks(outcome.tasks),
            page_errors=self.page_errors(outcome.page_errors),
            records=tuple(replace(record, url=self.text(record.url)) for record in outcome.records),
        )


def masker_of(spec: JobSpec, item: LoopItem | None) -> Masker:
    """Knows what is secret in the details of one session."""
    masker = Masker()
    masker.hide(secrets_in(spec.data))
    if spec.login is not None:
        masker.hide(secrets_in(spec.login.data))
        masker.hide(secrets_in([step.value for step in spec.login.steps or ()], hide=True))
    masker.hide(secrets_in(spec.browser.headers))
    if spec.browser.proxy is not None:
        masker.hide(secrets_in({"password": spec.browser.proxy.password}))
    if item is not None and not item.is_link:
        masker.hide(secrets_in(item.value))
    return masker


def shown_item(item: LoopItem | None) -> LoopItem | None:
    """An item as it may be shown."""
    if item is None or item.is_link:
        return item
    value = masked_row(item.value)
    return item if value == item.value else replace(item, value=value, label=masked_row(item.label))


def shown_spec(spec: JobSpec) -> dict[str, Json]:
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


def _row(text: str) -> Json:
    """The object or list that a text spells out; None for any other text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        row = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return None
    return row if isinstance(row, dict | list) else None
