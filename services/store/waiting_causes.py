"""Causes for which sessions wait: the one list that the store, the dispatchers and the gateways share.

Values cross every seam: dispatchers write them into their snapshots, the API and the metrics show them as they are.
Words are made from them by the gateway alone (`shoal.services.web.cluster_state.waiting_words`).
"""

from __future__ import annotations

from enum import StrEnum


class WaitingCause(StrEnum):
    """Causes for which a session waits. The values are part of the API: never change one."""

    PAUSED = "paused"
    """Its owner paused the job."""
    CANCELED = "canceled"
    """Its job is being canceled; the session is canceled next."""
    CHILDREN = "children"
    """The items of its loop."""
    RETRY_TIME = "retry_time"
    """The pause before its next attempt."""
    CONCURRENCY = "concurrency"
    """The loop's own limit: a sibling has to end first."""
    LEARNING = "learning"
    """The loop learns from its first items."""
    DISPATCHER = "dispatcher"
    """No dispatcher is running."""
    WORKER = "worker"
    """No browser worker is running."""
    DOMAIN_PAUSE = "domain_pause"
    """The site asked for a pause."""
    SITE_PAUSED = "site_paused"
    """An operator paused the site."""
    DOMAIN_DELAY = "domain_delay"
    """The delay between two sessions on the site."""
    DOMAIN_LIMIT = "domain_limit"
    """As many sessions as are allowed are on the site."""
    MODEL = "model"
    """The model server takes no more sessions."""
    SHARE = "share"
    """Its tenant holds as many slots as one tenant may."""
    SLOT = "slot"
    """Every browser slot is busy."""
    TURN = "turn"
    """Slots are free: the next claim takes the session."""
