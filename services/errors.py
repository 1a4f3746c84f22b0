"""Errors of the cluster around the agent; the gateway turns them into problem details by one table."""

from __future__ import annotations

import inspect


class ServiceError(Exception):
    """Something in the cluster went wrong."""

    code = "service_error"

    def __init__(self, message: str | None = None, **details: object) -> None:
        self.details = details
        self.message = message or inspect.getdoc(type(self)) or type(self).__name__
        super().__init__(self.message)


class NotFound(ServiceError):
    """There is no such thing, or it belongs to another tenant."""

    code = "not_found"


class WrongState(ServiceError):
    """This cannot be done in the state that it is in."""

    code = "wrong_state"


class KeyReused(ServiceError):
    """The idempotency key stands for an earlier job with another spec."""

    code = "idempotency_key_reused"


class BadInput(ServiceError):
    """The input is not valid. `errors` lists the place and the reason of each fault."""

    code = "bad_input"


class NotAllowed(ServiceError):
    """The key does not allow this."""

    code = "not_allowed"


class Unauthenticated(ServiceError):
    """No valid API key."""

    code = "unauthenticated"


class LoginProviderAway(ServiceError):
    """The OpenID Connect provider does not answer as it should."""

    code = "login_provider_away"


class QuotaExceeded(ServiceError):
    """The tenant's quota is used up; `retry_after_s` says when to come again."""

    code = "quota_exceeded"


class TooLarge(ServiceError):
    """The body is larger than the gateway takes."""

    code = "too_large"


class NotJson(ServiceError):
    """The body must be JSON and say so in its Content-Type."""

    code = "not_json"


class StoreAway(ServiceError):
    """The database does not answer."""

    code = "store_away"


class StoreBroken(StoreAway):
    """The database's file is damaged or gone: no waiting mends it."""

    code = "store_broken"


class StoreOutdated(ServiceError):
    """The database has another schema version than this program; run `shoal migrate`."""

    code = "store_outdated"


class ArtifactMissing(ServiceError):
    """The artifact store has nothing under this key."""

    code = "artifact_missing"


class ArtifactWaiting(ServiceError):
    """The artifact is not in the artifact store yet: its worker could not bring it there so far."""

    code = "artifact_waiting"


class ArtifactStoreAway(ServiceError):
    """The artifact store does not answer."""

    code = "artifact_store_away"


class BadSetting(ServiceError):
    """A setting is unknown or has a value that it cannot have."""

    code = "bad_setting"


class ClusterFailed(ServiceError):
    """The embedded cluster could not be started."""

    code = "cluster_failed"
