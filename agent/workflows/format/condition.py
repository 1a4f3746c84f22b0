"""A condition on the page that has to hold before or after a node."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from shoal.agent.workflows.format.part import WorkflowPart
from shoal.agent.workflows.format.target import Target


class Condition(WorkflowPart):
    """One statement about the page."""

    kind: Literal["url", "text", "no_text", "visible", "hidden", "value"] = Field(
        description="`url`: the address fits the template `value`; `text` and `no_text`: the page says `value`, or "
        "does not; `visible` and `hidden`: `target` can be seen, or cannot; `value`: the control `target` has the "
        "text of the parameter or constant `value`"
    )
    value: str = Field("", description="the template or the text, which may hold parameters in braces")
    target: Target | None = Field(None, description="the element, of `visible`, `hidden` and `value`")

    @model_validator(mode="after")
    def _complete(self) -> Condition:
        if self.kind in ("visible", "hidden", "value") and self.target is None:
            raise ValueError(f"a condition `{self.kind}` needs `target`")
        if self.kind in ("url", "text", "no_text") and not self.value:
            raise ValueError(f"a condition `{self.kind}` needs `value`")
        return self
