"""Random inputs for a gateway under uvicorn: no 5xx, no slow answer, no pause of its event loop.

A short form runs with the other tests; `make test-fuzz` takes 10,000 inputs (`SHOAL_FUZZ_INPUTS`).
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis.generation import GenerationMode

from shoal.agent.support.json_value import Json
from tests.gateway_world import World, completed, loop_of
from tests.patience import PATIENCE_S
from tests.served_gateway import Served, served_gateway

INPUTS = int(os.environ.get("SHOAL_FUZZ_INPUTS", "240"))
_MODES = list(GenerationMode) if INPUTS >= 1000 else [GenerationMode.POSITIVE]
"""Ways of making requests to the whole document: faulty ones take a minute to invent for each of its routes."""


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    async def prepare(here: World) -> None:
        await here.submit(loop={"values": ["a", "b"]})
        await here.run(loop_of(["a", "b"], lambda work: completed({"a": 1})))

    with served_gateway(prepare, raises=False) as made:
        yield made


@schemathesis.serializer("application/x-ndjson")
def lines(_: object, value: object) -> bytes:
    """JSON lines as the document describes them: any text."""
    return str(value).encode("utf-8", "replace")


def hypothesis_settings(count: int) -> settings:
    """As many inputs, none of them kept, and no complaint about how they are made."""
    return settings(max_examples=max(1, count), deadline=None, database=None, suppress_health_check=list(HealthCheck))


# --- specs --------------------------------------------------------------------------------------------

_NAMES = st.sampled_from(["a", "b", "$ref", "type"]) | st.text(max_size=5)
_REFERENCES = st.sampled_from(["#", "#/$defs/a", "#/$defs/b", "#/properties/a", "#a", "b", "http://a/"]) | st.text()
_PATTERNS = st.text(alphabet="ab()[]{}+*?|^$\\d.,0123456789", max_size=30) | st.text(max_size=10)
_URLS = st.sampled_from(
    ["http://shop.example/"] * 6 + ["http://💩.example/", "http://256.1.1.1/", "http://[::1", "http://a:99999/"]
)
_LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20))


def _keywords(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """A schema, or something that looks like one."""
    several, named = st.lists(inner, max_size=4), st.dictionaries(_NAMES, inner, max_size=4)
    kinds = st.sampled_from(["object", "array", "string", "integer", "number", "boolean", "null", "x"])
    one_of_each: dict[str, st.SearchStrategy[Json]] = {
        **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), several),
        **dict.fromkeys(("properties", "$defs", "patternProperties", "dependentSchemas", "definitions"), named),
        **dict.fromkeys(("not", "if", "then", "else", "items", "contains", "additionalProperties"), inner),
        **dict.fromkeys(("unevaluatedProperties", "unevaluatedItems", "propertyNames"), inner),
        **dict.fromkeys(("$ref", "$dynamicRef", "$id", "$anchor"), _REFERENCES),
        **dict.fromkeys(("minItems", "maxItems", "minLength", "maxLength", "multipleOf", "minimum"), _LEAVES),
        "type": kinds | st.lists(kinds, max_size=3),
        "pattern": _PATTERNS,
        "enum": st.lists(_LEAVES | inner, max_size=5),
        "const": _LEAVES | inner,
        "required": st.lists(_NAMES, max_size=3),
        "format": st.sampled_from(["date", "email", "regex", "x"]),
        "$schema": st.sampled_from(["http://json-schema.org/draft-07/schema#", "x"]),
    }
    return st.fixed_dictionaries({}, optional=one_of_each) | _LEAVES


schemas = st.recursive(st.just({}) | st.booleans(), _keywords, max_leaves=30)
hostile = st.fixed_dictionaries(
    {"url": _URLS, "extract": st.fixed_dictionaries({"schema": schemas})},
    optional={
        "loop": st.recursive(
            st.fixed_dictionaries({"values": st.lists(st.text(), max_size=30)}),
            lambda inner: st.fixed_dictionaries({"values": st.lists(st.text(), max_size=3), "loop": inner}),
            max_leaves=10,
        ),
        "webhook": st.fixed_dictionaries({"url": st.text().map("http://{}/".format)}),
        "browser": st.dictionaries(_NAMES, _LEAVES),
        "data": st.recursive(_LEAVES, lambda inner: st.lists(inner) | st.dictionaries(_NAMES, inner), max_leaves=20),
    },
)


def test_specs_with_hostile_parts(served: Served) -> None:
    seen: Counter[int] = Counter()
    with httpx.Client(base_url=served.url, timeout=60) as http:

        @hypothesis_settings(INPUTS // 4)
        @given(spec=hostile)
        def hold(spec: Json) -> None:
            body = json.dumps(spec).encode()  # NaN and halves of surrogate pairs, too
            headers = {"Content-Type": "application/json"}
            answer = served.harmless_answer(lambda: http.post("/v1/jobs", content=body, headers=headers))
            assert answer.status_code in (200, 201, 400, 413), answer.text[:1000]
            seen[answer.status_code] += 1

        hold()
    assert seen[400], "hostile specs are among them"


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_specs_from_the_jobs_own_schema(served: Served, mode: GenerationMode) -> None:
    operation = schemathesis.openapi.from_url(f"{served.url}/openapi.json", timeout=PATIENCE_S)["/v1/jobs"]["POST"]

    @hypothesis_settings(INPUTS // 8)
    @given(case=operation.as_strategy(generation_mode=mode))
    def hold(case: schemathesis.Case) -> None:
        served.harmless_answer(lambda: case.call(timeout=60))

    hold()


# --- the whole document -------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", _MODES)
def test_requests_from_the_whole_document(served: Served, mode: GenerationMode) -> None:
    document = schemathesis.openapi.from_url(f"{served.url}/openapi.json", timeout=PATIENCE_S)
    operations = [found.ok() for found in document.get_all_operations()]
    # Streams that never end have tests of their own. A try waits for workers, of which there are none here; the body of
    # its request is that of /v1/jobs.
    operations = [one for one in operations if not one.path.endswith(("/events", "/jobs:try"))]
    for operation in operations:

        @hypothesis_settings(INPUTS // 4 // len(operations))
        @given(case=operation.as_strategy(generation_mode=mode))
        def hold(case: schemathesis.Case) -> None:
            served.harmless_answer(lambda: case.call(timeout=60))

        try:
            hold()
        except Unsatisfiable:
            assert mode is GenerationMode.NEGATIVE, "nothing can be wrong about a request that takes nothing"
