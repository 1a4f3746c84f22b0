"""A model whose calls are counted and traced."""

from __future__ import annotations

import time

from agent.errors import ModelError
from agent.models.model import Ask, Model, Reply
from services import tracing
from services.tally import Tally


class MeasuredModel:
    """Puts the time of each call into a tally, waiting and retries included: what the session had to wait."""

    def __init__(self, model: Model, tally: Tally) -> None:
        self._model = model
        self._tally = tally

    async def ask(self, ask: Ask) -> Reply:
        """See `Model.ask`."""
        started = time.monotonic()
        outcome = "canceled"
        try:
            with tracing.span("model call", schema=ask.schema_name):
                reply = await self._model.ask(ask)
            outcome = "ok"
            return reply
        except ModelError as error:
            outcome = error.code
            raise
        finally:
            self._tally.observe("shoal_model_seconds", outcome, seconds=time.monotonic() - started)

    async def close(self) -> None:
        """See `Model.close`."""
        await self._model.close()
