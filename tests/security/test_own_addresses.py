"""The installation's own machines by their public addresses, and what is on the same network: no page gets there."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest
import yaml

from shoal.services.addresses import Reach, address_reason, refused_networks
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.network.egress import EgressRefused
from shoal.services.browsers.session_parts.real_parts import RealParts
from shoal.services.cluster.gateway_options import spec_rules
from shoal.services.machine import own_networks
from shoal.services.names import HostNames
from shoal.services.settings import Settings
from shoal.services.webhooks.sender import Sender
from tests.gateway_world import world

ROOT = Path(__file__).resolve().parents[2]


class Address(NamedTuple):
    """One of an interface, as psutil tells it."""

    family: int
    address: str
    netmask: str | None
    broadcast: str | None = None
    ptp: str | None = None


OURS = "93.184.216.34"
NEIGHBOUR = "93.184.216.99"
STRANGER = "93.184.217.1"


@pytest.fixture(autouse=True)
def interfaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with public addresses, as cheap servers and nodes of many clusters have them."""
    found = {
        "lo": [Address(socket.AF_INET, "127.0.0.1", "255.0.0.0")],
        "eth0": [
            Address(socket.AF_INET, OURS, "255.255.255.0", "93.184.216.255"),
            Address(socket.AF_INET6, "2606:4700:1:2::5", "ffff:ffff:ffff:ffff::"),
            Address(socket.AF_INET6, "fe80::1%eth0", "ffff:ffff:ffff:ffff::"),
            Address(psutil.AF_LINK, "aa:bb:cc:dd:ee:ff", None),
        ],
        "ppp0": [Address(socket.AF_INET, "8.8.4.1", "255.255.255.255", None, "8.8.4.2")],
        "tun0": [Address(socket.AF_INET, "9.9.9.1", "0.0.0.0")],
    }
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: found)


def test_a_machine_knows_its_networks() -> None:
    assert set(own_networks()) == {
        "127.0.0.0/8",
        "93.184.216.0/24",
        "2606:4700:1:2::/64",
        "fe80::/64",
        "8.8.4.1/32",
        "8.8.4.2/32",
        "9.9.9.1/32",
    }


@pytest.mark.parametrize(
    "host",
    [OURS, NEIGHBOUR, "1572395042", "0x5db8d822", f"[::ffff:{OURS}]", f"[64:ff9b::{OURS}]", "[2606:4700:1:2::77]"],
)
async def test_the_workers_way_out_refuses_the_machine_and_its_neighbours(host: str, tmp_path: Path) -> None:
    parts = RealParts("w", WorkerConfig(slots=1, artifacts_url=str(tmp_path)))
    await parts.open()
    try:
        port = int((await parts._egress.lend("t")).url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"CONNECT {host}:443 HTTP/1.1\r\n\r\n".encode())
        async with asyncio.timeout(60):
            answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        assert b" 403 " in answer and b"X-Shoal-Egress: refused" in answer
        assert await parts._egress.checked(STRANGER, 443) == (STRANGER,)
        parts._egress._names = HostNames(resolve=lambda name: (STRANGER, NEIGHBOUR))
        with pytest.raises(EgressRefused, match="own machines"):
            await parts._egress.checked("innocent.example", 443)
    finally:
        await parts.close()


async def test_the_gateway_and_its_webhooks_refuse_them_and_the_operator_may_allow_them(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, refuse_networks=("185.1.2.0/24",))  # type: ignore[call-arg]
    rules = spec_rules(settings)
    async with world(names={"ours.example": [OURS]}, rules=rules) as w:
        for host in (OURS, NEIGHBOUR, "ours.example", "185.1.2.3"):
            job = {"url": f"http://{host}/", "goal": "look"}
            answer = await w.client.post("/v1/jobs", json=job)
            assert answer.status_code == 400, host
            assert "own machines" in answer.text
        sender = Sender(rules.reach, w.names)
        assert (await sender.send("http://ours.example/", b"{}", {})).refused
        await sender.close()
    allowed = Reach(exceptions=(f"{OURS}/32",)).with_own(own_networks())
    assert allowed.refusal(OURS, 80) is None
    assert allowed.refusal(NEIGHBOUR, 80) is not None


# --- one list for the code and for packet filters ---------------------------------------------------------


def excepted(peers: Iterable[object]) -> set[str]:
    """Return what the peers that allow everything leave out."""
    found = set[str]()
    for peer in peers:
        block = peer.get("ipBlock", {}) if isinstance(peer, dict) else {}
        if block.get("cidr") in ("0.0.0.0/0", "::/0"):
            found |= set(block.get("except", ()))
    return found


def test_the_charts_list_is_the_codes() -> None:
    assert yaml.safe_load((ROOT / "charts/shoal/files/refused-networks.yaml").read_text()) == refused_networks()


def test_the_rendered_policies_refuse_what_the_code_refuses() -> None:
    found = []
    for document in yaml.safe_load_all((ROOT / "deploy/kuberay/shoal.yaml").read_text()):
        if document and document["kind"] == "NetworkPolicy":
            found += [excepted(rule.get("to", ())) for rule in document["spec"].get("egress", ())]
    lists = [one for one in found if one]
    assert lists
    assert all(one == set(refused_networks()) for one in lists)


def test_what_the_list_refuses_the_code_refuses() -> None:
    """At both ends of each network; but for those that carry IPv4 addresses, where the code looks inside."""
    carriers = {ip_network("64:ff9b::/96"), ip_network("2002::/16"), ip_network("::/96")}
    networks = [ip_network(network) for network in refused_networks()]
    for network in networks:
        if network in carriers:
            continue
        for address in (network[0], network[-1]):
            assert address_reason(address) is not None, address
    for text in ("168.63.129.16", "169.254.169.254", "100.100.100.200", "fd00:ec2::254"):
        address: IPv4Address | IPv6Address = ip_address(text)
        assert any(address.version == network.version and address in network for network in networks)
