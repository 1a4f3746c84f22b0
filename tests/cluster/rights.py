"""Rights of each service account of a rendering at Kubernetes, as a list of questions with their answers."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.agent.support.json_value import Json
from tests.deploy.objects import of_kind


@dataclass(frozen=True, slots=True)
class Question:
    """A question about an account's right to do something, and the expected answer."""

    account: str
    attributes: Json  # resourceAttributes of a SubjectAccessReview
    allowed: bool

    @property
    def user(self) -> str:
        """The account's user name."""
        return f"system:serviceaccount:{self.attributes['namespace']}:{self.account}"


_NOBODY_MAY: tuple[tuple[str, str, str], ...] = (
    ("get", "", "secrets"),
    ("list", "", "secrets"),
    ("create", "", "pods"),
    ("delete", "", "pods"),
    ("create", "", "pods/exec"),
    ("create", "", "serviceaccounts/token"),
    ("get", "", "configmaps"),
    ("patch", "apps", "deployments"),
    ("create", "batch", "jobs"),
    ("create", "rbac.authorization.k8s.io", "rolebindings"),
    ("delete", "ray.io", "rayclusters"),
    ("create", "ray.io", "rayclusters"),
    ("list", "ray.io", "rayclusters"),
)
_AUTOSCALER_MAY = frozenset(
    {
        *((verb, "", "pods", "") for verb in ("get", "list", "watch", "patch")),
        *((verb, "ray.io", "rayclusters", "OWN") for verb in ("get", "patch")),
    }
)
_UNINSTALL_MAY = frozenset(
    {("list", "", "pods", ""), *((verb, "ray.io", "rayclusters", "OWN") for verb in ("get", "delete"))}
)


def questions(objects: list[Json], namespace: str) -> list[Question]:
    """Everything that is asked about the accounts of a rendering."""
    found = []
    clusters = of_kind(objects, "RayCluster")
    own = clusters[0]["metadata"]["name"]
    scales = bool(clusters[0]["spec"].get("enableInTreeAutoscaling"))
    for account in (obj["metadata"]["name"] for obj in of_kind(objects, "ServiceAccount")):
        for verb, group, resource in _NOBODY_MAY:
            found.append(Question(account, _attributes(namespace, verb, group, resource), False))
        of_head = _AUTOSCALER_MAY if scales else frozenset()
        may = {"head": of_head, "uninstall": _UNINSTALL_MAY}.get(account.rpartition("-")[2], frozenset())
        for verb, group, resource, name in sorted(_AUTOSCALER_MAY | _UNINSTALL_MAY):
            asked = _attributes(namespace, verb, group, resource, own if name else "")
            found.append(Question(account, asked, (verb, group, resource, name) in may))
            if name:
                found.append(Question(account, _attributes(namespace, verb, group, resource, "another"), False))
    return found


def _attributes(namespace: str, verb: str, group: str, resource: str, name: str = "") -> Json:
    kind, _, below = resource.partition("/")
    asked = {"namespace": namespace, "verb": verb, "group": group, "resource": kind, "name": name, "subresource": below}
    return {key: value for key, value in asked.items() if value or key == "group"}


def by_roles(objects: list[Json], question: Question) -> bool:
    """The answer that the rendering's own Roles and RoleBindings give, as RBAC reads them."""
    asked = question.attributes
    whole = "/".join(part for part in (asked["resource"], asked.get("subresource")) if part)
    bound = {
        binding["roleRef"]["name"]
        for binding in of_kind(objects, "RoleBinding")
        if any(subject["name"] == question.account for subject in binding["subjects"])
    }
    rules = [rule for role in of_kind(objects, "Role") if role["metadata"]["name"] in bound for rule in role["rules"]]
    return any(
        asked["verb"] in rule["verbs"]
        and asked["group"] in rule["apiGroups"]
        and whole in rule["resources"]
        and ("resourceNames" not in rule or asked.get("name") in rule["resourceNames"])
        for rule in rules
    )
