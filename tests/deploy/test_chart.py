"""Rules that every installation of the chart must hold to, whatever its values."""

from __future__ import annotations

import ipaddress
import json
import re
from pathlib import Path
from typing import Any

import pytest

from shoal.agent.support.json_value import Json
from shoal.services.inference import warm_up as warm_up_script
from shoal.services.inference.command import vllm_command
from shoal.services.inference.options import VllmOptions
from shoal.services.settings import Settings
from tests.deploy import helm, schemas
from tests.deploy.cases import CASES, EXTERNAL, TRIAL, Case
from tests.deploy.objects import keys_of, matches, named, of_kind, pods, port_names, references, title, without_hooks

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)

_COOKIES: dict[str, Json] = {"gateway": {"existingCookieSecret": "cookies"}}

_MADE_BY_OTHERS = {("ConfigMap", "kube-root-ca.crt")}
"""Objects that Kubernetes puts into every namespace."""


@every_case
def test_kubernetes_and_its_operators_accept_every_object(case: Case) -> None:
    objects = case.objects()
    assert len({(title(obj), obj["apiVersion"]) for obj in objects}) == len(objects), "two objects of the same name"
    for obj in objects:
        schemas.check(obj)


@every_case
def test_whatever_a_pod_refers_to_is_made_or_named_by_the_operator(case: Case) -> None:
    objects = case.objects()
    made = {(obj["kind"], obj["metadata"]["name"]): obj for obj in objects}
    values = json.dumps(case.values) + "".join((helm.CHART / f"values-{p}.yaml").read_text() for p in case.profiles)
    ray = of_kind(objects, "RayCluster")[0]["metadata"]["name"]
    for pod in pods(objects):
        for kind, name, key in references(pod):
            if (kind, name) in made:
                assert key is None or key in keys_of(made[kind, name]), f"{pod.owner}: {kind} {name} has no key {key}"
            else:
                by_operator = re.search(rf'[" ]{re.escape(name)}\b', values) is not None
                by_kuberay = (kind, name, key) == ("Secret", ray, "auth_token")
                assert by_operator or by_kuberay or (kind, name) in _MADE_BY_OTHERS, f"{pod.owner}: no {kind} {name}"
        mounted = {mount["name"] for container in pod.containers for mount in container.get("volumeMounts", ())}
        volumes = {volume["name"] for volume in pod.spec.get("volumes", ())} | pod.claims
        assert mounted <= volumes, f"{pod.owner} mounts {mounted - volumes}"


@every_case
def test_selectors_match_labels_and_ports_have_their_names(case: Case) -> None:
    objects = case.objects()
    everything = [pod for pod in pods(objects) if not pod.owner.startswith("Pod/")]
    for obj in of_kind(objects, "Deployment", "StatefulSet", "DaemonSet"):
        own = next(pod for pod in everything if pod.owner == title(obj))
        assert matches(obj["spec"]["selector"], own.labels), title(obj)
        assert [pod.owner for pod in everything if matches(obj["spec"]["selector"], pod.labels)] == [title(obj)]
    for obj in of_kind(objects, "Service"):
        behind = [pod for pod in everything if matches({"matchLabels": obj["spec"]["selector"]}, pod.labels)]
        assert len(behind) == 1, f"{title(obj)} leads to {[pod.owner for pod in behind]}"
        for port in obj["spec"]["ports"]:
            assert port["targetPort"] in port_names(behind[0]), f"{title(obj)}: {port}"
    for obj in of_kind(objects, "PodDisruptionBudget"):
        assert any(matches(obj["spec"]["selector"], pod.labels) for pod in everything), title(obj)
    for obj in of_kind(objects, "PodMonitor"):
        seen = [pod for pod in everything if matches(obj["spec"]["selector"], pod.labels)]
        assert seen, title(obj)
        for pod in seen:
            assert {end["port"] for end in obj["spec"]["podMetricsEndpoints"]} <= port_names(pod), pod.owner
    for obj in of_kind(objects, "ServiceMonitor"):
        services = [s for s in of_kind(objects, "Service") if matches(obj["spec"]["selector"], s["metadata"]["labels"])]
        assert len(services) == 1
        assert {end["port"] for end in obj["spec"]["endpoints"]} <= {p["name"] for p in services[0]["spec"]["ports"]}
    for obj in of_kind(objects, "HorizontalPodAutoscaler", "ScaledObject"):
        assert named(objects, "Deployment", obj["spec"]["scaleTargetRef"]["name"])
        deployment = named(objects, "Deployment", obj["spec"]["scaleTargetRef"]["name"])
        assert "replicas" not in deployment["spec"], "an upgrade would undo what the autoscaler did"
    for pod in everything:
        for container in pod.containers:
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                port = (
                    container.get(probe, {}).get("httpGet", container.get(probe, {}).get("tcpSocket", {})).get("port")
                )
                assert port is None or port in port_names(pod), f"{pod.owner}: {probe} at {port}"


