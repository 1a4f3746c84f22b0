"""Logins by OpenID Connect: what a person may do, and what a forged or broken login comes to."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc.jwk import RSAKey

from shoal.services.errors import BadSetting, NotAllowed
from shoal.services.store.records import AuditFilter
from shoal.services.web.http.auth import KNOWN_FOR_S
from shoal.services.web.openid import provider as provider_module
from shoal.services.web.openid.config import CALLBACK, OpenId
from shoal.services.web.openid.people import person_of
from shoal.services.web.pages import login
from shoal.services.web.pages.login import COOKIE
from tests import openid_provider
from tests.gateway_world import World, world
from tests.openid_provider import CLIENT, SECRET, FaultyProvider, faulty_provider
from tests.unit.gateway.pages.test_admin_pages import token

PUBLIC = "http://127.0.0.1:8700"
ATTEMPT = login._ATTEMPT_COOKIE
ROLES = {"ops": "operator", "admins": "admin", "readers": "viewer"}
SOMEWHERE = {"issuer": "https://id.example", "client_id": "c", "public_url": "https://shoal.example"}


def openid_of(provider: FaultyProvider, **changes: Any) -> OpenId:
    told = {"issuer": provider.issuer, "client_id": CLIENT, "client_secret": SECRET, "roles": ROLES, "tenant": "acme"}
    return OpenId(**{**told, "public_url": PUBLIC, **changes})


@dataclass
class Door:
    """A gateway that lets people in who come from the provider."""

    provider: FaultyProvider
    world: World

    @property
    def client(self) -> httpx.AsyncClient:
        return self.world.client

    async def begin(self, next_path: str = "/") -> httpx.URL:
        """Goes to the provider and gives the address that it sends the person back to."""
        sent = await self.client.get("/login/openid", params={"next": next_path})
        assert sent.status_code == 303, sent.text
        async with httpx.AsyncClient() as elsewhere:
            back = await elsewhere.get(sent.headers["location"])
        return httpx.URL(back.headers["location"])

    async def log_in(self, next_path: str = "/") -> httpx.Response:
        return await self.client.get(await self.begin(next_path))


@pytest.fixture
async def provider() -> AsyncIterator[FaultyProvider]:
    async with faulty_provider() as made:
        yield made


@pytest.fixture
async def door(provider: FaultyProvider) -> AsyncIterator[Door]:
    async with world(auth=True, openid=openid_of(provider)) as made:
        yield Door(provider, made)


async def refused(door: Door, status: int, said: str) -> None:
    """A login ends at the login page with this reason, and lets nobody in."""
    answer = await door.log_in("/status")
    assert (answer.status_code, said in answer.text) == (status, True), answer.text
    assert COOKIE not in door.client.cookies and await door.world.store.keys() == []
    assert (await door.client.get("/status")).status_code == 303


async def test_a_person_logs_in_works_under_the_own_name_and_logs_out(door: Door) -> None:
    door.provider.claims |= {"email": "ada@acme.example", "email_verified": True, "groups": ["readers", "admins"]}
    page = await door.client.get("/login", params={"next": "/admin/keys?a=b&c"})
    assert 'href="/login/openid?next=/admin/keys%3Fa%3Db%26c">Log in with 127.0.0.1' in page.text
    answer = await door.log_in("/admin/keys?a=b&c")
    assert (answer.status_code, answer.headers["location"]) == (303, "/admin/keys?a=b&c")
    keys = (await door.client.get("/admin/keys")).text
    assert "<b>ada@acme.example</b>" in keys and "let in" in keys and "Log out" in keys
    form = {"token": await token(door.world, "/admin/keys"), "name": "ci", "tenant": "new", "role": "viewer"}
    assert (await door.client.post("/admin/keys", data={**form, "token": "x"})).status_code == 403
    assert (await door.client.post("/admin/keys", data=form)).status_code == 201
    assert [entry.actor for entry in await door.world.store.audit(AuditFilter())] == ["ada@acme.example"]
    done = await door.client.post("/logout", data={"token": form["token"]})
    assert done.headers["location"] == "/login/ended"
    assert (await door.client.get("/admin/keys")).status_code == 303


async def test_what_is_sent_to_the_provider_is_bound_to_this_login(door: Door) -> None:
    addresses = [(await door.client.get("/login/openid")).headers["location"] for _ in range(2)]
    asked = [{name: values[0] for name, values in parse_qs(urlsplit(url).query).items()} for url in addresses]
    first = asked[0]
    assert (first["response_type"], first["client_id"], first["scope"]) == ("code", CLIENT, "openid email profile")
    assert (first["code_challenge_method"], first["redirect_uri"]) == ("S256", f"{PUBLIC}{CALLBACK}")
    for name in ("state", "nonce", "code_challenge"):
        assert first[name] != asked[1][name] and len(first[name]) >= 43
    assert "client_secret" not in first and "code_verifier" not in first
    sent = (await door.client.get("/login/openid")).headers["set-cookie"].lower()
    assert "httponly" in sent and "samesite=lax" in sent


@pytest.mark.parametrize(
    ("groups", "codes"),
    [(["readers"], (200, 403, 403)), (["ops"], (200, 200, 403)), ("admins", (200, 200, 200))],
)
async def test_a_role_opens_the_pages_that_it_may_see(door: Door, groups: Any, codes: tuple[int, ...]) -> None:
    door.provider.claims["groups"] = groups
    assert (await door.log_in()).status_code == 303
    for path, code in zip(("/", "/admin/audit", "/admin/keys"), codes, strict=True):
        assert (await door.client.get(path)).status_code == code, path
    assert (await door.client.get("/v1/jobs")).status_code == 401  # the API wants a key


async def test_people_see_their_tenants_jobs_alone(provider: FaultyProvider) -> None:
    mapped = {"tenant_claim": "org.name", "tenants": {"Acme Ltd": "acme", "Other": "other"}}
    async with world(auth=True, openid=openid_of(provider, **mapped)) as made:
        door = Door(provider, made)
        for tenant in ("acme", "other"):
            key = await made.key("submit", tenant=tenant)
            spec = {"url": "https://shop.example/", "goal": f"of {tenant}"}
            await made.client.post("/v1/jobs", json=spec, headers={"Authorization": f"Bearer {key}"})
        for org, code, said in (
            ("Other", 303, ""),
            ("None", 403, "no tenant"),
            (["Acme Ltd", "Other"], 403, "several"),
        ):
            provider.claims["org"] = {"name": org}
            answer = await door.log_in()
            assert answer.status_code == code and said in answer.text, org
        shown = (await made.client.get("/")).text
        assert ("of acme" in shown, "of other" in shown) == (False, True)


@pytest.mark.parametrize(
    "claims", [{}, {"groups": []}, {"groups": ["Ops", "ops ", "x" * 9000]}, {"groups": {"ops": 1}}]
)
async def test_claims_that_are_not_mapped_give_no_role(door: Door, claims: Mapping[str, Any]) -> None:
    door.provider.claims = {"sub": "<b>eve</b>", **claims}
    await refused(door, 403, "&lt;b&gt;eve&lt;/b&gt; has no role here")


async def test_a_groups_claim_that_only_userinfo_gives_counts(door: Door) -> None:
    door.provider.claims = {"sub": "u1"}
    door.provider.userinfo = {"sub": "u1", "groups": ["ops"]}
    assert (await door.log_in()).status_code == 303
    assert (await door.world.store.keys())[0].scopes == ("read", "submit", "control")


async def test_userinfo_of_another_person_is_refused(door: Door) -> None:
    door.provider.claims = {"sub": "u1"}
    door.provider.userinfo = {"sub": "u2", "groups": ["admins"]}
    await refused(door, 401, "two people")


async def test_what_userinfo_says_does_not_replace_what_was_signed(door: Door) -> None:
    door.provider.claims = {"sub": "u1", "groups": ["readers"]}
    door.provider.userinfo = {"sub": "u1", "groups": ["admins"]}
    assert (await door.log_in()).status_code == 303
    assert (await door.client.get("/admin/keys")).status_code == 403


FORGED: Mapping[str, dict[str, Any]] = {
    "alg none": {"sign": openid_provider.unsigned},
    "HMAC of the public key": {"sign": openid_provider.by_hmac_of_the_public_key},
    "another's signature": {"sign": openid_provider.by_another_key},
    "no token": {"sign": lambda provider, claims: "x.y"},
    "no text": {"sign": lambda provider, claims: 7},
    "other audience": {"token_changes": {"aud": "another-client"}},
    "other audience, for this client": {"token_changes": {"aud": "another-client", "azp": CLIENT}},
    "several audiences": {"token_changes": {"aud": [CLIENT, "another-client"]}},
    "no audience": {"token_changes": {"aud": None}},
    "for another client": {"token_changes": {"azp": "another-client"}},
    "wrong issuer": {"token_changes": {"iss": "https://evil.example"}},
    "no issuer": {"token_changes": {"iss": None}},
    "expired": {"token_changes": {"exp": int(time.time()) - 3600, "iat": int(time.time()) - 7200}},
    "no expiry": {"token_changes": {"exp": None}},
    "not yet": {"token_changes": {"iat": int(time.time()) + 3600}},
    "other nonce": {"token_changes": {"nonce": "of another login"}},
    "no nonce": {"token_changes": {"nonce": None}},
    "other access token": {"token_changes": {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}},
    "no subject": {"claims": {"groups": ["admins"]}},
    "a subject that is no text": {"claims": {"sub": ["u1"], "groups": ["admins"]}},
    "an empty subject": {"claims": {"sub": "", "groups": ["admins"]}},
    "a subject that no database takes": {"claims": {"sub": "u\0001", "groups": ["admins"]}},
    "no key at all": {"listed": {"keys": []}},
    "keys that are none": {"listed": {"keys": [{"kty": "none"}, "x"]}},
    "keys that are no list": {"listed": {"keys": "x"}},
    "no keys": {"listed": {}},
}


@pytest.mark.parametrize("how", FORGED)
async def test_an_id_token_that_is_not_for_this_login_lets_nobody_in(door: Door, how: str) -> None:
    for name, value in FORGED[how].items():
        setattr(door.provider, name, value)
    await refused(door, 401, "login of 127.0.0.1")


async def test_new_keys_of_the_provider_are_asked_for(door: Door) -> None:
    assert (await door.log_in()).status_code == 303
    door.provider.key = RSAKey.generate_key(2048, {"kid": "k2"})
    assert (await door.log_in()).status_code == 303
    assert door.provider.asked.count("/keys") == 2
    assert door.provider.asked.count("/.well-known/openid-configuration") == 1


async def test_a_forged_state_lets_nobody_in(door: Door) -> None:
    for change in (lambda state: "", lambda state: "x", lambda state: state[:-1], lambda state: state + "x"):
        back = await door.begin()
        answer = await door.client.get(back.copy_set_param("state", change(back.params["state"])))
        assert (answer.status_code, "not the login that began here" in answer.text) == (401, True)
        assert (await door.client.get(back)).status_code == 401  # the attempt is over
    assert "/token" not in door.provider.asked
    mixed = await door.begin()
    assert (await door.client.get(mixed.copy_set_param("iss", "https://evil.example"))).status_code == 401
    assert COOKIE not in door.client.cookies


async def test_the_way_back_counts_in_the_browser_that_began_alone(door: Door) -> None:
    back = await door.begin()
    kept = door.client.cookies[ATTEMPT]
    door.client.cookies.clear()
    assert "began too long ago, or elsewhere" in (await door.client.get(back)).text
    for forged in (kept[:-1], kept.replace(".", ".9", 1), "", "é.1.x", "x" * 4000):
        answer = await door.client.get(back, headers=[(b"Cookie", f"{ATTEMPT}={forged}".encode())])
        assert answer.status_code == 401, forged
    assert COOKIE not in door.client.cookies and "/token" not in door.provider.asked


async def test_an_attempt_is_no_login_and_ends_after_ten_minutes(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    back = await door.begin()
    attempt = door.client.cookies[ATTEMPT]
    assert (await door.client.get("/", headers={"Cookie": f"{COOKIE}={attempt}"})).status_code == 303
    later = time.time() + 601
    monkeypatch.setattr(login.time, "time", lambda: later)
    answer = await door.client.get(back, headers={"Cookie": f"{ATTEMPT}={attempt}"})
    assert "began too long ago" in answer.text


async def test_a_code_counts_once(door: Door) -> None:
    back = await door.begin()
    kept = door.client.cookies[ATTEMPT]
    assert (await door.client.get(back)).status_code == 303
    assert (await door.client.get(back)).status_code == 401  # the browser has forgotten the attempt
    door.client.cookies.clear()
    again = await door.client.get(back, headers={"Cookie": f"{ATTEMPT}={kept}"})
    assert (again.status_code, "does not take this login" in again.text) == (401, True)
    assert COOKIE not in door.client.cookies


async def test_another_persons_code_needs_that_persons_verifier(door: Door) -> None:
    stolen = (await door.begin()).params["code"]
    own = await door.begin()
    answer = await door.client.get(own.copy_set_param("code", stolen))
    assert (answer.status_code, COOKIE in door.client.cookies) == (401, False)


@pytest.mark.parametrize(
    "place", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/\t/evil.example"]
)
async def test_a_login_leads_to_no_other_site(door: Door, place: str) -> None:
    answer = await door.log_in(place)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


async def test_a_long_address_to_go_on_to_is_left_out(door: Door) -> None:
    for long in ("x" * 5000, "\U0001f41f" * 900):
        assert (await door.log_in(f"/{long}")).headers["location"] == "/"


async def test_what_a_provider_refuses_is_said_without_its_text(door: Door) -> None:
    back = await door.begin()
    evil = {"error": "access_denied", "error_description": "call 555 <script>", "state": back.params["state"]}
    answer = await door.client.get(CALLBACK, params=evil)
    assert (answer.status_code, "did not let you in (access_denied)" in answer.text) == (401, True)
    assert "555" not in answer.text
    back = await door.begin()
    answer = await door.client.get(CALLBACK, params={"error": "Call 555 now!", "state": back.params["state"]})
    assert (answer.status_code, "555" in answer.text) == (401, False)


async def test_a_wrong_secret_is_told_and_not_shown(provider: FaultyProvider) -> None:
    async with world(auth=True, openid=openid_of(provider, client_secret="wr0ng-secret")) as made:
        answer = await Door(provider, made).log_in()
        assert (answer.status_code, "wr0ng-secret" in answer.text) == (401, False)
    assert "wr0ng-secret" not in repr(openid_of(provider, client_secret="wr0ng-secret"))


async def test_a_provider_that_is_away_gives_a_page_and_keys_go_on(provider: FaultyProvider) -> None:
    async with world(auth=True, openid=openid_of(provider, issuer="http://127.0.0.1:9")) as made:
        answer = await made.client.get("/login/openid", params={"next": "/status"})
        assert (answer.status_code, "does not answer" in answer.text) == (503, True)
        assert 'value="/status"' in answer.text
        assert (await made.client.get("/login/ended")).status_code == 200
        key = await made.key("read")
        entered = await made.client.post("/login", data={"key": key, "next": "/status"})
        assert entered.headers["location"] == "/status"


async def test_a_provider_that_never_ends_its_answer_is_left(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    back = await door.begin()
    monkeypatch.setattr(provider_module, "_TIMEOUT_S", 0.5)
    door.provider.drips = True
    answer = await door.client.get(back)
    assert (answer.status_code, "does not answer in time" in answer.text) == (503, True)


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": None},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"jwks_uri": "file:///etc/passwd"},
        {"token_endpoint": "http://["},
        {"x": "y" * (2 << 20)},
    ],
    ids=lambda metadata: next(iter(metadata)),
)
async def test_a_provider_that_describes_itself_wrongly_is_not_used(door: Door, metadata: Mapping[str, Any]) -> None:
    door.provider.metadata = dict(metadata)
    answer = await door.client.get("/login/openid")
    assert (answer.status_code, "The login provider 127.0.0.1" in answer.text) == (503, True)
    assert len(answer.text) < 10_000 and ATTEMPT not in door.client.cookies


async def test_logout_offers_the_providers_own(door: Door) -> None:
    door.provider.metadata = {"end_session_endpoint": f"{door.provider.issuer}/end?x=1"}
    await door.log_in()
    page = (await door.client.get("/login/ended")).text
    assert f'href="{door.provider.issuer}/end?x=1&amp;client_id={CLIENT}"' in page


async def test_a_stream_ends_when_its_person_logs_in_again_with_less_rights(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.services.web.http.auth.KNOWN_FOR_S", 0.0)
    monkeypatch.setattr("shoal.services.web.api.events.OVER_S", 0.05)
    key = await door.world.key("submit", "read", tenant="other")
    spec = {"url": "https://shop.example/", "goal": "read the prices"}
    made = await door.client.post("/v1/jobs", json=spec, headers={"Authorization": f"Bearer {key}"})
    door.provider.claims = {"sub": "u1", "groups": ["admins"]}
    await door.log_in()
    stream = asyncio.create_task(door.client.get(f"/jobs/{made.json()['id']}/events"))
    async with asyncio.timeout(60):
        while not door.world.deps.metrics.event_streams._value.get():
            assert not stream.done(), stream.result().text
            await asyncio.sleep(0.01)
    await asyncio.wait([stream], timeout=0.3)
    assert not stream.done(), "an admin sees the jobs of all tenants"
    door.provider.claims = {"sub": "u1", "groups": ["readers"]}
    assert (await door.log_in()).status_code == 303
    assert (await asyncio.wait_for(stream, 60)).text.count("event: ") == 1


async def test_a_person_who_is_shut_out_is_out_at_once_and_for_good(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.services.web.http.auth.KNOWN_FOR_S", 0.0)
    await door.log_in()
    person = (await door.world.store.keys())[0]
    assert (await door.client.get("/")).status_code == 200
    key = await door.world.key("admin")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(door.world.app), base_url=PUBLIC) as boss:
        await boss.post("/login", data={"key": key, "next": "/"})
        given = re.search(r'name="token" value="([^"]+)"', (await boss.get("/admin/keys")).text)
        assert given is not None
        form = {"token": given[1]}
        assert (await boss.post(f"/admin/keys/{person.id}/revoke", data=form)).status_code == 303
        assert (await door.client.get("/")).status_code == 303
        answer = await door.log_in()
        assert (answer.status_code, "is shut out" in answer.text) == (403, True)
        assert "shut out" in (await boss.get("/admin/keys")).text
        assert (await boss.post(f"/admin/people/{person.id}/restore", data={})).status_code == 403
        assert (await boss.post(f"/admin/people/{person.id}/restore", data=form)).status_code == 303
        assert (await boss.post(f"/admin/people/{person.id + 1}/restore", data=form)).status_code == 404
        assert (await door.client.get("/")).status_code == 303  # the old login stays dead
        assert (await door.log_in()).status_code == 303
        assert (await door.client.get("/")).status_code == 200
        actions = [entry.action for entry in await door.world.store.audit(AuditFilter())]
        assert actions == ["POST /admin/people/{key}/restore", "POST /admin/keys/{key}/revoke"]


async def test_a_login_ends_after_its_time_by_cookie_and_by_row(
    provider: FaultyProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.services.web.http.auth.KNOWN_FOR_S", 0.0)
    passed = 0.0
    began = time.time()
    async with world(auth=True, openid=openid_of(provider, login_s=60.0), clock=lambda: began + passed) as made:
        await Door(provider, made).log_in()
        assert (await made.client.get("/")).status_code == 200
        passed = 61.0  # of the store's clock alone: the cookie still holds
        assert (await made.client.get("/")).status_code == 303
    async with world(auth=True, openid=openid_of(provider, login_s=60.0), clock=lambda: began) as made:
        await Door(provider, made).log_in()
        cookie = {"Cookie": f"{COOKIE}={made.client.cookies[COOKIE]}"}
        assert (await made.client.get("/", headers=cookie)).status_code == 200
        monkeypatch.setattr(login.time, "time", lambda: began + 65)  # the row still holds
        assert (await made.client.get("/", headers=cookie)).status_code == 303
    assert KNOWN_FOR_S <= 5


async def test_a_login_of_a_provider_that_is_set_no_more_counts_no_more(provider: FaultyProvider) -> None:
    secret, openid = b"k" * 32, openid_of(provider)
    async with world(auth=True, openid=openid, cookie_secret=secret) as made:
        await Door(provider, made).log_in()
        headers = {"Cookie": f"{COOKIE}={made.client.cookies[COOKIE]}"}
    person = person_of(provider.claims, openid)
    for options, code in (({"openid": openid}, 200), ({}, 303)):
        async with world(auth=True, cookie_secret=secret, **options) as later:
            await later.store.admit_person(person.name, person.tenant, ["read"], person.key_hash, 60.0)
            assert (await later.client.get("/", headers=headers)).status_code == code


def test_an_address_that_is_not_verified_gives_neither_name_nor_role() -> None:
    openid = OpenId(**SOMEWHERE, role_claim="email", roles={"ada@acme.example": "admin"})
    said = {"sub": "u1", "email": "ada@acme.example"}
    for verified in (None, False, "true", 1):
        with pytest.raises(NotAllowed, match="u1 has no role"):
            person_of({**said, "email_verified": verified}, openid)
    person = person_of({**said, "email_verified": True}, openid)
    assert (person.name, person.role, person.key_hash.startswith("person:")) == ("ada@acme.example", "admin", True)


def test_one_subject_of_two_issuers_is_two_people() -> None:
    def hashed(issuer: str, subject: str) -> str:
        openid = OpenId(**{**SOMEWHERE, "issuer": issuer}, roles={"*": "viewer"})
        return person_of({"sub": subject}, openid).key_hash

    hashes = {hashed("https://a.example", "1"), hashed("https://b.example", "1"), hashed("https://a.example", "2")}
    assert len(hashes) == 3


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"issuer": "http://id.example"}, "https"),
        ({"issuer": "id.example"}, "SHOAL_OIDC_ISSUER"),
        ({"client_id": ""}, "SHOAL_OIDC_CLIENT_ID"),
        ({"public_url": ""}, "SHOAL_PUBLIC_URL"),
        ({"public_url": "http://shoal.example"}, "https"),
        ({"scopes": ("email",)}, "openid"),
        ({"roles": {}}, "SHOAL_OIDC_ROLES"),
        ({"roles": {"ops": "root"}}, "root"),
        ({"tenant_claim": "org"}, "SHOAL_OIDC_TENANTS"),
        ({"tenants": {"x": "y"}}, "SHOAL_OIDC_TENANT_CLAIM"),
        ({"tenant_claim": "org", "tenants": {"x": "a/b"}}, "a/b"),
    ],
)
def test_settings_with_which_no_login_is_safe_are_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(BadSetting, match=re.escape(said)):
        OpenId(**{**SOMEWHERE, "roles": {"*": "viewer"}, **wrong})
