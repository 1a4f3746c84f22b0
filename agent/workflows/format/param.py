"""Parameters: the values that differ from run to run, and arguments that are made of them."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Literal

from pydantic import Field, model_validator

from shoal.agent.support.json_value import Json
from shoal.agent.workflows.format.part import WorkflowPart

Source = Literal["data", "loop", "secret", "otp", "earlier", "constant"]
Transform = Literal["trim", "lower", "upper", "digits", "first_word", "last_word"]
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w-]*)\}")
NAME = r"^[A-Za-z_][\w-]*$"


class Param(WorkflowPart):
    """One value that a run is given."""

    name: str = Field(pattern=NAME, description="by which arguments refer to it")
    source: Source = Field(
        description="where its value is from: the job's `data`, with the details of the loop's row over them as in "
        "forms, the `loop`'s item, a stored `secret`, a one-time code (`otp`), an `earlier` result of the same run, or "
        "a `constant` that a person may change"
    )
    path: str = Field(
        "",
        description="where in the source: a JSONPath such as `$.address.city`, the name of the secret, or the field of "
        "an earlier record; empty: the item's value as a whole",
    )
    type: Literal["string", "number", "integer", "boolean", "array", "object"] = Field(
        "string", description="what the value has to be"
    )
    description: str = Field("", description="what people call the value, such as the name of the field that takes it")
    transform: Transform | None = Field(None, description="what is done to the value before it is used")
    sensitive: bool = Field(False, description="the value is shown nowhere")
    value: Json = Field(None, description="of a `constant`: the value itself")
    known: tuple[str, ...] = Field(
        (),
        description="hashes of the values in the runs that were learned from, of a value that no step used: with "
        "another value a step may be missing, so that is a miss",
    )

    @model_validator(mode="after")
    def _validate_source(self) -> Param:
        if self.source in ("secret", "earlier") and not self.path:
            raise ValueError(f"a parameter from `{self.source}` needs `path`")
        if self.source == "constant" and self.value is None:
            raise ValueError("a parameter from `constant` needs `value`")
        if self.source != "constant" and self.value is not None:
            raise ValueError("`value` goes with the source `constant` only: the values of a run are not stored here")
        if self.source in ("secret", "otp") and not self.sensitive:
            raise ValueError(f"a parameter from `{self.source}` has to be `sensitive`")
        return self


def value_hash(value: Json) -> str:
    """By which a value of a run is recognised, without being stored."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]


class Arg(WorkflowPart):
    """One argument of an action: exactly one of a constant, a parameter and a text with parameters in it."""

    const: Json = Field(None, description="the value itself, the same in every run")
    param: str | None = Field(None, description="the name of a parameter")
    template: str | None = Field(None, description="a text with parameters in braces, such as `{first} {last}`")

    @model_validator(mode="after")
    def _one_of_three(self) -> Arg:
        if len(self.model_fields_set & {"const", "param", "template"}) != 1:
            raise ValueError("give exactly one of `const`, `param` and `template`")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that it is made of."""
        if self.param is not None:
            return (self.param,)
        return tuple(dict.fromkeys(_PLACEHOLDER.findall(self.template or "")))

    def filled(self, values: dict[str, Json]) -> Json:
        """The argument for a run whose parameters have `values`.

        Raises:
            KeyError: a parameter has no value.
        """
        if self.param is not None:
            return values[self.param]
        if self.template is not None:
            return _PLACEHOLDER.sub(lambda match: str(values[match.group(1)]), self.template)
        return self.const
