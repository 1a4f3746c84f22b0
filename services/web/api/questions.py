"""Routes by which running sessions ask people, and people answer: verification codes, questions, captchas.

A question is open while its session keeps asking, which it does every few seconds. Question and answer are rows of
their own, so that nothing is read, changed and written back.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json

from shoal.agent.support.json_value import Json
from shoal.services.errors import NotFound, Unauthenticated
from shoal.services.store.store import Store
from shoal.services.web.api.changes import body_as, body_of
from shoal.services.web.api.jobs import JSON
from shoal.services.web.api.views.base import View
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.auth import Authenticator, guard
from shoal.services.web.http.body import JSON_TYPES, require_type
from shoal.services.web.http.lazy_route import LazyRoute

_OPEN_S = 30.0
"""A question that was not repeated for so long is dropped."""
_KEPT_S = 2 * 3600.0
"""Rows older than this are dropped: no session asks for longer than an hour."""
_QUESTION, _ANSWER = "question:", "answer:"


class Asked(BaseModel):
    """A worker's question for one of its sessions."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: str = Field(pattern=r"^[0-9a-f]{32}$")
    tenant: str = Field(min_length=1, max_length=200)
    kind: Literal["code", "question", "captcha"]
    question: str = Field(max_length=10_000)
    page: str = Field(max_length=10_000)
    job: str = Field(pattern=r"^j[1-9][0-9]{0,17}$")
    session: str = Field(pattern=r"^s[1-9][0-9]{0,17}$")


class AnswerBody(BaseModel):
    """A person's answer."""

    model_config = ConfigDict(extra="forbid", strict=True)

    answer: str = Field(max_length=10_000)


class QuestionView(View):
    """One open question."""

    id: str
    kind: Literal["code", "question", "captcha"]
    question: str
    page: str = Field(description="the page that needs the answer")
    job: str
    session: str


class QuestionPage(View):
    """The questions that sessions wait for."""

    questions: list[QuestionView]


def question_routes(deps: GatewayDeps, authenticator: Authenticator) -> APIRouter:
    """The routes under /v1/questions."""
    router = APIRouter(prefix="/v1", tags=["questions"], route_class=LazyRoute)
    store = deps.store

    @router.post(
        "/questions",
        status_code=202,
        response_class=Response,
        summary="Ask people (for workers)",
        responses={200: {"description": "answered"}, 202: {"description": "not yet: ask again"}},
        openapi_extra=body_of(Asked, "application/json"),
    )
    async def ask(request: Request) -> Response:
        """Takes a worker's question, and gives its answer once there is one. Workers show the installation's token."""
        require_token(request, deps.options.help_token)
        require_type(request, JSON_TYPES)
        asked = await body_as(request, Asked, deps.options.body_limit)
        answers = await store.states(f"{_ANSWER}{asked.id}")
        for answer, _ in answers.values():
            return Response(to_json(answer), media_type=JSON)
        await store.put_question(f"{_QUESTION}{asked.id}", asked.model_dump())
        return Response(status_code=202, headers={"Retry-After": "2"})

    @router.get("/questions", response_model=QuestionPage, summary="List open questions")
    async def listing(
        caller: Caller = Depends(guard(authenticator, "read")),
        job: str | None = Query(None, description="only those of this job"),
    ) -> Response:
        """Return what sessions of the caller's tenant wait for at this moment."""
        asked = await open_questions(store, caller, job=job)
        page = QuestionPage(questions=[QuestionView.model_validate(row) for row in asked])
        return Response(page.json_bytes(), media_type=JSON)

    @router.post(
        "/questions/{question}",
        status_code=204,
        response_class=Response,
        summary="Answer a question",
        openapi_extra=body_of(AnswerBody, "application/json"),
    )
    async def reply(
        request: Request, question: str, caller: Caller = Depends(guard(authenticator, "control"))
    ) -> Response:
        """Hands the answer to the session that waits. 404 when none waits for it any more."""
        require_type(request, JSON_TYPES)
        body = await body_as(request, AnswerBody, deps.options.body_limit)
        await answer_question(store, caller, question, body.answer)
        return Response(status_code=204)

    return router


async def open_questions(
    store: Store, caller: Caller, *, job: str | None = None, session: str | None = None
) -> list[Mapping[str, Json]]:
    """The questions of sessions that `caller` may see, which are not answered yet; those of one job or session."""
    answered = {name.removeprefix(_ANSWER) for name in await store.states(_ANSWER)}
    rows = [row for row, age_s in (await store.states(_QUESTION)).values() if age_s <= _OPEN_S]
    return [
        row
        for row in rows
        if row["id"] not in answered
        and caller.sees in (None, row["tenant"])
        and job in (None, row["job"])
        and session in (None, row["session"])
    ]


async def answer_question(store: Store, caller: Caller, question: str, answer: str) -> None:
    """Hands an answer to the session that waits for it.

    Raises:
        NotFound: none waits for it any more.
    """
    if question not in {row["id"] for row in await open_questions(store, caller)}:
        raise NotFound(f"no session waits for an answer to {question!r}")
    await store.put_state(f"{_ANSWER}{question}", {"answer": answer})
    for prefix in (_QUESTION, _ANSWER):
        await store.drop_states(prefix, older_than_s=_KEPT_S)


def require_token(request: Request, token: str) -> None:
    """Raises Unauthenticated unless a worker of this installation asks."""
    kind, _, shown = request.headers.get("authorization", "").partition(" ")
    if not token or kind.lower() != "bearer" or not hmac.compare_digest(shown.encode(), token.encode()):
        raise Unauthenticated("Only this installation's workers ask here.")
