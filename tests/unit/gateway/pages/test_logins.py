"""Roles, and people whom a proxy in front of the gateway has let in."""

from __future__ import annotations

import re
import socket
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
import pytest

from shoal.services.cluster.gateway import gateway
from shoal.services.errors import BadSetting
from shoal.services.settings import Settings
from shoal.services.store.records import AuditFilter
from shoal.services.web.http.roles import ROLES, role_of
from shoal.services.web.http.trusted_proxy import TrustedProxy
from shoal.services.web.pages.login import COOKIE
from tests.gateway_world import World, world
from tests.unit.gateway.pages.test_admin_pages import enter, token

HEADER = "X-Remote-User"
PEOPLE = {"ada": "admin", "otto": "operator", "sue": "submitter", "vi": "viewer"}
PAGES = {"/": "viewer", "/new": "submitter", "/admin/audit": "operator", "/admin/keys": "admin"}
"""Pages, with the least role that may see each."""


def proxied(proxies: tuple[str, ...] = ("127.0.0.1",), **roles: str) -> TrustedProxy:
    return TrustedProxy(HEADER, proxies, roles or PEOPLE, "acme")


@pytest.fixture
async def locked() -> AsyncIterator[World]:
    async with world(auth=True, proxy=proxied()) as made:
        yield made


def person(name: str) -> Mapping[str, str]:
    return {HEADER: name}


@pytest.mark.parametrize("path", PAGES)
async def test_a_role_opens_the_pages_that_it_may_see(locked: World, path: str) -> None:
    order = list(ROLES)
    for name, role in PEOPLE.items():
        answer = await locked.client.get(path, headers=person(name))
        allowed = order.index(role) >= order.index(PAGES[path])
        assert answer.status_code == (200 if allowed else 403), (name, path)


async def test_a_person_sees_its_tenants_jobs_alone_and_cannot_log_out(locked: World) -> None:
    for tenant in ("acme", "other"):
        key = await locked.key("submit", tenant=tenant)
        spec = {"url": "https://shop.example/", "goal": f"of {tenant}"}
        await locked.client.post("/v1/jobs", json=spec, headers={"Authorization": f"Bearer {key}"})
    shown = (await locked.client.get("/", headers=person("vi"))).text
    assert ("of acme" in shown, "of other" in shown, "Log out" in shown) == (True, False, False)
    assert "vi · acme" in shown


async def test_the_header_is_believed_from_the_proxy_alone() -> None:
    async with world(auth=True, proxy=proxied(("10.9.0.0/16", "fd00::1"))) as away:
        answer = await away.client.get("/", headers=person("ada"))
        assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=/")
        forwarded = {**person("ada"), "X-Forwarded-For": "10.9.0.1"}
        assert (await away.client.get("/", headers=forwarded)).status_code == 303


async def test_names_without_a_role_and_doubled_headers_are_refused(locked: World) -> None:
    answer = await locked.client.get("/", headers=person("<b>eve</b>"))
    assert answer.status_code == 403
    assert "&lt;b&gt;eve&lt;/b&gt; has no role here" in answer.text
    doubled = await locked.client.get("/", headers=[(HEADER, "vi"), (HEADER, "ada")])
    assert doubled.status_code == 403
    async with world(auth=True, proxy=proxied(**{"*": "viewer"})) as all_may:
        assert (await all_may.client.get("/", headers=person("eve"))).status_code == 200
        assert (await all_may.client.get("/new", headers=person("eve"))).status_code == 403


async def test_a_header_that_names_nobody_has_no_role() -> None:
    async with world(auth=True, proxy=proxied(**{"*": "viewer"})) as made:
        for name in (b"\xa0", b"vi\xad", b"v" * 201):  # a space, a soft hyphen, and a name without end
            headers = [(HEADER.encode(), name)]
            assert (await made.client.get("/", headers=headers)).status_code == 403, name


async def test_other_spellings_of_the_header_are_other_headers(locked: World) -> None:
    for spelled in ("X_Remote_User", "X-Remote_User", "Remote-User", "X-Remote-User-"):
        assert (await locked.client.get("/", headers={spelled: "ada"})).status_code == 303, spelled


