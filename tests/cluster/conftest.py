"""One control plane for all tests here, with a namespace of its own for each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import pytest

from tests.cluster.control_plane import NotThere, control_plane, find_programs
from tests.cluster.kube import Kube, connected, install_definitions
from tests.deploy import helm, schemas

_NUMBERS = count(1)


@dataclass(frozen=True, slots=True)
class Plane:
    """A running control plane."""

    address: str
    kube: Kube


@dataclass(frozen=True, slots=True)
class Space:
    """A namespace, and Helm's commands in it."""

    name: str
    kube: Kube
    helm: helm.Releases


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    try:
        programs = find_programs(os.environ.get("KUBEBUILDER_ASSETS"))
    except NotThere as missing:
        pytest.skip(str(missing))
    definitions = schemas.definitions()
    if definitions is None:
        pytest.skip("no custom resource definitions: name a folder with them in CRD_SCHEMAS")
    folder = tmp_path_factory.mktemp("plane")
    with control_plane(programs, folder) as address, connected(address, "admin") as kube:
        install_definitions(kube, definitions)
        yield Plane(address, kube)


@pytest.fixture
def space(plane: Plane) -> Iterator[Space]:
    name = f"shoal-{next(_NUMBERS)}"
    metadata = {"name": name, "labels": {"pod-security.kubernetes.io/enforce": "privileged"}}
    plane.kube.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    with helm.configured(helm.kubeconfig(plane.address, "admin"), name) as config:
        yield Space(name, plane.kube, helm.Releases(config))
    plane.kube.delete(f"/api/v1/namespaces/{name}")
