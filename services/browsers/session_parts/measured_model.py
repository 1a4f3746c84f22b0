"""A model whose calls are counted and traced."""

from __future__ import annotations

import time

from shoal.agent.errors import ModelError
from shoal.agent.models.model import Ask, Model, Reply
from shoal.services import tracing
from shoal.services.metrics_delta import MetricsDelta


class MeasuredModel:
    """Measures each call, waiting and retries included: what the session had to wait."""

    def __init__(self, model: Model, metrics_delta: MetricsDelta) -> None:
        self._model = model
        self._metrics_delta = metrics_delta

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
            self._metrics_delta.observe("shoal_model_seconds", outcome, seconds=time.monotonic() - started)

    async def close(self) -> None:
        """See `Model.close`."""
        await self._model.close()
