"""The API's answer to a request that is refused."""

from __future__ import annotations

from pydantic import Field

from shoal.services.web.api.views.base import View


class FaultView(View):
    """One fault of the input."""

    field: str
    reason: str


class ProblemView(View):
    """RFC 9457 problem details."""

    type: str
    title: str
    status: int
    code: str = Field(description="stable, such as `bad_input`")
    detail: str = Field(description="for people")
    errors: tuple[FaultView, ...] = ()
    request_id: str = ""
