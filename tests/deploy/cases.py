"""Installations of the chart that the tests look at: each profile, and combinations of values."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from shoal.agent.support.json_value import Json
from tests.deploy import helm


@dataclass(frozen=True, slots=True)
class Case:
    """One installation."""

    name: str
    values: dict[str, Json] = field(default_factory=dict)
    profiles: tuple[str, ...] = ()

    def objects(self) -> list[Json]:
        """Return what Helm makes of it."""
        return _rendered(self.name)


EXTERNAL: dict[str, Json] = {
    "database": {"existingSecret": "db"},
    "artifacts": {"url": "s3://bucket/prefix", "existingSecret": "s3"},
}
TRIAL: dict[str, Json] = {"postgresql": {"enabled": True}, "objectStore": {"enabled": True}}
_MODEL = {"name": "qwen", "model": "Qwen/Qwen3-VL-8B-Instruct-FP8"}
_EDGE = {"name": "edge", "namespace": "ingress", "sectionName": "https", "port": 443}
_SHARED = {"weights": {"accessMode": "ReadWriteMany"}}
_SECOND = {
    "name": "large",
    "model": "/weights/large",
    "servedName": "big",
    "gpus": 4,
    "images": 0,
    "imageTokens": 640,
    "quantization": "fp8",
    "apiServers": 4,
    "kvCache": "fp8",
    "weights": {"existingClaim": "large-weights"},
    "args": ["--enforce-eager"],
    "resources": {"requests": {"cpu": "8"}, "limits": {"memory": "96Gi"}},
}
_GROUP = {
    "name": "browsers",
    "browsers": 1,
    "minReplicas": 0,
    "maxReplicas": 3,
    "shmMiB": 512,
    "resources": {"requests": {"cpu": "2", "memory": "3Gi"}, "limits": {"memory": "4Gi"}},
}

CASES: tuple[Case, ...] = (
    Case("small", {}, ("small",)),
    Case("production", {}, ("production",)),
    Case("small on openshift", {}, ("small", "openshift")),
    Case("production on openshift", {}, ("production", "openshift")),
    Case("external stores", EXTERNAL),
    Case("trial", TRIAL),
    Case(
        "inline credentials",
        {
            "database": {"url": "postgresql://u:p@db/shoal"},
            "artifacts": {
                "url": "s3://bucket",
                "endpointUrl": "https://s3.example.com",
                "accessKeyId": "id",
                "secretAccessKey": "secret",
            },
        },
    ),
    Case("roles of the cloud", {"database": {"existingSecret": "db"}, "artifacts": {"url": "s3://bucket"}}),
    Case(
        "external model", TRIAL | {"model": {"url": "https://m.example.com/v1", "name": "m", "existingSecret": "key"}}
    ),
    Case("one model", EXTERNAL | {"vllm": {"models": [_MODEL]}}),
    Case(
        "two models, the second used",
        EXTERNAL | {"model": {"name": "large"}, "vllm": {"models": [_MODEL, _SECOND], "download": False}},
    ),
    Case(
        "router and keda",
        EXTERNAL
        | {
            "router": {"enabled": True},
            "vllm": {"models": [_MODEL | _SHARED | {"replicas": 2}, _SECOND], "keda": {"enabled": True}},
        },
    ),
    Case("no sandbox", EXTERNAL | {"browsers": {"sandbox": "off"}}),
    Case("profile by the operator", EXTERNAL | {"browsers": {"seccomp": {"install": "operator"}}}),
    Case(
        "profile is there",
        EXTERNAL | {"browsers": {"seccomp": {"install": "none", "localhostProfile": "profiles/chromium.json"}}},
    ),
    Case(
        "several groups",
        EXTERNAL
        | {"browsers": {"groups": [_GROUP, _GROUP | {"name": "large", "browsers": 4, "nodeSelector": {"a": "b"}}]}},
    ),
    Case("no autoscaler", EXTERNAL | {"ray": {"autoscaler": {"enabled": False}}}),
    Case(
        "head survives",
        EXTERNAL
        | {
            "ray": {
                "existingAuthSecret": "token",
                "gcsFaultTolerance": {
                    "enabled": True,
                    "redisAddress": "redis:6380",
                    "username": "shoal",
                    "existingSecret": "redis",
                },
            }
        },
    ),
    Case("monitored", EXTERNAL | {"monitoring": {"monitors": True, "rules": True, "dashboards": True}}),
    Case(
        "authorities of one's own",
        EXTERNAL
        | {"help": {"enabled": True}, "vllm": {"models": [_MODEL]}, "tls": {"caBundle": {"configMap": "company-ca"}}},
    ),
    Case(
        "authorities in a secret",
        TRIAL | {"tls": {"caBundle": {"existingSecret": "company-ca", "key": "bundle.pem"}}},
    ),
    Case("help by people", EXTERNAL | {"help": {"enabled": True}}),
    Case(
        "traced",
        EXTERNAL
        | {
            "tracing": {
                "url": "http://collector.tracing:4318/v1/traces",
                "share": 0.1,
                "to": [{"namespaceSelector": {"matchLabels": {"app": "tracing"}}}],
            }
        },
    ),
    Case(
        "exposed",
        EXTERNAL
        | {
            "gateway": {
                "publicUrl": "https://shoal.example.com",
                "ingress": {"enabled": True, "hosts": ["shoal.example.com"], "tls": [{"secretName": "tls"}]},
                "httpRoute": {"enabled": True, "parentRefs": [_EDGE], "hostnames": ["*.shoal.example.com"]},
            },
            "networkPolicy": {"gatewayFrom": [{"podSelector": {"matchLabels": {"app": "proxy"}}}]},
        },
    ),
    Case(
        "no policies, no classes",
        EXTERNAL | {"networkPolicy": {"enabled": False}, "priorityClasses": {"create": False}},
    ),
    Case(
        "settings",
        EXTERNAL
        | {
            "settings": {
                "lease_s": 90,
                "requests_per_s": 12.5,
                "tenant_queued": 1000000,
                "allow_python": True,
                "allow_hosts": ["intranet.example.com", "10.0.0.0/8"],
                "log_level": "debug",
            }
        },
    ),
    Case(
        "secrets for jobs, digests, registry",
        EXTERNAL
        | {
            "browsers": {"jobSecrets": [{"tenant": "acme", "existingSecret": "acme-logins"}]},
            "image": {
                "registry": "registry.example.com/team",
                "gateway": {"digest": "sha256:" + "a" * 64},
                "worker": {"digest": "sha256:" + "b" * 64},
            },
            "imagePullSecrets": [{"name": "pull"}],
            "commonLabels": {"team": "data"},
        },
    ),
    Case(
        "other names",
        EXTERNAL | {"nameOverride": "fish", "fullnameOverride": "a-very-long-name-that-is-cut-off-somewhere-here"},
    ),
)


@cache
def _rendered(name: str) -> list[Json]:
    case = next(case for case in CASES if case.name == name)
    return helm.render(case.values, *case.profiles)
