"""The common parts of the administration's forms: texts to numbers, and fields to a change of the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from shoal.services.errors import BadInput
from shoal.services.web.specs.specs import validation_faults

Patch = TypeVar("Patch", bound=BaseModel)


def number_of(field: str, text: str, kind: type[int] | type[float]) -> int | float | None:
    """The number that was typed; None where nothing was.

    Raises:
        BadInput: it is none.
    """
    if not text.strip():
        return None
    try:
        return kind(text)
    except ValueError:
        raise BadInput(f"{field} must be a number.", errors=[{"field": field, "reason": "must be a number"}]) from None


def patch_of(model: type[Patch], fields: Mapping[str, Any]) -> Patch:
    """The change that a form asks for.

    Raises:
        BadInput: naming the field that cannot be so.
    """
    try:
        return model(**fields)
    except ValidationError as error:
        faults = validation_faults(error, model)
        raise BadInput(f"{faults[0]['field']} {faults[0]['reason']}.", errors=faults) from None
