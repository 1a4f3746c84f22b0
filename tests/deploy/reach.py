"""Connections that the chart's NetworkPolicies let one Ray pod make to another."""

from __future__ import annotations

from shoal.agent.support.json_value import Json
from tests.deploy.objects import matches, of_kind, pods


def reaches(objects: list[Json], source: str, target: str, port: int) -> bool:
    """Return whether policies let a Ray pod of one kind reach a port of another:
    both its egress and the other's ingress.
    """
    by_part = {pod.labels["app.kubernetes.io/component"]: pod for pod in pods(of_kind(objects, "RayCluster"))}

    def allowed(part: str, other: str, direction: str, peers: str) -> bool:
        for policy in of_kind(objects, "NetworkPolicy"):
            if matches(policy["spec"]["podSelector"], by_part[part].labels):
                for rule in policy["spec"].get(direction, ()):
                    peer = any(
                        matches(p["podSelector"], by_part[other].labels)
                        for p in rule.get(peers, ())
                        if "podSelector" in p
                    )
                    ports = rule.get("ports")
                    fits = ports is None or any(
                        p["port"] <= port <= p.get("endPort", p["port"])
                        for p in ports
                        if isinstance(p.get("port"), int)
                    )
                    if peer and fits:
                        return True
        return False

    return allowed(source, target, "egress", "to") and allowed(target, source, "ingress", "from")
