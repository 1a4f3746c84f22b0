"""Rules for the chart's values, beyond those that their defaults tell.

Keys are paths; `*.name` holds wherever that name stands.
"""

from __future__ import annotations

from shoal.agent.support.json_value import Json
from shoal.services.settings import Settings

# No fraction as a number: in a custom resource, such as a RayCluster, the API server refuses 0.5 and takes "0.5".
_QUANTITY = {"type": ["string", "integer"], "pattern": r"^[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$"}
_NAME = {"type": "string", "pattern": r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$"}
_SHORT_NAME = {"type": "string", "pattern": r"^[a-z]([-a-z0-9]{0,18}[a-z0-9])?$"}
_PART = r"[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?"
_QUALIFIED = rf"^({_PART}(\.{_PART}){{0,4}}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{{0,61}}[A-Za-z0-9])?$"
"""A key of a label or an annotation."""
_ANNOTATIONS = {"type": "object", "propertyNames": {"pattern": _QUALIFIED}, "additionalProperties": {"type": "string"}}
_LABELS = {
    "type": "object",
    "propertyNames": {"pattern": _QUALIFIED},
    "additionalProperties": {"type": "string", "pattern": r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$"},
}
_LABEL = {"type": "string", "pattern": r"^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?$"}
_KEY = {"type": "string", "pattern": r"^[-._a-zA-Z0-9]{1,253}$"}
_HOSTNAME = {"type": "string", "pattern": r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"}
_WILD_HOST = r"^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
_TAG = {"type": "string", "pattern": r"^([A-Za-z0-9_][A-Za-z0-9._-]{0,127})?$"}
_URL = {"type": "string", "pattern": r"^(https?://[!-~]+)?$"}
_PORT = {"type": "integer", "minimum": 1, "maximum": 65535}
_COUNT = {"type": "integer", "minimum": 1}
_FROM_ZERO = {"type": "integer", "minimum": 0}
_ID = {"type": ["integer", "null"], "minimum": 1}


def _choice(*values: str) -> Json:
    return {"type": "string", "enum": list(values)}


def _ref(name: str) -> Json:
    return {"$ref": f"#/definitions/{name}"}


DEFINITIONS: Json = {
    "resources": {
        "type": "object",
        "additionalProperties": False,
        "properties": {part: {"type": "object", "additionalProperties": _QUANTITY} for part in ("requests", "limits")},
    },
    "networks": {
        "type": "array",
        "items": {"type": "string", "pattern": r"^([0-9]{1,3}(\.[0-9]{1,3}){3}|[0-9a-fA-F:]+)/[0-9]{1,3}$"},
    },
    "ports": {"type": "array", "minItems": 1, "items": _PORT},
    "objects": {"type": "array", "items": {"type": "object"}},
    "tolerations": {
        "type": "array",
        "items": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "key": {"type": "string"},
                "operator": _choice("Equal", "Exists"),
                "value": {"type": "string"},
                "effect": _choice("NoSchedule", "PreferNoSchedule", "NoExecute"),
                "tolerationSeconds": {"type": "integer"},
            },
        },
    },
    "peers": {
        "type": "array",
        "items": {
            "type": "object",
            "additionalProperties": False,
            "minProperties": 1,
            "properties": {part: {"type": "object"} for part in ("podSelector", "namespaceSelector", "ipBlock")},
        },
    },
    "affinity": {
        "type": "object",
        "additionalProperties": False,
        "properties": {part: {"type": "object"} for part in ("nodeAffinity", "podAffinity", "podAntiAffinity")},
    },
}

_PLACEMENT = {"nodeSelector": _LABELS, "tolerations": _ref("tolerations"), "affinity": _ref("affinity")}

_GROUP = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "browsers", "minReplicas", "maxReplicas", "shmMiB", "resources"],
    "properties": {
        "name": _SHORT_NAME,
        "browsers": {"type": "integer", "minimum": 1, "maximum": 64},
        "minReplicas": _FROM_ZERO,
        "maxReplicas": _COUNT,
        "shmMiB": {"type": "integer", "minimum": 336},
        "resources": _ref("resources"),
        **_PLACEMENT,
    },
}

