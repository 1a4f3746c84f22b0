"""From the settings to what this room has to know."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace

from shoal.services.inference.admission import AdmissionConfig, AdmissionRules
from shoal.services.inference.options import VllmOptions
from shoal.services.inference.sizing import MOST_SEQUENCES, Card, sequences_for, shape_of
from shoal.services.settings import Settings

_CROWDED_SHARE = 1 / 6
_CALM_SHARE = 1 / 15
"""Of the time limit of a model call: replies that begin later, or sooner, count as crowded, or calm."""


def vllm_options(settings: Settings, cards: Sequence[Card] = ()) -> VllmOptions:
    """Return how `shoal inference` serves its model.

    Args:
        settings: of `vllm_sequences`, 0 means that they are chosen.
        cards: the GPUs of this machine; the one with the least memory decides. Without any, 64 sequences are taken.
    """
    options = VllmOptions(
        model=settings.vllm_model,
        served_name=settings.model,
        host=settings.vllm_host,
        port=settings.vllm_port,
        api_key=settings.model_api_key.get_secret_value(),
        context_tokens=settings.vllm_context_tokens,
        sequences=settings.vllm_sequences or MOST_SEQUENCES,
        api_servers=settings.vllm_api_servers,
        kv_cache_dtype=settings.vllm_kv_cache,
        memory_share=settings.vllm_memory_share,
        images=settings.vllm_images,
        image_tokens=settings.model_image_tokens,
        image_grid=settings.model_image_grid,
        structured=settings.vllm_structured,
        quantization=settings.vllm_quantization,
        tensor_parallel=settings.vllm_tensor_parallel,
        extra_arguments=tuple(shlex.split(settings.vllm_arguments)),
    )
    shape = shape_of(options.model)
    if settings.vllm_sequences or shape is None or not cards:
        return options
    return replace(options, sequences=sequences_for(min(cards, key=lambda card: card.memory_bytes), shape, options))


def admission_config(settings: Settings) -> AdmissionConfig | None:
    """Return how model-bound sessions are admitted; None where no model is configured, or all are."""
    urls = tuple(url.strip() for url in settings.model_url.split(",") if url.strip())
    if not urls or not settings.model_admission:
        return None
    rules = AdmissionRules(
        most=settings.model_sessions,
        start=min(AdmissionRules().start, settings.model_sessions),
        first_token_high_s=settings.model_timeout_s * _CROWDED_SHARE,
        first_token_low_s=settings.model_timeout_s * _CALM_SHARE,
    )
    return AdmissionConfig(urls, rules)
