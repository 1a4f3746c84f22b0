"""The page after a form was sent, compared with the page before: what is new, and whether the form is still there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shoal.agent.policies.rules.forms.assignment import Detail
from shoal.agent.policies.rules.forms.entering import as_text
from shoal.agent.policies.rules.forms.form import Entry, FormField, FormNotice, FormPage
from shoal.agent.policies.rules.forms.form_words import ACCOUNT_PURPOSES, REFUSALS, SAVED
from shoal.agent.policies.rules.forms.purpose import form_purpose
from shoal.agent.read.values.phrases import squash
from shoal.agent.read.word_lists.form_vocabulary import THANKS
from shoal.agent.types import BeforeSending

_SAID_CHARS = 120
_TEXT_CHARS = 3_000
"""Of a page, in which words of thanks are looked for."""
_ALIKE = 0.6
"""Share of a form's fields by which a form on the next page is the same one."""
_TELLING_CHARS = 4
"""Shorter values stand on a page by chance."""


def before_sending(page: FormPage, form: int, details: Sequence[Detail], plan: Sequence[Entry]) -> BeforeSending:
    """Return what has to be known of `page` to judge the page that comes after the form was sent."""
    return BeforeSending(
        loaded=page.loaded,
        said=tuple(dict.fromkeys(_clipped(text) for text in _page_texts(page))),
        thanks=tuple(words_of(_THANKS, page.text[:_TEXT_CHARS])),
        fields=_names(page.fields_of(form)),
        shown=tuple(detail.key for detail in details if is_shown(detail, page)),
        placed=tuple(dict.fromkeys(key for entry in plan for key in entry.keys)),
        purpose=form_purpose(page, form) or "",
        method=page.facts_of(form).method,
    )


@dataclass(frozen=True, slots=True)
class FormAnswer:
    """A page as the answer to a form that was sent."""

    page: FormPage
    before: BeforeSending | None  # None: not known, then all that the page says counts as new
    forms: tuple[int, ...]  # the forms that are the one that was sent

    @property
    def navigated(self) -> bool:
        """Return whether this is another document than the one before."""
        return self.before is not None and self.before.loaded != self.page.loaded

    @property
    def same_form(self) -> bool:
        """Return whether the form is still there."""
        return bool(self.forms)

    @property
    def fields(self) -> list[FormField]:
        """The fields of the form that was sent, as far as it is still there."""
        return [field for field in self.page.fields if field.form in self.forms]

    def is_new(self, text: str) -> bool:
        """Return whether the page before did not say this."""
        return self.before is None or _clipped(text) not in self.before.said

    @property
    def messages(self) -> list[FormNotice]:
        """The messages that the page before did not show."""
        return [message for message in self.page.messages if self.is_new(message.text)]

    def is_confirmed(self) -> bool:
        """Return whether the page confirms that it took the form, in words that the page before did not have."""
        if any(map(_is_thanks, self.messages)):
            return True
        if is_confirmation(self.page.heading) and self.is_new(self.page.heading) and not is_refusal(self.page.heading):
            return True
        known = self.before.thanks if self.before else ()
        return not self.same_form and bool(set(words_of(_THANKS, self.page.text[:_TEXT_CHARS])) - set(known))

    def shows_entered(self, details: Sequence[Detail]) -> bool:
        """Return whether the page now shows, outside of the fields, what was sent: a comment that was posted."""
        if self.before is None or not self.navigated:
            return False
        still = {squash(field.value) for field in self.fields if field.value}
        new = [detail for detail in details if detail.key not in self.before.shown and is_shown(detail, self.page)]
        return bool(new) and not any(squash(as_text(detail.value)) in still for detail in new)


def _is_thanks(message: FormNotice) -> bool:
    """Return whether a new message says that the form was taken; plain text beside a form has to give thanks."""
    if message.kind == "error" or is_refusal(message.text):
        return False
    if message.kind == "success":
        return True
    if message.aside:
        return False
    return is_confirmation(message.text) or (
        bool(words_of(_SAVED, message.text)) and (message.kind != "note" or _is_announcement(message.text))
    )


def _is_announcement(text: str) -> bool:
    """Return whether plain text tells of something that was done: "Changes saved", but not "Last updated at 10:31"."""
    return not re.search(r"\d", text) and (len(text.split()) <= _FEW_WORDS or bool(words_of(_DONE, text)))


def answer_of(page: FormPage, before: BeforeSending | None, url_before: str) -> FormAnswer:
    """`page` as what came after the page of which `before` is known."""
    forms = tuple(form for form in dict.fromkeys(field.form for field in page.fields) if _is_same(page, form, before))
    if before is None and page.url == url_before and page.fields:
        forms = tuple(dict.fromkeys(field.form for field in page.fields))
    return FormAnswer(page, before, forms)


def _is_same(page: FormPage, form: int, before: BeforeSending | None) -> bool:
    if before is None:
        return False
    purpose = form_purpose(page, form)
    if before.purpose in ACCOUNT_PURPOSES and purpose is not None:
        return purpose == before.purpose  # a site may ask again on a page of its own, with other names
    if purpose is not None and before.purpose and purpose != before.purpose:
        return False
    names = set(_names(page.fields_of(form)))
    known = set(before.fields)
    return bool(known) and len(names & known) >= _ALIKE * max(len(known), len(names))


def _names(fields: Iterable[FormField]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(field.name or squash(field.label) for field in fields))


def _page_texts(page: FormPage) -> Iterable[str]:
    yield page.heading
    yield from (message.text for message in page.messages)
    yield from (field.error for field in page.fields if field.error)


def _clipped(text: str) -> str:
    return squash(text)[:_SAID_CHARS]


def is_shown(detail: Detail, page: FormPage) -> bool:
    """Return whether the page's text holds the detail's value."""
    if not isinstance(detail.value, (str, int, float)) or isinstance(detail.value, bool):
        return False
    text = squash(as_text(detail.value))
    return len(text) >= _TELLING_CHARS and text in squash(page.text)


def _plain(text: str) -> str:
    return f" {' '.join(re.sub(r'[^a-z0-9]+', ' ', squash(text)).split())} "


_DONE = tuple(_plain(text) for text in ("was", "were", "been", "successfully", "wurde", "wurden", "erfolgreich"))
_FEW_WORDS = 4
_THANKS = tuple(_plain(text) for text in THANKS)
_SAVED = tuple(_plain(text) for text in SAVED)
_REFUSALS = tuple(_plain(text) for text in REFUSALS)


def words_of(known: Sequence[str], text: str) -> list[str]:
    """Those of the known phrases that `text` holds as whole words."""
    plain = _plain(text)
    return [wording.strip() for wording in known if wording in plain]


def is_confirmation(text: str) -> bool:
    """Return whether a site says so when it took a form."""
    return bool(words_of(_THANKS, text))


def is_refusal(text: str) -> bool:
    """Return whether a site says so when it did not take a form."""
    return bool(words_of(_REFUSALS, text))
