"""Which worker has a session that people look at. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.agent.support.json_value import Json
from shoal.agent.worker_messages import LiveRequest
from shoal.services.dispatch.dispatch_state import Lease
from shoal.services.live_messages import REQUEST_S

Requests = dict[str, dict[int, tuple[LiveRequest, ...]]]
"""By worker and session."""


def live_requests(states: Mapping[str, tuple[Mapping[str, Json], float]], leases: Mapping[int, Lease]) -> Requests:
    """Return what each worker is to be told of the requests that gateways keep in the store.

    Args:
        states: the requests by name, each with its age in seconds.
        leases: of this dispatcher, by session.
    """
    requests: Requests = {}
    for _, (request, age_s) in sorted(states.items()):
        lease = leases.get(request["session"])
        if lease is None or age_s > REQUEST_S:
            continue
        asked = LiveRequest(request["url"], request["ticket"])
        sessions = requests.setdefault(lease.worker, {})
        sessions[lease.work.session] = (*sessions.get(lease.work.session, ()), asked)
    return requests
