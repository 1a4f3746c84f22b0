"""The purpose of a form, and that of a goal: a form of another purpose is not filled in."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from shoal.agent.policies.rules.forms.form import FormField, FormPage
from shoal.agent.policies.rules.forms.form_words import PURPOSES, Purpose
from shoal.agent.read.values.phrases import Phrase, phrase
from shoal.agent.read.word_lists.form_vocabulary import CONFIRM_WORDS, FORM_NAMES

_KNOWN: dict[Purpose, tuple[Phrase, ...]] = {
    purpose: tuple(dict.fromkeys(phrase(text) for text in texts)) for purpose, texts in PURPOSES.items()
}
_CONFIRM = frozenset(word for text in CONFIRM_WORDS for word in phrase(text))
_OLD = frozenset({"current", "old", "existing", "aktuelle", "alte", "actuel", "ancien", "actual", "stare"})
_SIDE: frozenset[Purpose] = frozenset({"delete", "logout", "recover"})
"""Purposes of a second button beside the one that sends a form."""

_BUTTON, _NAMED, _HEADING = 3.0, 2.0, 1.5
"""Weights of the words of a button, of a form's own name and address, and of the heading over it."""


def names_of(*words: str) -> frozenset[Phrase]:
    """All that the fields are called that are called by any of these words."""
    return frozenset(phrase(name) for group in FORM_NAMES if set(words) & set(group) for name in group)


_PASSWORD, _EMAIL, _USER, _SEARCH, _MESSAGE = map(names_of, ("password", "email", "username", "search", "message"))


def purposes_in(text: str) -> frozenset[Purpose]:
    """The purposes that `text` names. The longest names count: a "reset password" is no "new password"."""
    words = phrase(text)
    spans: list[tuple[int, int, Purpose]] = []
    for purpose, known in _KNOWN.items():
        for name in known:
            spans += [(i, i + len(name), purpose) for i in range(len(words)) if words[i : i + len(name)] == name]
    return frozenset(
        purpose
        for start, end, purpose in spans
        if not any(s <= start and end <= e and e - s > end - start for s, e, _ in spans)
    )


def is_password(field: FormField) -> bool:
    """Return whether the field takes a password."""
    return field.type == "password"


def form_purpose(page: FormPage, form: int) -> Purpose | None:
    """Return what the form is for, by its buttons, its own names, its heading and its fields;
    None where none says it.
    """
    scores: dict[Purpose, float] = {}
    for weight, texts in _evidence(page, form):
        named = [purposes_in(text) for text in texts]
        purposes = {
            candidate
            for purposes_of_text in named
            for candidate in purposes_of_text
            if candidate not in _SIDE or all(candidate in other for other in named)
        }
        for purpose in purposes:
            scores[purpose] = scores.get(purpose, 0.0) + weight / len(purposes)
    fields = page.fields_of(form)
    for purpose, score in _by_fields(fields):
        scores[purpose] = scores.get(purpose, 0.0) + score
    possible = {purpose: score for purpose, score in scores.items() if _has_fields_for(purpose, fields)}
    top = max(possible.values(), default=0.0)
    best = [purpose for purpose, score in possible.items() if score == top]
    return best[0] if top >= _HEADING and len(best) == 1 else None


def _evidence(page: FormPage, form: int) -> Iterator[tuple[float, Sequence[str]]]:
    facts = page.facts_of(form)
    labels = facts.send or tuple(button.label for button in page.buttons if button.form == form)
    yield _BUTTON, labels
    yield _NAMED, [facts.named, facts.action.partition("?")[0]]
    yield _HEADING, [facts.heading]


def _by_fields(fields: Sequence[FormField]) -> Iterator[tuple[Purpose, float]]:
    texts = [field for field in fields if field.kind == "text"]
    passwords = [text for text in texts if is_password(text)]
    repeated = [password for password in passwords if any(set(name) & _CONFIRM for name in password.names)]
    old = [password for password in passwords if any(set(name) & _OLD for name in password.names)]
    if old and len(passwords) > 1:
        yield "password", 6.0
    elif len(passwords) > 1 and len(texts) > len(passwords):
        yield "register", 3.0
    elif repeated or len(passwords) > 1:
        yield "password", 2.0
    elif passwords and len(texts) <= 3:
        yield "login", 2.0
    if not passwords and len(texts) == 1 and (texts[0].type == "search" or set(texts[0].names) & _SEARCH):
        yield "search", 4.0
    if any(set(text.names) & _MESSAGE for text in texts) and not passwords:
        yield "contact", 2.0


def _has_fields_for(purpose: Purpose, fields: Sequence[FormField]) -> bool:
    """Return whether a form with such fields can be for this at all."""
    texts = [field for field in fields if field.kind == "text"]
    passwords = sum(map(is_password, texts))
    if purpose in ("newsletter", "search", "contact", "order"):
        small = len(texts) <= (3 if purpose == "newsletter" else 40)
        return not passwords and small and not (purpose == "newsletter" and _asks_for(texts, _MESSAGE))
    if purpose == "login":
        return passwords <= 1 and len(texts) <= 4
    if purpose == "recover":
        return len(texts) - passwords <= 2
    return True


def _asks_for(fields: Sequence[FormField], names: Collection[Phrase]) -> bool:
    return any(set(field.names) & set(names) for field in fields)
