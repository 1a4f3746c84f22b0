"""Admission in virtual time: it finds the server's measure, rests there, and lets nobody starve."""

from __future__ import annotations

import statistics
from dataclasses import replace
from itertools import pairwise

import pytest

from shoal.services.inference.admission import AdmissionRules, ServerLoad, after_look, after_silence, begun
from tests.unit.inference.simulation import Server, World

RULES = AdmissionRules()
CALM = ServerLoad(running=4, waiting=0, kv_cache=0.2)
CROWDED = ServerLoad(running=10, waiting=30, kv_cache=0.5)

SERVERS = {
    "small": Server(batch=4),
    "middle": Server(batch=32),
    "large": Server(batch=128, decode_s=6),
    "slow": Server(batch=8, first_s=3, decode_s=20),
    "quick": Server(batch=16, first_s=0.1, decode_s=0.5),
}


@pytest.mark.parametrize("name", SERVERS)
def test_it_finds_the_servers_measure_and_rests_there(name: str) -> None:
    world = World(SERVERS[name], RULES)
    world.run(3600)

    settled = world.limits_since(1200)
    mean = statistics.mean(settled)
    # No oscillation: what remains is a third of the mean, or four sessions where one is a large share of the server.
    assert max(settled) - min(settled) <= max(4, 0.35 * mean)
    assert _turns(settled) <= len(settled) / 10
    # Not bought by idling: nearly what the server gives when it never lacks work.
    assert world.rate(1200, 3600) >= 0.9 * world.best_rate()
    # Nor by queueing: nine of ten replies begin before the time that counts as crowded, or that one reply takes.
    waits = sorted(world.waits[len(world.waits) // 2 :])
    assert waits[int(0.9 * len(waits))] < max(RULES.first_token_high_s, world.server.decode_s)


@pytest.mark.parametrize("seed", range(5))
def test_no_seed_makes_it_swing(seed: int) -> None:
    world = World(SERVERS["middle"], RULES, seed=seed)
    world.run(2400)
    settled = world.limits_since(1200)
    assert max(settled) - min(settled) <= 0.35 * statistics.mean(settled)


def test_without_admission_the_same_world_queues_for_minutes() -> None:
    free = World(SERVERS["middle"], replace(RULES, least=400, start=400))
    held = World(SERVERS["middle"], RULES)
    for world in (free, held):
        world.run(1800)
    assert statistics.median(free.waits[-500:]) > 20
    assert statistics.median(held.waits[-500:]) < 3
    assert held.rate(900, 1800) >= 0.9 * free.rate(900, 1800)


def test_others_on_the_same_server_are_made_room_for_and_their_share_is_taken_back() -> None:
    world = World(SERVERS["middle"], RULES)
    world.run(1200)
    alone = world.state.sessions
    world.foreign = 24
    world.run(2400)
    beside = world.state.sessions
    assert 1 <= beside <= 0.7 * alone
    world.foreign = 0
    world.run(4200)
    assert world.state.sessions >= 0.85 * alone


def test_nobody_starves_beside_others_that_take_everything() -> None:
    world = World(SERVERS["small"], RULES)
    world.run(600)
    world.foreign = 3  # one place is left
    world.run(3600)
    assert world.state.sessions >= 1
    assert world.rate(1800, 3600) > 0


def test_a_server_that_is_away_gets_nobody_and_is_filled_again_when_it_is_back() -> None:
    world = World(SERVERS["middle"], RULES)
    world.run(1200)
    before = world.state.sessions
    world.up = False
    world.run(1300)
    assert world.state.sessions == 0
    world.up = True
    world.run(1310)
    assert 1 <= world.state.sessions <= before
    world.run(2400)
    assert world.state.sessions >= 0.8 * before


@pytest.mark.parametrize("seed", range(3))
def test_a_server_that_reads_prompts_slowly_is_not_filled_and_emptied_in_turns(seed: int) -> None:
    """Nothing of it shows but late replies, and between two looks none may begin at all."""
    world = World(Server(batch=64, prefill_s=3.0), RULES, seed=seed)
    world.run(7200)

    settled = world.limits_since(2400)
    assert max(settled) - min(settled) <= max(4, 0.35 * statistics.mean(settled))
    assert world.rate(2400, 7200) >= 0.9 * world.best_rate()
    assert statistics.median(world.waits[-500:]) < RULES.first_token_high_s


def test_a_look_between_two_replies_says_nothing_about_how_late_they_are() -> None:
    state = after_look(begun(RULES), replace(CALM, first_tokens=10, first_token_s=10), active=2, now=0.0, rules=RULES)
    late = replace(CALM, first_tokens=20, first_token_s=10 + 10 * 30)
    state = after_look(state, late, active=2, now=2.0, rules=RULES)
    assert after_look(state, late, active=2, now=4.0, rules=RULES).first_token_s == state.first_token_s > 10
    idle = replace(late, running=0)
    assert after_look(state, idle, active=0, now=4.0, rules=RULES).first_token_s < state.first_token_s


def test_totals_of_two_replicas_behind_one_address_are_not_compared() -> None:
    old = replace(CALM, process=1.0, preempted=500, first_tokens=1_000, first_token_s=60_000)
    new = replace(CALM, process=2.0, preempted=0, first_tokens=10, first_token_s=10)
    state = begun(RULES)
    for at in range(20):
        state = after_look(state, (old, new)[at % 2], active=0, now=at * 2.0, rules=RULES)
    assert (state.sessions, state.first_token_s) == (RULES.start, 0)
    thrown_out = replace(old, preempted=503)
    assert after_look(state, thrown_out, active=8, now=40.0, rules=RULES).sessions < RULES.start


def test_what_is_not_used_does_not_grow() -> None:
    state = begun(RULES)
    for at in range(100):
        state = after_look(state, CALM, active=2, now=float(at), rules=RULES)
    assert state.sessions == RULES.start


def test_it_never_leaves_its_bounds() -> None:
    rules = replace(RULES, least=2, most=20)
    state = begun(rules)
    for at in range(200):
        state = after_look(state, CALM, active=state.sessions, now=at * 20.0, rules=rules)
    assert state.sessions == 20
    for at in range(200, 400):
        state = after_look(state, CROWDED, active=state.sessions, now=at * 20.0, rules=rules)
    assert state.sessions == 2


def test_one_queue_is_answered_by_one_cut() -> None:
    state = after_look(begun(RULES), CROWDED, active=8, now=0.0, rules=RULES)
    assert state.sessions == 6
    for now in (2.0, 4.0, 6.0, 8.0):
        state = after_look(state, CROWDED, active=6, now=now, rules=RULES)
        assert state.sessions == 6
    assert after_look(state, CROWDED, active=6, now=RULES.rest_s, rules=RULES).sessions == 4


def test_a_full_cache_and_requests_thrown_out_count_as_crowded() -> None:
    full = replace(CALM, kv_cache=0.99)
    assert after_look(begun(RULES), full, active=8, now=0.0, rules=RULES).sessions < RULES.start
    seen = after_look(begun(RULES), CALM, active=2, now=0.0, rules=RULES)
    thrown_out = replace(CALM, preempted=3)
    assert after_look(seen, thrown_out, active=8, now=2.0, rules=RULES).sessions < RULES.start


def test_late_first_tokens_count_as_crowded() -> None:
    seen = after_look(begun(RULES), replace(CALM, first_tokens=10, first_token_s=10), active=2, now=0.0, rules=RULES)
    late = replace(CALM, first_tokens=20, first_token_s=10 + 10 * 60)
    assert after_look(seen, late, active=8, now=2.0, rules=RULES).sessions < RULES.start


def test_silence_admits_nobody_once_and_for_all_looks() -> None:
    state = after_silence(replace(begun(RULES), limit=40.0), RULES)
    assert state.sessions == 0
    assert after_silence(state, RULES) == state
    assert after_look(state, CALM, active=0, now=0.0, rules=RULES).sessions == 20


def _turns(values: list[int]) -> int:
    moves = [b - a for a, b in pairwise(values) if a != b]
    return sum(1 for a, b in pairwise(moves) if (a > 0) != (b > 0))
