"""The fields of a job in the order in which people think of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.services.web.pages.submit.fields import SpecField

_SECTIONS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("what", "What to do", ("url", "goal", "extract", "loop", "data")),
    ("login", "Login, secrets and people", ("login", "secrets", "totp", "help")),
    (
        "decide",
        "Rules, model or workflow",
        (
            *(
                "policy",
                "workflow",
                "on_miss",
                "learn",
                "complete_criterion",
                "allow_terminate",
                "error_codes",
                "budget",
            ),
            *("grounding", "sight", "action_sets"),
        ),
    ),
    ("limits", "Limits", ("max_steps", "deadline_s", "max_attempts", "repeatable", "priority", "sample")),
    ("browser", "Browser and sites", ("browser", "politeness")),
    ("evidence", "Screenshots, traces and webhook", ("artifacts", "webhook")),
    ("labels", "Name and labels", ("name", "labels", "idempotency_key")),
)


@dataclass(frozen=True, slots=True)
class Section:
    """Some fields under one title."""

    name: str
    title: str
    fields: tuple[SpecField, ...]

    @property
    def is_filled(self) -> bool:
        """Return whether one of its fields is filled."""
        return any(field.present or field.value or field.chosen for field in self.fields)


def sections(form: Sequence[SpecField]) -> tuple[Section, ...]:
    """All fields of a form. One that no section names is in the last."""
    by_name = {field.name: field for field in form}
    shown = [
        Section(name, title, tuple(by_name.pop(field) for field in fields if field in by_name))
        for name, title, fields in _SECTIONS
    ]
    if by_name:
        shown.append(Section("other", "Other", tuple(by_name.values())))
    return tuple(shown)