@every_case
def test_pods_have_no_more_rights_than_they_need(case: Case) -> None:
    openshift = "openshift" in case.profiles
    for pod in pods(case.objects()):
        is_installer = "-seccomp" in pod.owner
        context = pod.spec["securityContext"]
        assert context["seccompProfile"]["type"] == "RuntimeDefault", pod.owner
        assert pod.spec["automountServiceAccountToken"] is False, pod.owner
        assert pod.spec["enableServiceLinks"] is False, pod.owner
        assert not pod.spec.get("hostNetwork") and not pod.spec.get("hostPID"), pod.owner
        assert is_installer or context["runAsNonRoot"] is True, pod.owner
        assert is_installer or ("runAsUser" in context) is not openshift, pod.owner
        assert is_installer or not any("hostPath" in volume for volume in pod.spec.get("volumes", ())), pod.owner
        for container in pod.containers:
            where, own = f"{pod.owner}: {container['name']}", container["securityContext"]
            assert own["allowPrivilegeEscalation"] is False, where
            assert own["readOnlyRootFilesystem"] is True, where
            assert own["capabilities"] == {"drop": ["ALL"]}, where
            assert "memory" in container["resources"]["limits"], where
            assert "@" in container["image"] or ":" in container["image"].rpartition("/")[2], where
            assert not container["image"].endswith(":latest"), where


_RAY_MIB, _BROWSER_MIB, _SLOT_MIB, _BESIDE_MIB = 450, 900, 100, 350
"""From the table in docs/operations/size.md: Ray's part of a pod, a browser with its worker and what each slot adds on
plain pages; and a worker beside its browser, which may grow to `browser_max_rss_mib`."""


@pytest.mark.parametrize("profile", ["", "small", "production"])
def test_the_profiles_pods_hold_what_was_measured(profile: str) -> None:
    objects = helm.render({} if profile else EXTERNAL, *([profile] if profile else []))
    told = named(objects, "ConfigMap", "shoal-settings")["data"]
    slots = int(told["SHOAL_SLOTS_PER_WORKER"])
    most = int(told.get("SHOAL_BROWSER_MAX_RSS_MIB", Settings().browser_max_rss_mib))
    (group,) = of_kind(objects, "RayCluster")[0]["spec"]["workerGroupSpecs"][1:]
    browsers = int(group["resources"]["browser"])
    pod = group["template"]["spec"]["containers"][0]["resources"]
    requested, limit = (int(pod[kind]["memory"].removesuffix("Gi")) * 1024 for kind in ("requests", "limits"))
    assert _RAY_MIB + browsers * (_BROWSER_MIB + slots * _SLOT_MIB) <= requested
    assert _RAY_MIB + browsers * (_BESIDE_MIB + most) <= limit, "browsers are replaced before the pod is killed"
    assert browsers * slots <= 4 * int(pod["requests"]["cpu"]), "more slots per core bring no more pages"


def test_an_operator_may_let_a_part_s_pods_be_evicted() -> None:
    mine = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true", "note": "x"}
    objects = helm.render(EXTERNAL | {"browsers": {"podAnnotations": mine}})
    groups = of_kind(objects, "RayCluster")[0]["spec"]["workerGroupSpecs"]
    control, browsers = (group["template"]["metadata"]["annotations"] for group in groups)
    assert browsers == mine | {"karpenter.sh/do-not-disrupt": "true"}
    assert control["cluster-autoscaler.kubernetes.io/safe-to-evict"] == "false"