async def test_a_forms_token_is_no_other_persons_with_another_cookie(locked: World) -> None:
    """Name and cookie are two parts: what a site beside this one plants as a cookie makes no name longer."""

    async def form_token(name: str, cookie: str) -> str:
        headers = {**person(name), "Cookie": f"{COOKIE}={cookie}"}
        page = (await locked.client.get("/admin/keys", headers=headers)).text
        return re.findall(r'name="token" value="([^"]+)"', page)[0]

    async with world(auth=True, proxy=proxied(ada="admin", da="admin")) as locked:
        assert await form_token("ada", "x") != await form_token("da", "xa")


async def test_an_address_of_the_proxy_in_ipv6_is_the_same_address() -> None:
    async with world(auth=True, proxy=proxied(("10.9.0.1",))) as made:
        for address, code in (("::ffff:10.9.0.1", 200), ("::ffff:10.9.0.2", 303), ("::10.9.0.1", 303), ("", 303)):
            transport = httpx.ASGITransport(made.app, client=(address, 9))
            async with httpx.AsyncClient(transport=transport, base_url="http://shoal.example") as client:
                assert (await client.get("/", headers=person("vi"))).status_code == code, address


async def test_the_api_wants_a_key_whatever_the_header_says(locked: World) -> None:
    for path in ("/v1/jobs", "/metrics", "/v1/status"):
        assert (await locked.client.get(path, headers=person("ada"))).status_code == 401, path


async def test_what_a_person_does_is_kept_under_the_name_and_needs_its_own_forms_token(locked: World) -> None:
    page = (await locked.client.get("/admin/keys", headers=person("ada"))).text
    given = re.search(r'name="token" value="([^"]+)"', page)
    assert given is not None
    form = {"token": given[1], "name": "ci", "tenant": "acme", "role": "submitter"}
    other = await locked.client.get("/new", headers=person("otto"))
    assert given[1] not in other.text
    foreign = {**person("ada"), "Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert (await locked.client.post("/admin/keys", data=form, headers=foreign)).status_code == 403
    assert (await locked.client.post("/admin/keys", data=form, headers=person("ada"))).status_code == 201
    assert [(entry.actor, entry.action) for entry in await locked.store.audit(AuditFilter())] == [
        ("ada", "POST /admin/keys")
    ]


async def test_a_key_of_a_role_has_its_scopes_and_is_shown_with_it(locked: World) -> None:
    await enter(locked, "admin")
    form: dict[str, Any] = {"token": await token(locked, "/admin/keys"), "name": "dash", "tenant": "acme"}
    await locked.client.post("/admin/keys", data={**form, "role": "submitter", "scope": ["admin"]})
    row = (await locked.store.keys())[-1]
    assert row.scopes == ("read", "submit")
    assert "<b>submitter</b>" in (await locked.client.get("/admin/keys")).text
    assert (await locked.client.post("/admin/keys", data={**form, "role": "root"})).status_code == 400


def test_a_role_is_known_by_its_scopes() -> None:
    assert [role_of(scopes) for scopes in ROLES.values()] == list(ROLES)
    assert (role_of(["admin"]), role_of(["submit"]), role_of([])) == ("admin", "", "")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"proxies": ()}, "SHOAL_LOGIN_PROXIES"),
        ({"proxies": ("proxy.local",)}, "proxy.local"),
        ({"roles": {"ada": "root"}}, "root"),
    ],
)
def test_settings_that_would_let_anyone_in_or_mean_nothing_are_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(BadSetting, match=re.escape(said)):
        TrustedProxy(**{"header": HEADER, "proxies": ("127.0.0.1",), **wrong})


async def test_a_gateway_that_wants_no_keys_takes_no_header_either(locked: World) -> None:
    settings = Settings(login_header=HEADER, login_proxies=("10.0.0.1",))
    with socket.socket() as listener, pytest.raises(BadSetting, match="SHOAL_AUTH=on"):
        async with gateway(listener, settings, locked.store, locked.artifacts):
            pass
