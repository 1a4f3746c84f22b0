"""Objects that a real API server refused: each kind of fault is looked for in every rendering, without a server."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.agent.support.json_value import Json
from shoal.services.addresses import refused_networks
from tests.deploy import helm, schemas
from tests.deploy.api_rules import pod_security, problems, quantity, within
from tests.deploy.cases import CASES, EXTERNAL, TRIAL, Case
from tests.deploy.charts import chart_of_version
from tests.deploy.objects import named, of_kind, pods, title
from tests.deploy.reach import reaches

pytestmark = pytest.mark.timeout(600)  # beside other rings on two cores


every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@every_case
def test_nothing_of_a_rendering_would_be_refused(case: Case) -> None:
    assert problems(case.objects()) == []


def test_a_strict_subset_is_what_the_api_server_takes_for_one() -> None:
    assert within("10.0.0.0/8", "0.0.0.0/0") and within("fc00::/7", "::/0")
    assert not within("::/0", "::/0") and not within("10.0.0.0/8", "::/0")
    assert not within("::ffff:0:0/96", "::/0"), "IPv4 to the API server, which refuses it as an exception of IPv6"


# --- Jobs ----------------------------------------------------------------------------------------------

_POD_CHANGES: tuple[Json, ...] = (
    {},
    {"image": {"registry": "registry.example.com/team"}},
    {"image": {"gateway": {"tag": "0.2.0"}}},
    {"image": {"gateway": {"digest": "sha256:" + "a" * 64}}},
    {"image": {"pullPolicy": "Always"}},
    {"imagePullSecrets": [{"name": "pull"}]},
    {"podSecurity": {"runAsUser": 20000}},
    {"podSecurity": {"runAsUser": None, "runAsGroup": None, "fsGroup": None}},
    {"commonLabels": {"team": "data"}},
    {"priorityClasses": {"create": False}},
    {"fullnameOverride": "other"},
    {"migration": {"existingSecret": "owner"}},
    {"migration": {"resources": {"limits": {"memory": "1Gi"}}}},
    {"migration": {"ttlSecondsAfterFinished": 60}},
    {"objectStore": {"bucket": "another"}},
    {"objectStore": {"bucketResources": {"limits": {"memory": "1Gi"}}}},
    {"objectStore": {"existingSecret": "keys"}},
    {"networkPolicy": {"enabled": False}},
)


def _made_anew(job: Json) -> bool:
    """Return whether Helm removes the last Job of this name before it makes one: a hook."""
    policy = job["metadata"].get("annotations", {}).get("helm.sh/hook-delete-policy", "")
    return "before-hook-creation" in policy


def test_jobs_of_the_same_name_have_the_same_pods(tmp_path: Path) -> None:
    """A Job's pods cannot be changed: an upgrade that would is refused, and leaves the release failed."""
    charts = [chart_of_version(*versions, tmp_path) for versions in (("0.1.0", "0.1.0"), ("0.1.1", "0.1.0"))]
    newer = chart_of_version("0.2.0", "0.2.0", tmp_path)
    renderings = [helm.render(helm.merged(TRIAL, change), chart=charts[0]) for change in _POD_CHANGES]
    renderings += [helm.render(TRIAL, chart=chart) for chart in (charts[1], newer)]
    renderings += [case.objects() for case in CASES]
    jobs = [job for objects in renderings for job in of_kind(objects, "Job") if not _made_anew(job)]
    assert len({title(job) for job in jobs}) > 10, "the renderings do not differ"
    for one, other in itertools.combinations(jobs, 2):
        if title(one) == title(other):
            assert one["spec"]["template"] == other["spec"]["template"], title(one)


def test_a_version_of_the_chart_alone_restarts_no_pod(tmp_path: Path) -> None:
    """Databases and models take minutes to come back."""
    older, newer = (chart_of_version(version, "0.1.0", tmp_path) for version in ("0.1.0", "0.1.1"))
    values = TRIAL | {"vllm": {"models": [{"name": "qwen", "model": "m"}]}}
    before, after = (
        {
            pod.owner: (pod.labels, pod.annotations, pod.spec)
            for pod in pods(helm.render(values, chart=chart))
            if not pod.owner.startswith("Pod/")
        }
        for chart in (older, newer)
    )
    assert before == after


# --- names -----------------------------------------------------------------------------------------------

_RELEASE_NAMES = st.from_regex(r"[a-z]([-a-z0-9]{0,51}[a-z0-9])?", fullmatch=True)
_MODEL_NAMES = st.from_regex(r"[a-z]([-a-z0-9]{0,18}[a-z0-9])?", fullmatch=True)
_LONG = "a" + "b" * 51 + "c"


