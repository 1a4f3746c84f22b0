"""From the settings to what this room has to know."""

from __future__ import annotations

import shlex

from shoal.services.inference.admission import AdmissionRules
from shoal.services.inference.options import VllmOptions
from shoal.services.inference.watch import AdmissionConfig
from shoal.services.settings import Settings

_CROWDED_SHARE = 1 / 6
_CALM_SHARE = 1 / 15
"""Of the time limit of a model call: replies that begin later, or sooner, count as crowded, or calm."""


def vllm_options(settings: Settings) -> VllmOptions:
    """What `shoal inference` serves."""
    return VllmOptions(
        model=settings.vllm_model,
        served_name=settings.model,
        host=settings.vllm_host,
        port=settings.vllm_port,
        api_key=settings.model_api_key.get_secret_value(),
        context_tokens=settings.vllm_context_tokens,
        sequences=settings.vllm_sequences,
        memory_share=settings.vllm_memory_share,
        images=settings.vllm_images,
        image_tokens=settings.model_image_tokens,
        image_grid=settings.model_image_grid,
        structured=settings.vllm_structured,
        quantization=settings.vllm_quantization,
        tensor_parallel=settings.vllm_tensor_parallel,
        extra_arguments=tuple(shlex.split(settings.vllm_arguments)),
    )


def admission_config(settings: Settings) -> AdmissionConfig | None:
    """How model-bound sessions are admitted; None where no model is configured, or all are."""
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
