"""Errors around the model server."""

from __future__ import annotations

from shoal.services.errors import ServiceError


class InferenceError(ServiceError):
    """The model server cannot be run or read."""

    code = "inference_error"


class ServerNotFound(InferenceError):
    """The program that serves models is not there: `pip install 'shoal[vllm]'`, or SHOAL_VLLM_PROGRAM names it."""

    code = "model_server_not_found"


class ServerEnded(InferenceError):
    """The model server ended by itself; its own output says why."""

    code = "model_server_ended"


class ServerSilent(InferenceError):
    """The model server did not become healthy, or did not answer its first step, within its time."""

    code = "model_server_silent"


class MetricsAway(InferenceError):
    """The model server's metrics cannot be read."""

    code = "model_metrics_away"


class MetricsMissing(MetricsAway):
    """The server answers, but has no metrics of vLLM."""

    code = "model_metrics_missing"