def _with_model(name: str) -> Json:
    model = {"name": name, "model": "m", "weights": {"accessMode": "ReadWriteMany"}}
    return TRIAL | {
        "vllm": {"models": [model], "keda": {"enabled": True}},
        "router": {"enabled": True},
        "monitoring": {"monitors": True, "rules": True, "dashboards": True},
        "help": {"enabled": True},
        "gateway": {"ingress": {"enabled": True, "hosts": ["a.example"]}},
        "browsers": {"seccomp": {"install": "operator"}},
    }


@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(_RELEASE_NAMES, _MODEL_NAMES, st.from_regex(r"[a-z][-a-z0-9]{0,61}[a-z0-9]", fullmatch=True))
def test_names_of_any_length_fit(release: str, model: str, namespace: str) -> None:
    objects = helm.render(_with_model(model), release=release, namespace=namespace)
    assert problems(objects) == []
    for obj in objects:
        schemas.check(obj)


@pytest.mark.parametrize("release", [_LONG, "a.release-with.dots", "a-" * 26 + "b"])
def test_the_longest_names_fit(release: str) -> None:
    assert problems(helm.render(_with_model("m" * 20), release=release, namespace="n" * 63)) == []


def test_two_long_releases_do_not_share_names() -> None:
    one, other = ({title(obj) for obj in helm.render(TRIAL, release=_LONG[:-1] + end)} for end in "xy")
    assert not one & other


def test_a_release_whose_services_could_have_no_name_is_refused() -> None:
    with pytest.raises(helm.Refused, match="a Service's name must begin with a letter: set fullnameOverride"):
        helm.render(TRIAL, release="7shoal")
    assert problems(helm.render(TRIAL | {"fullnameOverride": "seven"}, release="7shoal")) == []


def test_names_that_look_like_numbers_stay_names() -> None:
    """Random values found them: Kubernetes takes a Secret that is called 0, and YAML reads a number."""
    values: Json = {"postgresql": {"enabled": True}, "objectStore": {"enabled": True}}
    for path in _secret_paths(helm.default_values()):
        values = helm.merged(values, _nested(path, "0"))
    model = {"name": "a", "model": "m", "weights": {"existingClaim": "1e3"}}
    more = {"vllm": {"models": [model]}, "help": {"enabled": True}, "database": {"existingSecret": ""}}
    objects = helm.render(helm.merged(values, more), namespace="12")
    for obj in objects:
        schemas.check(obj)


