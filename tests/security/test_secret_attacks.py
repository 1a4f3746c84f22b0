"""No attack of `secret_attacks` gets a stored secret out of a running `shoal up`."""

from __future__ import annotations

import httpx

from tests.embedded import up
from tests.security.secret_attacks import PASSWORD, PIN, SPELLED, Gateway, attack, attacked_site, leaks


def test_no_attack_gets_a_stored_secret_out_of_shoal_up() -> None:
    with up(workers="1", slots_per_worker="2") as cluster, attacked_site() as site:
        with httpx.Client(base_url=cluster.url, timeout=60) as http:
            told = list(attack(Gateway(http), site))
        assert {each.name: each.through for each in told if each.through} == {}
        assert [each.name for each in told if not each.hidden] == [], "the control: something was hidden"
        failed = [each.name for each in told if each.status not in ("completed", "succeeded")]
        assert failed == ["a page that fails"]
        assert leaks(cluster.log.read_text()) == []


def test_what_gets_through_is_seen() -> None:
    """The control: each spelling is found where nothing hides it."""
    for name, spell in SPELLED.items():
        assert name in leaks(f"before {spell(PASSWORD)} behind"), name
    assert leaks(f"PIN {PIN}") and not leaks("secret:ATTACKED (hidden) 83061")
