"""The schema of the Gateway API's HTTPRoute v1, as far as the chart uses it: its names, limits and patterns."""

from __future__ import annotations

from shoal.agent.support.json_value import Json

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAMESPACE = {"type": "string", "pattern": f"^{_LABEL}$", "maxLength": 63}
_PORT = {"type": "integer", "minimum": 1, "maximum": 65535}
_HOST = rf"^(\*\.)?{_LABEL}(\.{_LABEL})*$"


def record(required: tuple[str, ...] = (), **properties: Json) -> Json:
    """An object with these properties and no other."""
    return {"type": "object", "additionalProperties": False, "required": list(required), "properties": properties}


def _list(items: Json, most: int) -> Json:
    return {"type": "array", "items": items, "minItems": 1, "maxItems": most}


_NAMED: Json = {
    "group": {"type": "string", "pattern": rf"^$|^{_LABEL}(\.{_LABEL})*$", "maxLength": 253},
    "kind": {"type": "string", "pattern": r"^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$", "maxLength": 63},
    "name": {"type": "string", "minLength": 1, "maxLength": 253},
    "namespace": _NAMESPACE,
    "port": _PORT,
}
_SECTION = {"type": "string", "pattern": rf"^{_LABEL}(\.{_LABEL})*$", "maxLength": 253}
_PATH = record(type={"enum": ["Exact", "PathPrefix", "RegularExpression"]}, value={"type": "string", "maxLength": 1024})

HTTP_ROUTE: Json = record(
    ("apiVersion", "kind", "metadata", "spec"),
    apiVersion={"const": "gateway.networking.k8s.io/v1"},
    kind={"const": "HTTPRoute"},
    metadata={"type": "object"},
    spec=record(
        ("parentRefs", "rules"),  # without parents it hangs nowhere
        parentRefs=_list(record(("name",), **_NAMED, sectionName=_SECTION), 32),
        hostnames=_list({"type": "string", "pattern": _HOST, "maxLength": 253}, 16),
        rules=_list(
            record(
                matches=_list(record(path=_PATH), 64),
                backendRefs=_list(record(("name", "port"), **_NAMED, weight={"type": "integer", "minimum": 0}), 16),
            ),
            16,
        ),
    ),
)
