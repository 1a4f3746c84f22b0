"""The field glossary of a session's schema: known in the cluster, or asked of the model once for all sessions."""

from __future__ import annotations

import asyncio
from typing import Protocol

from shoal.agent.errors import BudgetSpent, ModelError, ModelUnavailable, ReplyInvalid
from shoal.agent.policies.model.field_glossary import LONGEST_SCHEMA, glossary_key
from shoal.agent.policies.model.policy import ModelPolicy
from shoal.agent.policies.policy import SessionState
from shoal.agent.spec import schema_text
from shoal.agent.support.json_value import Json
from shoal.agent.support.moments import loop_time
from shoal.agent.types import FieldGlossary
from shoal.agent.worker_messages import GlossaryAnswer

_WITHOUT = "read without a field glossary: "
_UNUSABLE = "an earlier session asked the model, whose reply could not be used"
_SILENT = "an earlier session asked the model, which did not answer"
_SILENT_S = 60.0
"""Seconds for which no other session waits for a model that has not answered."""
_ANSWER_S = 5.0
"""Patience with the dispatcher, whose answer takes some hundredths of a second."""
_MODEL_S = 60.0
"""Patience with the model: rules read without it, too, and a server may be away for long."""
_OTHERS_S = 60.0
"""Patience with another session that asks a model."""
_LEFT_OUT = 10
"""Words of an answer that are told to have been left out."""


class SharedGlossaries(Protocol):
    """The cluster's field glossaries; `shoal.services.browsers.reports.outbox` asks for them."""

    async def glossary(self, key: str) -> GlossaryAnswer | None: ...

    def share_glossary(self, key: str, answered: FieldGlossary) -> None: ...

    def return_glossary(self, key: str) -> None: ...


class FieldGlossaries:
    """The glossaries of one session.

    Args:
        policy: asks the model.
        model: its name.
        shared: what other sessions have been answered.
    """

    def __init__(self, policy: ModelPolicy, model: str, shared: SharedGlossaries) -> None:
        self._policy = policy
        self._model = model
        self._shared = shared

    async def of(self, state: SessionState, schema: dict[str, Json]) -> tuple[FieldGlossary, str | None]:
        """See `shoal.agent.sessions.dependencies.Glossaries`. What a model does wrong ends no session.

        Other sessions hear what the model has answered, and for a while that it is silent: each would wait as long.
        Where it did not come to that, the next one asks: a spent budget, for one, is a matter of this job.
        """
        if len(schema_text(schema)) > LONGEST_SCHEMA:
            return _none(f"the schema has more than {LONGEST_SCHEMA:,} characters"), None
        key = glossary_key(schema, self._model)
        answer = await self._find_shared(key)
        if isinstance(answer, str):
            return _none(answer), None
        if answer.glossary is not None:
            return answer.glossary, None
        answered: FieldGlossary | None = None
        try:
            glossary, prompt, answered = await self._ask_model(state, schema)
        finally:
            if answered is None:
                self._shared.return_glossary(key)
            else:
                self._shared.share_glossary(key, answered)
        return glossary, prompt

    async def _find_shared(self, key: str) -> GlossaryAnswer | str:
        """Return what another session was answered, or the order to ask; in words why neither comes in time."""
        until = loop_time() + _OTHERS_S
        while True:
            answer: GlossaryAnswer | None = None
            try:
                async with asyncio.timeout(_ANSWER_S):
                    answer = await self._shared.glossary(key)
            except TimeoutError:
                return f"the dispatcher did not say within {_ANSWER_S:g} s whether it is known"
            finally:
                if answer is None:  # the order to ask may come too late, or to a session that is canceled
                    self._shared.return_glossary(key)
            if answer is None:
                return "the store could not say whether it is known"
            if answer.ask or answer.glossary is not None:
                return answer
            if loop_time() >= until:
                return "another session was still asking the model for it"
            await asyncio.sleep(answer.wait_s)

    async def _ask_model(
        self, state: SessionState, schema: dict[str, Json]
    ) -> tuple[FieldGlossary, str | None, FieldGlossary | None]:
        """The glossary for this session, prompt and reply, and what the model answered as all others are told it."""
        try:
            async with asyncio.timeout(_MODEL_S):
                answer = await self._policy.glossary(state, schema)
        except TimeoutError:
            return _none(f"the model did not answer within {_MODEL_S:g} s"), None, _none(_SILENT, _SILENT_S)
        except (ModelError, BudgetSpent) as error:
            transcript = error.details.get("transcript")
            others = _none(_UNUSABLE) if isinstance(error, ReplyInvalid) else None
            if isinstance(error, ModelUnavailable):
                others = _none(_SILENT, _SILENT_S)
            return _none(error.message), transcript if isinstance(transcript, str) else None, others
        left_out = answer.value.left_out[:_LEFT_OUT]
        note = f"of the field glossary was left out, as unknown: {', '.join(left_out)}" if left_out else ""
        glossary = FieldGlossary(dict(answer.value.entries), note)
        return glossary, answer.transcript, glossary


def _none(why: str, silent_s: float = 0.0) -> FieldGlossary:
    return FieldGlossary({}, f"{_WITHOUT}{why}", silent_s)