@every_case
def test_ray_is_locked_drains_and_keeps_the_browsers_sandbox(case: Case) -> None:
    objects = case.objects()
    cluster = of_kind(objects, "RayCluster")[0]
    spec = cluster["spec"]
    assert spec["authOptions"]["mode"] == "token"
    assert spec["headGroupSpec"]["resources"] == {"CPU": "0"}
    if spec["enableInTreeAutoscaling"]:
        assert spec["autoscalerOptions"]["version"] == "v2"
    settings = _settings(objects)
    for pod in (pod for pod in pods([cluster])):
        (container,) = pod.spec["containers"]
        assert container["command"][0] == "/usr/bin/tini", "no other process reaps what Chromium leaves"
        assert pod.spec["restartPolicy"] == ("Never" if spec["enableInTreeAutoscaling"] else "Always")
        shm = next(v for v in pod.spec["volumes"] if v["name"] == "shared-memory")["emptyDir"]
        assert shm["medium"] == "Memory" and "sizeLimit" in shm
        if pod.labels["app.kubernetes.io/component"] != "browser":
            continue
        env = {variable["name"]: variable.get("value") for variable in container["env"]}
        drain = int(env["RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S"] or 0)
        assert drain == 270 and pod.spec["terminationGracePeriodSeconds"] == 300
        assert pod.annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] == "false"
        assert pod.annotations["karpenter.sh/do-not-disrupt"] == "true"
        profile = container["securityContext"].get("seccompProfile", {})
        assert (settings["SHOAL_SANDBOX"] == "on") is (profile.get("type") == "Localhost")
    groups = [group for group in spec["workerGroupSpecs"] if "browser" in group["resources"]]
    browsers = [int(group["resources"]["browser"]) for group in groups]
    least, most = (
        sum(n * group[key] for n, group in zip(browsers, groups, strict=True)) for key in ("minReplicas", "maxReplicas")
    )
    assert int(settings["SHOAL_WORKERS"]) == max(1, least)
    # Between the two their number follows the backlog, and the autoscaler's pods follow them.
    assert int(settings.get("SHOAL_MOST_WORKERS", least)) == most
    assert [g["resources"]["control"] for g in spec["workerGroupSpecs"] if "control" in g["resources"]] == ["1"]


@every_case
def test_environment_names_are_known_and_values_are_accepted(case: Case) -> None:
    objects = case.objects()
    known = {f"SHOAL_{name.upper()}" for name in Settings.model_fields}
    settings = _settings(objects)
    assert settings.keys() <= known
    for pod in pods(objects):
        for container in pod.containers:
            names = {v["name"] for v in container.get("env", ()) if v["name"].startswith("SHOAL_")}
            assert names <= known, f"{pod.owner}: {names - known}"
    Settings(
        **{name.removeprefix("SHOAL_").lower(): value for name, value in settings.items() if value},
        store_url="postgresql://u:p@db/shoal",
    )


def test_a_gateway_is_called_by_its_own_address_where_people_look_at_sessions() -> None:
    def variables(values: Json) -> dict[str, Json]:
        (gateway,) = [pod for pod in pods(helm.render(EXTERNAL | values)) if pod.owner == "Deployment/shoal-gateway"]
        return {entry["name"]: entry for entry in gateway.spec["containers"][0]["env"]}

    shown = variables({"help": {"enabled": True}})
    assert shown["POD_IP"]["valueFrom"] == {"fieldRef": {"fieldPath": "status.podIP"}}
    assert shown["SHOAL_LIVE_URL"]["value"] == "http://$(POD_IP):8700"
    assert "SHOAL_LIVE_URL" not in variables({"help": {"enabled": False}})
    own = {"help": {"enabled": True}, "settings": {"live_url": "http://[fd00::1]:8700"}}
    assert "SHOAL_LIVE_URL" not in variables(own)


def _settings(objects: list[Json]) -> dict[str, str]:
    found = [obj for obj in of_kind(objects, "ConfigMap") if obj["metadata"]["name"].endswith("-settings")]
    data: dict[str, str] = found[0]["data"]
    return data


# --- networks ------------------------------------------------------------------------------------------

_FORBIDDEN = (
    *("169.254.169.254", "10.0.0.1", "172.20.0.1", "192.168.1.1", "127.0.0.1", "100.64.0.1", "0.0.0.0", "224.0.0.1"),
    *("fd00:ec2::254", "fe80::1", "::1", "64:ff9b::a00:1", "2002:a00:1::", "168.63.129.16"),
)