_MODEL = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "model"],
    "properties": {
        "name": _SHORT_NAME,
        "model": {"type": "string", "minLength": 1},
        "servedName": {"type": "string", "minLength": 1},
        "replicas": _COUNT,
        "contextTokens": {"type": "integer", "minimum": 2048},
        "sequences": _COUNT,
        "images": {"type": "integer", "minimum": 0, "maximum": 100},
        "imageTokens": {"type": "integer", "minimum": 16, "maximum": 16384},
        "apiServers": {"type": "integer", "minimum": 1, "maximum": 64},
        "kvCache": {"enum": ["auto", "fp8"]},
        "memoryShare": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        "quantization": {"type": "string"},
        "gpus": {"type": "integer", "minimum": 1, "maximum": 16},
        "args": {"type": "array", "items": {"type": "string"}},
        "resources": _ref("resources"),
        "weights": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "size": _QUANTITY,
                "storageClassName": _NAME,
                "accessMode": _choice("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"),
                "existingClaim": _NAME,
            },
        },
        "autoscaling": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"minReplicas": _FROM_ZERO, "maxReplicas": _COUNT},
        },
        **_PLACEMENT,
    },
}

RULES: dict[str, Json] = {
    "*.resources": _ref("resources"),
    "*.bucketResources": _ref("resources"),
    "*.waitResources": _ref("resources"),
    "*.nodeSelector": _LABELS,
    "*.tolerations": _ref("tolerations"),
    "*.affinity": _ref("affinity"),
    "*.podAnnotations": _ANNOTATIONS,
    "*.annotations": _ANNOTATIONS,
    "*.tag": _TAG,
    "*.existingSecretKey": _KEY,
    "*.storageClassName": _NAME,
    "nameOverride": _LABEL,
    "fullnameOverride": {"type": "string", "pattern": r"^([a-z]([-a-z0-9]{0,61}[a-z0-9])?)?$"},
    "clusterDomain": _HOSTNAME,
    "artifacts.accessKeyIdKey": _KEY,
    "artifacts.secretAccessKeyKey": _KEY,
    "artifacts.region": {"type": "string", "pattern": r"^[-a-z0-9]*$"},
    "gateway.existingCookieSecretKey": _KEY,
    "gateway.existingWebhookSecretKey": _KEY,
    "gateway.existingOidcSecretKey": _KEY,
    "gateway.existingSmtpSecretKey": _KEY,
    "gateway.ingress.className": _NAME,
    "vllm.gpuResource": {"type": "string", "pattern": _QUALIFIED},
    "vllm.runtimeClassName": _NAME,
    "monitoring.dashboardLabel": {"type": "string", "pattern": _QUALIFIED},
    "*.networks": _ref("networks"),
    "*.ports": _ref("ports"),
    "*.digest": {"type": "string", "pattern": r"^(sha256:[0-9a-f]{64})?$"},
    "*.repository": {"type": "string", "pattern": r"^[a-z0-9]([-._:/a-z0-9]*[a-z0-9])?$"},
    "*.existingSecret": _NAME,
    "*.storage": _QUANTITY,
    "*.replicas": _COUNT,
    "commonLabels": _LABELS
    | {
        "propertyNames": {
            "allOf": [{"pattern": _QUALIFIED}, {"not": {"pattern": r"^(app\.kubernetes\.io|helm\.sh|ray\.io)/"}}]
        }
    },
    "imagePullSecrets": {
        "type": "array",
        "items": {"type": "object", "required": ["name"], "properties": {"name": _NAME}, "additionalProperties": False},
    },
    "image.registry": {"type": "string", "pattern": r"^([a-z0-9]([-._:/a-z0-9]*[a-z0-9])?)?$"},
    "image.pullPolicy": _choice("Always", "IfNotPresent", "Never"),
    "podSecurity.runAsUser": _ID,
    "podSecurity.runAsGroup": _ID,
    "podSecurity.fsGroup": _ID,
    "tls.caBundle.configMap": _NAME,
    "tls.caBundle.key": _KEY,
    "database.url": {"type": "string", "pattern": r"^(postgres(ql)?(\+[a-z0-9]+)?://[!-~]+)?$"},
    "artifacts.url": {"type": "string", "pattern": r"^((s3|az)://[a-z0-9][a-z0-9.-]+(/[!-~]*)?)?$"},
    "artifacts.endpointUrl": _URL,
    "artifacts.publicUrl": _URL,
    "artifacts.addressing": _choice("auto", "path", "virtual"),
    "objectStore.bucket": {"type": "string", "pattern": r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$"},
    "gateway.publicUrl": _URL,
    "gateway.existingCookieSecret": _NAME,
    "gateway.existingWebhookSecret": _NAME,
    "gateway.existingOidcSecret": _NAME,
    "gateway.existingSmtpSecret": _NAME,
    "gateway.autoscaling.minReplicas": _COUNT,
    "gateway.autoscaling.maxReplicas": _COUNT,
    "gateway.autoscaling.targetCPUUtilizationPercentage": {"type": "integer", "minimum": 1, "maximum": 100},
    "gateway.pdb.maxUnavailable": {"type": ["integer", "string"], "minimum": 1, "pattern": r"^[1-9][0-9]?%$"},
    "gateway.service.type": _choice("ClusterIP", "NodePort", "LoadBalancer"),
    "gateway.service.port": _PORT,
    "gateway.ingress.hosts": {"type": "array", "items": {"type": "string", "pattern": _WILD_HOST, "maxLength": 253}},
    "gateway.ingress.tls": _ref("objects"),
    "gateway.httpRoute.hostnames": {
        "type": "array",
        "items": {
            "type": "string",
            "pattern": _WILD_HOST,
        },
    },
    "gateway.httpRoute.parentRefs": {
        "type": "array",
        "items": {
            "type": "object",
            "additionalProperties": False,
            "required": ["name"],
            "properties": {
                **{name: _NAME for name in ("name", "namespace", "sectionName", "group")},
                **{"kind": {"type": "string", "minLength": 1}, "port": _PORT},
            },
        },
    },
    "migration.ttlSecondsAfterFinished": _FROM_ZERO,
    "ray.version": {"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+$"},
    "ray.namespace": {"type": "string", "pattern": r"^[-_.A-Za-z0-9]+$"},
    "ray.upgradeStrategy": _choice("None", "Recreate"),
    "ray.existingAuthSecret": _NAME,
    "ray.autoscaler.idleTimeoutSeconds": {"type": "integer", "minimum": 10},
    "ray.gcsFaultTolerance.redisAddress": {"type": "string", "pattern": r"^((redis://|rediss://)?[!-~]+:[0-9]{1,5})?$"},
    "ray.gcsFaultTolerance.username": {"type": "string", "pattern": r"^[!-~]*$"},
    "ray.objectStoreMiB": {"type": "integer", "minimum": 80},
    "ray.extraEnv": {
        "type": "array",
        "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "minLength": 1}}},
    },
    "browsers.groups": {"type": "array", "minItems": 1, "items": _GROUP},
    "browsers.slotsPerBrowser": {"type": "integer", "minimum": 1, "maximum": 100},
    "browsers.sandbox": _choice("on", "off"),
    "browsers.seccomp.install": _choice("daemonset", "operator", "none"),
    "browsers.seccomp.localhostProfile": {
        "type": "string",
        "pattern": r"^([-_A-Za-z0-9][-._A-Za-z0-9]*(/[-_A-Za-z0-9][-._A-Za-z0-9]*)*\.json)?$",
    },
    "browsers.seccomp.kubeletDir": {"type": "string", "pattern": r"^(/[-._A-Za-z0-9]+)+$"},
    "browsers.drainSeconds": _FROM_ZERO,
    "browsers.terminationGracePeriodSeconds": {"type": "integer", "minimum": 30},
    "browsers.jobSecrets": {
        "type": "array",
        "items": {
            "type": "object",
            "additionalProperties": False,
            "required": ["tenant", "existingSecret"],
            "properties": {
                "tenant": {"type": "string", "pattern": r"^[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?$"},
                "existingSecret": {"type": "string", "pattern": r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"},
            },
        },
    },
    "browsers.scratch": _QUANTITY,
    "model.url": {"type": "string", "pattern": r"^(https?://[!-+.-~-]+(, *https?://[!-+.-~-]+)*)?$"},
    "vllm.models": {"type": "array", "items": _MODEL},
    "vllm.shm": _QUANTITY,
    "vllm.existingTokenSecret": _NAME,
    "vllm.startup.minutes": _COUNT,
    "vllm.keda.prometheusAddress": {"type": "string", "pattern": r"^https?://[!-~]+$"},
    "vllm.keda.waitingPerReplica": _COUNT,
    "vllm.keda.cooldownSeconds": _FROM_ZERO,
    "router.header": {"type": "string", "pattern": r"^[A-Za-z][A-Za-z0-9-]*$"},
    "router.resolver": _HOSTNAME,
    "router.timeoutSeconds": _COUNT,
    "serviceAccounts.gateway": _ANNOTATIONS,
    "serviceAccounts.ray": _ANNOTATIONS,
    "serviceAccounts.vllm": _ANNOTATIONS,
    "networkPolicy.gatewayFrom": _ref("peers"),
    "networkPolicy.monitoringFrom": _ref("peers"),
    "networkPolicy.browserNetworks": _ref("networks"),
    "networkPolicy.webhookNetworks": _ref("networks"),
    "networkPolicy.refusedNetworks": _ref("networks"),
    "networkPolicy.kubernetesApiNetworks": _ref("networks"),
    "networkPolicy.kubernetesApiPorts": _ref("ports"),
    "networkPolicy.dnsNamespace": {"type": "string", "pattern": r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"},
    "priorityClasses.control": {"type": "integer", "minimum": -2147483648, "maximum": 1000000000},
    "priorityClasses.model": {"type": "integer", "minimum": -2147483648, "maximum": 1000000000},
    "priorityClasses.browser": {"type": "integer", "minimum": -2147483648, "maximum": 1000000000},
    "monitoring.labels": _LABELS,
    "tracing.url": _URL,
    "tracing.share": {"type": "number", "minimum": 0, "maximum": 1},
    "tracing.to": _ref("peers"),
    "tracing.port": _PORT,
    "monitoring.interval": {"type": "string", "pattern": r"^[0-9]+(ms|s|m|h)$"},
}


def _needs(flag: list[str], path: list[str], rule: Json) -> Json:
    """When `flag` is true, the value at `path` must meet `rule`."""

    def at(keys: list[str], inner: Json) -> Json:
        for key in reversed(keys):
            inner = {"properties": {key: inner}, "required": [key]}
        return inner

    return {"if": at(flag, {"const": True}), "then": at(path, rule)}


IF_THEN: list[Json] = [
    _needs(["gateway", "ingress", "enabled"], ["gateway", "ingress", "hosts"], {"minItems": 1}),
    _needs(["gateway", "httpRoute", "enabled"], ["gateway", "httpRoute", "parentRefs"], {"minItems": 1}),
    _needs(["ray", "gcsFaultTolerance", "enabled"], ["ray", "gcsFaultTolerance", "redisAddress"], {"minLength": 1}),
    _needs(["vllm", "keda", "enabled"], ["vllm", "models"], {"minItems": 1}),
    _needs(["router", "enabled"], ["vllm", "models"], {"minItems": 1}),
]

_SET_BY_OTHER_VALUES = frozenset(
    {
        *(
            "api_key",
            "artifacts_url",
            "auth",
            "cookie_secret",
            "data_dir",
            "gateway",
            "help_token",
            "help_url",
            "host",
            "log_format",
            "port",
        ),
        *("model", "model_api_key", "model_url", "public_url", "ray_address", "ray_namespace", "ray_object_store_mib"),
        "refuse_networks",
        *(
            "s3_addressing",
            "webhook_secret",
            "s3_endpoint_url",
            "s3_public_url",
            "s3_region",
            "sandbox",
            "secrets_dir",
            "smtp_url",
        ),
        *("slots_per_worker", "store_url", "traces_share", "traces_url", "workers"),
    }
)
"""Settings that the chart makes from other values, keeps in Secrets, or that have no place in a cluster."""


def settings_schema() -> Json:
    """`settings`: the names that services/settings.py knows, less those that the chart sets itself.

    Settings of `shoal inference` are left out too: the chart starts vLLM itself.
    """
    names = {name for name in Settings.model_fields if not name.startswith("vllm_")} - _SET_BY_OTHER_VALUES
    value = {"type": ["string", "number", "boolean", "array"], "items": {"type": "string"}}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {name: value for name in sorted(names)},
    }
