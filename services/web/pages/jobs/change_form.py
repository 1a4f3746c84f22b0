"""The entries of the dashboard's forms, as the API's own records."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from shoal.agent.support.json_value import Json
from shoal.services.errors import BadInput
from shoal.services.store.records import JobChanges
from shoal.services.web.api.changes import JobPatch, job_changes
from shoal.services.web.specs.specs import translate_error

NONE = "none"
"""The word that takes a limit away."""


def changes_of(given: Mapping[str, str]) -> JobChanges:
    """Changes of a job by field; an empty text leaves a field as it is.

    Raises:
        BadInput: a text is no number, or out of its bounds.
    """
    patch: dict[str, Json] = {}
    for field, text in given.items():
        if word := text.strip().lower():
            patch[field] = None if word == NONE else _number(field, word)
    try:
        return job_changes(JobPatch.model_validate(patch))
    except ValidationError as error:
        first = translate_error(error.errors(include_url=False)[0], JobPatch)
        raise BadInput(f"{first['field']}: {first['reason']}", errors=[first]) from None


def _number(field: str, text: str) -> float | int:
    try:
        return float(text) if field == "deadline_s" else int(text)
    except ValueError:
        raise BadInput(
            f"{field}: write a number, or {NONE}", errors=[{"field": field, "reason": f"{text!r} is no number"}]
        ) from None