@every_case
def test_browsers_reach_the_internet_and_nothing_private(case: Case) -> None:
    objects = case.objects()
    if case.values.get("networkPolicy", {}).get("enabled") is False:
        assert not of_kind(objects, "NetworkPolicy")
        return
    browser = next(pod for pod in pods(objects) if pod.labels["app.kubernetes.io/component"] == "browser")
    rules = [
        rule
        for policy in of_kind(objects, "NetworkPolicy")
        if matches(policy["spec"]["podSelector"], browser.labels)
        for rule in policy["spec"].get("egress", ())
    ]
    blocks = [peer["ipBlock"] for rule in rules for peer in rule["to"] if "ipBlock" in peer]
    reached = [address for address in _FORBIDDEN if any(_within(block, address) for block in blocks)]
    assert reached == []
    assert any(_within(block, "93.184.216.34") for block in blocks)
    assert any(_within(block, "2606:2800:220:1::1") for block in blocks)
    for rule in rules:
        for peer in rule["to"]:
            if "namespaceSelector" in peer:
                ports = {port["port"] for port in rule["ports"]}
                assert ports <= {53, 5353} or ports == {4318}, "of other namespaces only DNS and the traces' collector"


def _within(block: Json, address: str) -> bool:
    one: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.ip_address(address)
    if isinstance(one, ipaddress.IPv6Address) and one.ipv4_mapped is not None:
        one = one.ipv4_mapped  # so it leaves the machine
    inside = lambda cidr: one in ipaddress.ip_network(cidr)  # noqa: E731
    return inside(block["cidr"]) and not any(inside(cidr) for cidr in block.get("except", ()))


@every_case
def test_every_pod_is_held_by_a_policy_and_policies_hold_some_pod(case: Case) -> None:
    objects = case.objects()
    policies = of_kind(objects, "NetworkPolicy")
    if not policies:
        return
    everything = list(pods(objects))
    for policy in policies:
        assert any(matches(policy["spec"]["podSelector"], pod.labels) for pod in everything), title(policy)
    for pod in everything:
        types = {
            kind
            for policy in policies
            if matches(policy["spec"]["podSelector"], pod.labels)
            for kind in policy["spec"]["policyTypes"]
        }
        assert types == {"Ingress", "Egress"} or pod.labels["app.kubernetes.io/component"] == "test", pod.owner
    peers = [
        peer["podSelector"]
        for policy in policies
        for rule in [*policy["spec"].get("ingress", ()), *policy["spec"].get("egress", ())]
        for peer in [*rule.get("from", ()), *rule.get("to", ())]
        if "podSelector" in peer and "app" not in peer["podSelector"].get("matchLabels", {})
    ]
    for selector in peers:
        assert any(matches(selector, pod.labels) for pod in everything), f"a policy names no pod: {selector}"


# --- single parts --------------------------------------------------------------------------------------


def test_models_are_served_as_shoal_inference_would() -> None:
    objects = next(case for case in CASES if case.name == "two models, the second used").objects()
    expected = {
        "shoal-vllm-qwen": VllmOptions(
            model="Qwen/Qwen3-VL-8B-Instruct-FP8", served_name="qwen", host="0.0.0.0", image_tokens=1280
        ),
        "shoal-vllm-large": VllmOptions(
            model="/weights/large",
            served_name="big",
            host="0.0.0.0",
            images=0,
            image_tokens=640,
            tensor_parallel=4,
            quantization="fp8",
            api_servers=4,
            kv_cache_dtype="fp8",
            extra_arguments=("--enforce-eager",),
        ),
    }
    for name, options in expected.items():
        container = named(objects, "Deployment", name)["spec"]["template"]["spec"]["containers"][0]
        assert _arguments([*container["command"], *container["args"]]) == _arguments(vllm_command(options))
        assert container["resources"]["limits"]["nvidia.com/gpu"] == options.tensor_parallel
    settings = _settings(objects)
    assert settings["SHOAL_MODEL_URL"] == "http://shoal-vllm-large:8000/v1"
    assert settings["SHOAL_MODEL"] == "big" and settings["SHOAL_MODEL_IMAGE_TOKENS"] == "640"


