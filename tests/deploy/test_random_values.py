"""Values that nobody chose: whatever the schema allows renders, and is accepted by Kubernetes and its operators.

Each example takes an installation of `cases.py` and sets some values anew, made from values.schema.json.
RANDOM_VALUES is the number of examples.
"""

from __future__ import annotations

import json
import os
from functools import cache

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from shoal.agent.support.json_value import Json
from tests.deploy import helm, schemas
from tests.deploy.api_rules import problems
from tests.deploy.cases import EXTERNAL, TRIAL

Path = tuple[str, ...]

_EXAMPLES = int(os.environ.get("RANDOM_VALUES", "25"))
_MOST_SET = 8

_SENTENCES = (
    *("no database: set", "no artifact store: set", "artifacts.secretAccessKey is needed", "model.name is needed"),
    *(
        "but vllm.models has no model of that name",
        "is less than",
        "leaves Chromium less than",
        "two groups are called",
    ),
    *(
        "must be at least 30 more",
        "only one node can mount its weights",
        "is needed with ray.gcsFaultTolerance.",
    ),
    *("give your own Secret another name", "router.enabled needs vllm.models", "two models are called", "two tenants"),
    "takes each name once",
    "configMap and existingSecret are both set",
    *("minItems: got 0, want 1", "minLength: got 0, want 1", "asks for more"),
)
"""Refusals of the chart for values that do not go together; any other refusal is a fault of the chart or its schema."""

_TOLERATIONS = [
    [],
    [{"operator": "Exists"}],
    [{"key": "a/b", "value": "c", "effect": "NoExecute", "tolerationSeconds": 5}],
]
_TERM = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
_AFFINITY = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_TERM]}}}
_PEERS = [
    [],
    [{"podSelector": {}}],
    [{"namespaceSelector": {"matchLabels": {"a": "b"}}}],
    [{"ipBlock": {"cidr": "10.0.0.0/8"}}],
]
_REFERENCES: dict[str, list[Json]] = {
    "tolerations": _TOLERATIONS,
    "affinity": [{}, _AFFINITY],
    "peers": _PEERS,
    "objects": [[], [{"secretName": "tls", "hosts": ["a.example"]}]],
    "networks": [[], ["10.0.0.0/8"], ["192.0.2.0/24", "2001:db8::/32"]],
}
"""Values of what the schema leaves to Kubernetes."""

_REQUEST, _LIMIT = {"cpu": "5m", "memory": "16Mi"}, {"cpu": 2, "memory": "4Gi", "ephemeral-storage": "10Gi"}
_RESOURCES = [{}, {"requests": _REQUEST}, {"limits": _LIMIT}, {"requests": _REQUEST, "limits": _LIMIT}]


@cache
def _schema() -> Json:
    return json.loads((helm.CHART / "values.schema.json").read_text())


def _leaves(schema: Json, above: Path = ()) -> dict[Path, Json]:
    """The schema of each value that has no values below it."""
    if schema.get("properties") and schema.get("additionalProperties") is False:
        return {
            path: found
            for key, inner in schema["properties"].items()
            for path, found in _leaves(inner, (*above, key)).items()
        }
    return {above: schema}


def _values_of(schema: Json) -> st.SearchStrategy[Json]:
    """Values that `schema` allows: the words of JSON Schema that scripts/chart_values.py uses."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name == "resources":
            return st.sampled_from(_RESOURCES)
        return st.sampled_from(_REFERENCES[name]) if name in _REFERENCES else _values_of(_schema()["definitions"][name])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return st.one_of([_of_kind(kind, schema) for kind in kinds])


def _of_kind(kind: str, schema: Json) -> st.SearchStrategy[Json]:
    if kind == "null":
        return st.none()
    if kind == "boolean":
        return st.booleans()
    if kind == "integer":
        return st.integers(schema.get("minimum", 0), schema.get("maximum", 10**6))
    if kind == "number":
        return st.floats(0.01, 1.0, allow_nan=False)
    if kind == "string":
        return _texts(schema.get("pattern", "^[A-Za-z][A-Za-z0-9 ]{0,20}$"), schema.get("minLength", 0))
    if kind == "array":
        return st.lists(_values_of(schema["items"]), min_size=schema.get("minItems", 0), max_size=2)
    if schema.get("properties"):
        return _record(schema)
    names = [f"{prefix}{name}" for prefix in ("", "example.com/", "a.b-c/") for name in ("team", "a_b.C", "7", "true")]
    return st.dictionaries(st.sampled_from(names), _values_of(schema["additionalProperties"]), max_size=3)


def _texts(pattern: str, least: int) -> st.SearchStrategy[str]:
    return st.from_regex(pattern, fullmatch=True).filter(
        lambda text: least <= len(text) <= 253 and text.isascii() and text.isprintable()
    )


def _record(schema: Json) -> st.SearchStrategy[Json]:
    required = set(schema.get("required", ()))
    parts = {key: _values_of(inner) for key, inner in schema["properties"].items()}
    return st.fixed_dictionaries(
        {key: parts[key] for key in parts if key in required},
        optional={key: parts[key] for key in parts if key not in required},
    )


@st.composite
def _combinations(draw: st.DrawFn) -> Json:
    values = draw(st.sampled_from([TRIAL, EXTERNAL, *_PROFILES]))
    leaves = _leaves(
        _schema() | {"properties": {k: v for k, v in _schema()["properties"].items() if k not in _LEFT_OUT}}
    )
    for path in draw(st.lists(st.sampled_from(sorted(leaves)), min_size=1, max_size=_MOST_SET, unique=True)):
        value = draw(_values_of(leaves[path]))
        for key in reversed(path):
            value = {key: value}
        values = helm.merged(values, value)
    return values


_LEFT_OUT = {"settings", "global"}
"""`settings`: docs/settings.md says what each may be, not the chart; `global`: of charts above this one."""

_PROFILES = [helm.with_profiles({}, *profiles) for profiles in (("small",), ("production",), ("small", "openshift"))]


@pytest.mark.timeout(3000)
def test_whatever_the_schema_allows_is_accepted() -> None:
    rendered = 0

    @settings(
        max_examples=_EXAMPLES * 3,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),  # a rendering takes a second: too long to look for the smallest that fails
    )
    @given(_combinations())
    def check(values: Json) -> None:
        nonlocal rendered
        if rendered >= _EXAMPLES:
            return
        try:
            objects = helm.render(values)
        except helm.Refused as refused:
            assert any(sentence in str(refused) for sentence in _SENTENCES), f"{refused}\n{json.dumps(values)}"
            return
        rendered += 1
        assert problems(objects) == []
        for obj in objects:
            schemas.check(obj)

    check()
    assert rendered >= _EXAMPLES
