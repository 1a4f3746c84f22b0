"""The model that judges runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shoal.agent.models.model import Model
from shoal.agent.models.openai_compatible import OpenAICompatible
from shoal.services.browsers.configs import model_settings
from shoal.services.errors import BadInput
from shoal.services.settings import Settings


@asynccontextmanager
async def judging(settings: Settings, *, required: bool, url: str = "", name: str = "") -> AsyncIterator[Model | None]:
    """The judge's model: one of its own, or the one that decides; None where none is `required`.

    Raises:
        BadInput: one is needed, and none is named.
    """
    if not required:
        yield None
        return
    own = {"model_url": url, "model": name or settings.model} if url else {}
    options = model_settings(settings.model_copy(update=own))
    if options is None:
        raise BadInput("a judge is wanted: name its server with --judge-url, or set SHOAL_MODEL_URL")
    model = OpenAICompatible(options)
    try:
        yield model
    finally:
        await model.close()