def test_a_model_server_is_ready_after_its_first_step_and_keeps_what_it_compiled() -> None:
    shared = {"name": "a", "model": "org/a", "weights": {"existingClaim": "a", "accessMode": "ReadOnlyMany"}}
    models = [{"name": "qwen", "model": "org/model", "servedName": "served"}, {**shared, "images": 0}]
    objects = helm.render(EXTERNAL | {"vllm": {"models": models}})
    warm_up = named(objects, "ConfigMap", "shoal-vllm")["data"]["warm-up.py"]
    assert warm_up.strip() == Path(warm_up_script.__file__).read_text().strip()
    first, second = (
        named(objects, "Deployment", f"shoal-vllm-{name}")["spec"]["template"]["spec"]["containers"][0]
        for name in ("qwen", "a")
    )
    asked = ["python3", "/etc/shoal/warm-up.py", "http://127.0.0.1:8000"]
    assert first["startupProbe"]["exec"]["command"] == [*asked, "served", "--images"]
    assert second["startupProbe"]["exec"]["command"] == [*asked, "a"]
    caches = [{v["name"]: v.get("value") for v in c["env"]}["VLLM_CACHE_ROOT"] for c in (first, second)]
    assert caches == ["/weights/vllm-cache", "/cache/vllm"], "beside the weights, where they can be written"


def test_the_server_cuts_images_into_the_tokens_that_the_client_counts() -> None:
    model = {"name": "qwen", "model": "Qwen/Qwen2.5-VL-7B-Instruct"}
    values = EXTERNAL | {"vllm": {"models": [model]}, "settings": {"model_image_grid": 28}}
    objects = helm.render(values)
    container = named(objects, "Deployment", "shoal-vllm-qwen")["spec"]["template"]["spec"]["containers"][0]
    options = VllmOptions(model=model["model"], served_name="qwen", host="0.0.0.0", image_tokens=1280, image_grid=28)
    assert _arguments([*container["command"], *container["args"]]) == _arguments(vllm_command(options))
    assert _settings(objects)["SHOAL_MODEL_IMAGE_GRID"] == "28"


def _arguments(command: Any) -> dict[str, Json]:
    """Options of a command by name, JSON read; words without a dash by their place."""
    words, found, place = list(command), {}, 0
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            found[str(place)] = word
            place += 1
        elif words and not words[0].startswith("--"):
            value = words.pop(0)
            found[word] = json.loads(value) if value.startswith("{") else value
        else:
            found[word] = True
    return found


def test_only_the_autoscaler_may_speak_to_kubernetes_while_a_release_is_there() -> None:
    objects = next(case for case in CASES if case.name == "external stores").objects()
    assert not of_kind(objects, "ClusterRole", "ClusterRoleBinding")
    (role,) = of_kind(without_hooks(objects), "Role")
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"get", "list", "watch", "patch"}
    holders = [pod.owner for pod in pods(objects) if any("projected" in v for v in pod.spec.get("volumes", ()))]
    assert holders == ["RayCluster/shoal-ray/head", "Job/shoal-uninstall"]
    cluster = of_kind(objects, "RayCluster")[0]["spec"]
    mounts = [mount["name"] for mount in cluster["autoscalerOptions"]["volumeMounts"]]
    head = cluster["headGroupSpec"]["template"]["spec"]["containers"][0]
    assert "kubernetes-token" in mounts
    assert "kubernetes-token" not in [mount["name"] for mount in head["volumeMounts"]], "the head needs no token"


def test_the_same_values_give_the_same_objects() -> None:
    """GitOps compares renders: nothing may be made anew each time once secrets come from outside."""
    values = EXTERNAL | {"gateway": {"existingCookieSecret": "cookies"}}
    first = helm.render(values, api=_Blind)
    helm._install.cache_clear()
    assert helm.render(values, api=_Blind) == first


class _Blind(helm.Api):
    """`helm template`, which sees nothing of the cluster."""

    sees = False


@pytest.mark.parametrize(
    ("values", "named"),
    [
        (EXTERNAL, "gateway.existingCookieSecret"),
        (EXTERNAL | _COOKIES | {"help": {"enabled": True}}, "help.existingSecret"),
        (TRIAL | _COOKIES | {"objectStore": {"enabled": True, "existingSecret": "keys"}}, "postgresql.existingSecret"),
        (TRIAL | _COOKIES | {"postgresql": {"enabled": True, "existingSecret": "login"}}, "objectStore.existingSecret"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_a_rendering_without_the_cluster_makes_no_secret_of_its_own(values: Json, named: str) -> None:
    """It would be another one at each rendering: logins end, and a database's volume knows the first password only."""
    with pytest.raises(helm.Refused, match=f"name a Secret of your own in {re.escape(named)}"):
        helm.render(values, api=_Blind)


def test_helm_finds_nothing_to_complain_about() -> None:
    found = helm.lint()
    assert not found.get("Errors") and not found.get("errors"), found