def _secret_paths(values: Json, above: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = []
    for key, value in values.items():
        if key.startswith("existing") and not key.endswith("Key"):
            found.append((*above, key))
        elif isinstance(value, dict):
            found += _secret_paths(value, (*above, key))
    return found


# --- the Security Profiles Operator -----------------------------------------------------------------------


def test_browsers_name_the_path_that_the_operator_gives_their_profile() -> None:
    values = EXTERNAL | {"browsers": {"seccomp": {"install": "operator"}}}
    paths = set()
    for namespace in ("shoal", "second", "n" * 63):
        objects = helm.render(values, namespace=namespace)
        (profile,) = of_kind(objects, "SeccompProfile")
        schemas.check(profile)
        assert namespace[:20] in profile["metadata"]["name"]
        assert len(f"SeccompProfile-{profile['metadata']['name']}") <= 63, "a label of the operator"
        browser = next(pod for pod in pods(objects) if pod.labels.get("ray.io/group") == "browsers")
        path = browser.containers[0]["securityContext"]["seccompProfile"]["localhostProfile"]
        assert path == f"operator/{profile['metadata']['name']}.json"
        paths.add(path)
    assert len(paths) == 3, "profiles of two releases of one name are one object"


def test_the_operator_s_profile_says_what_the_file_says() -> None:
    (profile,) = of_kind(helm.render(EXTERNAL | {"browsers": {"seccomp": {"install": "operator"}}}), "SeccompProfile")
    file = json.loads((helm.CHART / "files" / "chromium-seccomp.json").read_text())
    assert file.pop("defaultErrnoRet") == 1, "EPERM, which it is without the field, too"
    assert profile["spec"] == file


# --- quotas and Pod Security ---------------------------------------------------------------------------------


@pytest.mark.parametrize("profiles", [("small", "quota"), ("production", "quota")])
def test_with_quotas_every_container_says_what_it_takes(profiles: tuple[str, ...]) -> None:
    objects = helm.render({}, *profiles)
    for pod in pods(objects):
        for container in pod.containers:
            for kind in ("requests", "limits"):
                given_ = container["resources"].get(kind, {})
                assert {"cpu", "memory"} <= given_.keys(), f"{pod.owner}: {container['name']} has no {kind}"
    options = of_kind(objects, "RayCluster")[0]["spec"].get("autoscalerOptions")
    assert options is None or {"cpu", "memory"} <= options["resources"]["limits"].keys()


def test_every_container_takes_what_values_say() -> None:
    """A LimitRange or a quota may ask for anything; no container's resources are fixed."""
    mine = {"requests": {"cpu": "11m", "memory": "111Mi"}, "limits": {"cpu": "22m", "memory": "222Mi"}}
    values = helm.merged(TRIAL, {"vllm": {"models": [{"name": "a", "model": "m"}]}, "router": {"enabled": True}})
    for path in _resource_paths(helm.default_values()):
        values = helm.merged(values, _nested(path, mine))
    group = helm.default_values()["browsers"]["groups"][0] | {"resources": mine}
    objects = helm.render(helm.merged(values, {"browsers": {"groups": [group]}}))
    for pod in pods(objects):
        for container in pod.containers:
            got = {
                kind: {key: amounts[key] for key in ("cpu", "memory")}
                for kind, amounts in container["resources"].items()
            }
            assert got == mine, f"{pod.owner}: {container['name']}"


def _resource_paths(values: Json, above: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = []
    for key, value in values.items():
        if key.lower().endswith("resources"):
            found.append((*above, key))
        elif isinstance(value, dict):
            found += _resource_paths(value, (*above, key))
    return found


def _nested(path: tuple[str, ...], value: Json) -> Json:
    for key in reversed(path):
        value = {key: value}
    return value


@every_case
def test_all_pods_but_the_profile_s_installer_are_restricted(case: Case) -> None:
    for pod in pods(case.objects()):
        assert pod_security(pod) == ("privileged" if pod.owner.endswith("-seccomp") else "restricted"), pod.owner


# --- networks ------------------------------------------------------------------------------------------------


def _public_blocks(objects: list[Json]) -> list[Json]:
    rules = [rule for policy in of_kind(objects, "NetworkPolicy") for rule in policy["spec"].get("egress", ())]
    blocks = [peer["ipBlock"] for rule in rules for peer in rule.get("to", ()) if "ipBlock" in peer]
    return [block for block in blocks if "except" in block]


def test_policies_refuse_what_shoal_s_own_filter_refuses() -> None:
    blocks = _public_blocks(next(case for case in CASES if case.name == "external stores").objects())
    assert blocks
    for version, cidr in (("4", "0.0.0.0/0"), ("6", "::/0")):
        expected = [network for network in refused_networks() if (":" in network) is (version == "6")]
        for block in [block for block in blocks if block["cidr"] == cidr]:
            assert block["except"] == expected
    assert "168.63.129.16/32" in refused_networks() and "169.254.0.0/16" in refused_networks()


def test_an_operator_adds_the_cluster_s_own_public_networks() -> None:
    values = EXTERNAL | {"networkPolicy": {"refusedNetworks": ["198.41.0.0/24", "2600:1f00::/24", "10.0.0.0/8"]}}
    objects = helm.render(values)
    assert problems(objects) == []
    for block in _public_blocks(objects):
        added = "198.41.0.0/24" if block["cidr"] == "0.0.0.0/0" else "2600:1f00::/24"
        assert added in block["except"] and len(block["except"]) == len(set(block["except"]))
    told = named(objects, "ConfigMap", "shoal-settings")["data"]["SHOAL_REFUSE_NETWORKS"]
    assert told == ",".join(values["networkPolicy"]["refusedNetworks"])


def test_browsers_reach_of_the_head_only_what_nodes_need() -> None:
    objects = next(case for case in CASES if case.name == "external stores").objects()
    spec = of_kind(objects, "RayCluster")[0]["spec"]
    nodes = [spec["headGroupSpec"], *spec["workerGroupSpecs"]]
    told = [
        {key: int(group["rayStartParams"][key]) for key in ("node-manager-port", "object-manager-port")}
        for group in nodes
    ]
    assert all(ports == {"node-manager-port": 6380, "object-manager-port": 6381} for ports in told)
    for port in (6379, 6380, 6381):
        assert reaches(objects, "browser", "head", port) and reaches(objects, "control", "head", port)
    for port in (8265, 10001, 52365, 8080, 8000, 10002, 19999):
        assert not reaches(objects, "browser", "head", port), port
    workers = {int(nodes[0]["rayStartParams"][f"{end}-worker-port"]) for end in ("min", "max")}
    for port in (6380, 6381, *workers):
        for one, other in (("control", "browser"), ("browser", "control"), ("head", "browser"), ("head", "control")):
            assert reaches(objects, one, other, port), (one, other, port)
    assert not any(reaches(objects, "browser", "browser", port) for port in (22, 6380, 10002, 52365))


def test_amounts_are_compared_as_numbers() -> None:
    assert quantity("500m") == 0.5 and quantity("1Gi") == 2**30 and quantity(2) == 2
