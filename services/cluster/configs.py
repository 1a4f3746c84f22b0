"""From the settings to what the dispatcher and the artifact store have to know. The settings stop here."""

from __future__ import annotations

from shoal.services.artifacts.open import open_artifacts
from shoal.services.artifacts.store import ArtifactStore
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.inference.configs import admission_config
from shoal.services.settings import Settings


def dispatch_config(settings: Settings) -> DispatchConfig:
    """Return how the dispatcher works."""
    return DispatchConfig(
        name=settings.dispatcher,
        workers=settings.workers,
        lease_s=settings.lease_s,
        per_domain=settings.per_domain,
        most_workers=settings.most_workers,
        one_machine=not settings.ray_address,
        tenant_weights=settings.tenant_weights,
        tenant_share=settings.tenant_share,
        max_attempts=settings.max_attempts,
        admission=admission_config(settings),
        has_model=bool(settings.model_url),
    )


def artifact_store(settings: Settings) -> ArtifactStore:
    """The artifact store, as the gateway uses it."""
    return open_artifacts(settings.artifacts_url, settings.artifact_options())
