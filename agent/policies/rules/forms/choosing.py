"""Which form of a page is filled in: by the goal, by its fields and by its button together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.agent.errors import FormUnclear
from shoal.agent.policies.rules.forms.assignment import Detail, assign, slots_of
from shoal.agent.policies.rules.forms.form import Entry, FormPage
from shoal.agent.policies.rules.forms.form_words import OWN_EFFECT, Purpose
from shoal.agent.policies.rules.forms.purpose import form_purpose, names_of, purposes_in
from shoal.agent.read.values.phrases import phrase
from shoal.agent.read.word_lists.form_vocabulary import COMMON_WORDS

_PASSWORD, _SEARCH, _NEWSLETTER = map(names_of, ("password", "search", "newsletter"))
_USER = names_of("username", "email")
_LITTLE_WORDS = frozenset(phrase(" ".join(COMMON_WORDS)))
_CLEARLY = 0.3
"""By how much the likeness of names in one form has to exceed that in another."""
_SHOWN_FIELDS = 8
_SHOWN_FORMS = 6


@dataclass(frozen=True, slots=True)
class FormCandidate:
    """A form that takes some of the details."""

    form: int
    plan: tuple[Entry, ...]
    purpose: Purpose | None
    asked: bool  # the goal names what the form is for
    gaps: int  # required fields that no detail fills
    words: int  # words of the goal that the form says of itself

    @property
    def detail_count(self) -> int:
        """Return how many details it takes."""
        return len({key for entry in self.plan for key in entry.keys})

    @property
    def score(self) -> float:
        """Return how well the names of fields and details agree."""
        return sum(entry.score for entry in self.plan)

    @property
    def rank(self) -> tuple[int, bool, int, int]:
        """The higher, the likelier the form is meant."""
        return (self.detail_count, self.asked, -self.gaps, self.words)


def choose_form(page: FormPage, details: Sequence[Detail], goal: str = "") -> int | None:
    """The form that the goal asks for and whose fields take most of the details; None when there is none.

    Raises:
        FormUnclear: several forms may be meant.
    """
    candidates = [
        candidate for candidate in _candidates(page, details, goal) if _is_allowed(page, candidate, details, goal)
    ]
    if not candidates:
        return None
    top = max(candidate.rank for candidate in candidates)
    best = sorted(
        (candidate for candidate in candidates if candidate.rank == top), key=lambda candidate: -candidate.score
    )
    alike = [candidate for candidate in best if best[0].score - candidate.score < _CLEARLY]
    if len({_identity(page, candidate.form) for candidate in alike}) > 1:
        raise FormUnclear(
            f"{len(alike)} forms of the page take the details equally well: {forms_in_words(page, alike)}; "
            "say in `goal` which is meant, by words of its heading or button, or start on a page with that form only",
            forms=[describe(page, candidate.form) for candidate in alike],
        )
    return alike[0].form


def refused_forms(page: FormPage, details: Sequence[Detail], goal: str) -> str:
    """The forms that would take details but are for something else, in words; "" where there are none."""
    others = [
        candidate for candidate in _candidates(page, details, goal) if not _is_allowed(page, candidate, details, goal)
    ]
    return forms_in_words(page, others)


def _candidates(page: FormPage, details: Sequence[Detail], goal: str) -> list[FormCandidate]:
    asked = purposes_in(goal) or _purpose_of_details(details, goal)
    goal_words = set(phrase(goal)) - _LITTLE_WORDS
    candidates = []
    for form in dict.fromkeys(field.form for field in page.fields):
        fields = page.fields_of(form)
        plan = tuple(assign(fields, details))
        if not any(entry.score > 0 for entry in plan):
            continue
        purpose = form_purpose(page, form)
        filled = {field.bid for entry in plan for field in entry.fields}
        gaps = [
            slot
            for slot in slots_of(fields)
            if slot[0].kind in ("text", "date") and slot[0].required and not slot[0].value and slot[0].bid not in filled
        ]
        own = set(phrase(_own_words(page, form)))
        candidates.append(FormCandidate(form, plan, purpose, purpose in asked, len(gaps), len(goal_words & own)))
    return candidates


def _purpose_of_details(details: Sequence[Detail], goal: str) -> frozenset[Purpose]:
    """Return what the details alone ask for, where no goal says anything: a name and a password log in."""
    names = [set(detail.names) for detail in details]
    password = [name for name in names if name & _PASSWORD]
    user = [name for name in names if name & _USER]
    is_login = not goal and len(password) == 1 and len(user) == 1 and len(names) == 2
    return frozenset({"login"}) if is_login else frozenset()


def _is_allowed(page: FormPage, candidate: FormCandidate, details: Sequence[Detail], goal: str) -> bool:
    """Return whether filling in the form does what the goal asks for, as far as both say it."""
    if candidate.purpose not in OWN_EFFECT or candidate.asked:
        return True
    asked = purposes_in(goal) or _purpose_of_details(details, goal)
    if any(purposes_in(label) & asked for label in page.facts_of(candidate.form).send):
        return True  # it has a button for it, beside another
    if asked & OWN_EFFECT:
        return False
    names = {name for detail in details for name in detail.names}
    if candidate.purpose == "search":
        return bool(names & _SEARCH) and not asked
    if candidate.purpose == "newsletter":
        return bool(names & _NEWSLETTER) and not asked
    if candidate.purpose in ("login", "register", "password"):
        return candidate.detail_count == len(details) or (candidate.purpose == "login" and bool(names & _PASSWORD))
    return False


def _identity(page: FormPage, form: int) -> tuple[object, ...]:
    """Equal for forms that do the same: a site may show one twice."""
    facts = page.facts_of(form)
    fields = tuple((field.kind, field.name or field.label) for field in page.fields_of(form))
    return (facts.action, facts.method, facts.send, fields) if facts.send or facts.action else (form,)


def _own_words(page: FormPage, form: int) -> str:
    facts = page.facts_of(form)
    labels = [button.label for button in page.buttons if button.form == form]
    return " ".join([facts.heading, facts.named, facts.action, *labels])


def forms_in_words(page: FormPage, candidates: Sequence[FormCandidate]) -> str:
    """The forms, each by name, fields and button."""
    descriptions = [describe(page, candidate.form) for candidate in candidates[:_SHOWN_FORMS]]
    more = len(candidates) - len(descriptions)
    return "; ".join(descriptions) + (f"; and {more} more" if more > 0 else "")


def describe(page: FormPage, form: int) -> str:
    """One form by its heading or name, its fields and its button."""
    facts = page.facts_of(form)
    name = facts.heading or facts.named or facts.action
    fields = field_names(page, form)
    buttons = facts.send or tuple(button.label for button in page.buttons if button.form == form and button.submit)
    parts = [f"form {name!r}" if name else "a form without a name"]
    parts += [f"sent to {facts.action}"] if facts.action else []
    parts += [f"fields {fields}" if fields else "without fields"]
    parts += [f"button {' / '.join(buttons)}"] if buttons else []
    return ", ".join(parts)


def field_names(page: FormPage, form: int) -> str:
    """Return what the fields of a form are called, as a list in words."""
    names = list(dict.fromkeys(field.group or field.label or field.name for field in page.fields_of(form)))
    named = [name for name in names if name]
    return ", ".join(named[:_SHOWN_FIELDS]) + (", …" if len(named) > _SHOWN_FIELDS else "")
