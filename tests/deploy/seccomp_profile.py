"""The schema of the Security Profiles Operator's SeccompProfile, from 0.8.4 to 1.0.0, as far as the chart uses it."""

from __future__ import annotations

from tests.deploy.gateway_api import Json, record

_ACTION = {"enum": ["SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO", "SCMP_ACT_KILL", "SCMP_ACT_LOG", "SCMP_ACT_TRAP"]}
_COMPARED = {"enum": [f"SCMP_CMP_{name}" for name in ("NE", "LT", "LE", "EQ", "GE", "GT", "MASKED_EQ")]}
_NUMBER = {"type": "integer", "minimum": 0}

SECCOMP_PROFILE: Json = record(
    ("apiVersion", "kind", "metadata", "spec"),
    apiVersion={"const": "security-profiles-operator.x-k8s.io/v1beta1"},
    kind={"const": "SeccompProfile"},
    metadata={"type": "object", "properties": {"namespace": False}},  # the cluster's since 0.9.0
    spec=record(
        ("defaultAction",),
        defaultAction=_ACTION,
        architectures={"type": "array", "items": {"enum": ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"]}},
        syscalls={
            "type": "array",
            "items": record(
                ("action", "names"),
                action=_ACTION,
                names={"type": "array", "minItems": 1, "items": {"type": "string"}},
                errnoRet={"type": "integer"},
                args={
                    "type": "array",
                    "maxItems": 6,
                    "items": record(("index", "op"), index=_NUMBER, op=_COMPARED, value=_NUMBER, valueTwo=_NUMBER),
                },
            ),
        },
    ),
)
