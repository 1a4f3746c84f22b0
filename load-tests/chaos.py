"""Breaks parts of a real cluster again and again while it works, then holds what the shop saw against the store.

Three loops run at once in real browsers on the demo shop: one extracts products, one sends the shop's quote form once
per item, one the request to be called back, whose answer can be seen once. Every few seconds, by a seeded die,
something is killed: Chromium, a worker, a raylet, the dispatcher, the gateway, the supervisor, PostgreSQL, the S3
server, Ray's head; it is started again as an orchestrator would. Or it stands still for a while (SIGSTOP), the database
is locked, loses its connections or only reads, or the S3 server is away while the disk is full on which uploads wait
for it; or one part gets nothing from another, which the rest reaches as before (gateway and database, dispatcher and
database, gateway and S3, workers and S3, supervisor and Ray). With
`--namespaces` nodes are cut off the network too, or their links are slow or lose packets, while the shop stays within
their reach. With `--learn` two more loops learn from a model that knows the truth: one reads pages that are redesigned
in its middle, one sends a form. When the jobs are over there must hold:

* every item is final, and in the store and in the results exactly once;
* every record is what the shop's own list says;
* no form was sent twice, every completed one was sent, none failed: least of all one that was received;
* an item is `unsure` only where a kill fell into its sending, and names the action;
* a loop that learns has ended in replay, or says why it has not;
* no process outlives the cluster.

With `--in-each-phase` each kind is killed once while a loop learns, compares, replays and repairs, so that the loops
get on to the next phase. The run tells what was killed in none of them.

    python load-tests/chaos.py [--items 2000] [--forms 100] [--seconds 120] [--every 5] [--seed 1] [--namespaces]
        [--learn 200]

Needs nothing that `make setup` does not bring. Exit code 0 only when all of it holds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import signal
import statistics
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from _chaos_cluster import ChaosCluster, until
from _chaos_doubts import Kill, unexplained
from _chaos_kills import NEEDS_DISK, NEEDS_LINKS, WEIGHTS, hurt, order
from _chaos_learning import LEARNED_PHASES, LearningLoops
from _chaos_net import SITES, Network, go_inside
from _chaos_verdicts import doubts, forms_wrong, last_steps, products_wrong, store_wrong

from shoal.agent.support.json_value import Json
from tests.embedded import oracle
from tests.full_disk import can_mount

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "price": {"type": "number"}},
    "required": ["name", "price"],
}
QUOTE: dict[str, Json] = json.loads(Path(__file__).with_name("quote.json").read_text())
_ATTEMPTS = 10
_LOOK_S = 0.1


@dataclass
class Storm:
    """The log of a storm: kills with their times, and counts of final items with theirs."""

    began: float = field(default_factory=time.monotonic)
    ended: float = 0.0
    kills: list[tuple[float, Kill]] = field(default_factory=list)  # with the monotonic clock's time
    done: list[tuple[float, int]] = field(default_factory=list)  # when the number changed
    phases: Counter[str] = field(default_factory=Counter)  # of loops that learn: kills by how far the loop was

    def missing(self, phases: Sequence[str], kinds: Sequence[str]) -> str | None:
        """A kind that was not killed yet while a loop was as far as one is now; None where each was."""
        now = {phase.partition(": ")[2] for phase in phases}
        lacking = (kind for kind in kinds for phase in now if not self.killed_in(phase, kind))
        return next(lacking, None)

    def killed_in(self, phase: str, kind: str) -> int:
        """Return how often a kind was killed while a loop was in a phase."""
        return sum(n for at, n in self.phases.items() if at.endswith(f": {phase}, {kind}"))

    def not_reached(self, kinds: Sequence[str]) -> list[str]:
        """Each phase and kind of which there was no kill."""
        return [f"{kind} in {phase}" for phase in LEARNED_PHASES for kind in kinds if not self.killed_in(phase, kind)]

    @property
    def final(self) -> int:
        """The number of final items when it was looked at last."""
        return self.done[-1][1] if self.done else 0

    @property
    def moved(self) -> float:
        """The time of the last kill or the last final item, whichever came later."""
        return max((at for at, _ in (*self.kills[-1:], *self.done[-1:])), default=self.began)

    def look(self, n: int | None) -> None:
        """Notes the number of final items."""
        if n is not None and n > self.final:
            self.done.append((time.monotonic(), n))

    def counts(self) -> Counter[str]:
        """Return how often what was killed."""
        return Counter(kill.kind for _, kill in self.kills)

    def recoveries(self) -> dict[str, list[float]]:
        """Seconds from each kill to the next item that ended, by kind."""
        found: dict[str, list[float]] = {}
        for at, kill in self.kills:
            following = next((when for when, _ in self.done if when > at), None)
            if following is not None:
                found.setdefault(kill.kind, []).append(following - at)
        return found

    def pause(self) -> float:
        """The longest time without an item that ended."""
        times = [when for when, _ in self.done]
        return max((later - earlier for earlier, later in itertools.pairwise(times)), default=0.0)

    def rate(self) -> float:
        """Items per second, from the beginning to the last one."""
        return self.done[-1][1] / (self.done[-1][0] - self.began) if self.done else 0.0


def submit_products(cluster: ChaosCluster, items: int, pace_s: float) -> tuple[str, list[Json]]:
    """A loop over so many product pages, each with an address of its own; its id, and the truth of each item."""
    truth = [one for one in cluster.site("/_truth/products.json") if not one["discontinued"] and not one["slow"]]
    wanted = [truth[i % len(truth)] for i in range(items)]
    job = cluster.submit(
        {
            "url": cluster.shop + "/",
            "loop": {"values": [f"{cluster.shop}{p['path']}?visit={i}" for i, p in enumerate(wanted)], "is_link": True},
            "extract": {"schema": SCHEMA},
            "policy": "rules",  # with a model, too, where other loops learn from one
            "politeness": {"robots": False, "delay_s": pace_s},
            "max_attempts": _ATTEMPTS,
        }
    )
    return job, wanted


def submit_quotes(cluster: ChaosCluster, forms: int) -> tuple[str, list[str]]:
    """A loop that sends one quote form for each item; its id, and the e-mail address that marks each."""
    soon = time.strftime("%Y-%m-%d", time.localtime(time.time() + 30 * 86_400))
    return submit_forms(cluster, forms, "/quote", QUOTE | {"delivery_date": soon})


def submit_callbacks(cluster: ChaosCluster, forms: int) -> tuple[str, list[str]]:
    """The same with the request to be called back."""
    return submit_forms(cluster, forms, "/callback", {"full_name": QUOTE["name"], "phone": QUOTE["phone"]})


def submit_forms(cluster: ChaosCluster, forms: int, path: str, data: Json) -> tuple[str, list[str]]:
    """A loop that sends the form at `path` once for each item; its id, and the e-mail address that marks each."""
    emails = [f"chaos{i}@quimby.example" for i in range(forms)]
    job = cluster.submit(
        {
            "url": f"{cluster.shop}{path}",
            "goal": "Send the request.",
            "policy": "rules",
            "data": data,
            "repeatable": False,
            "complete_criterion": "your request was received",
            "loop": {"values": [json.dumps({"email": email}) for email in emails]},
            "politeness": {"robots": False},
            "max_attempts": _ATTEMPTS,
        }
    )
    return job, emails


def rage(cluster: ChaosCluster, options: argparse.Namespace, learning: LearningLoops | None) -> Storm:
    """Kills for `--seconds`, and until each kind had its turn; with `--in-each-phase`, each kind once in each phase.

    Then waits until all jobs are over.

    Raises:
        TimeoutError: none became final for `--patience` after the storm.
    """
    dice = random.Random(options.seed)
    kinds = order(dice, options.kinds)
    storm, kind = Storm(), next(kinds)
    following = storm.began + options.every
    calm = storm.began + options.seconds
    while cluster.running():
        cluster.keep_running()
        storm.look(cluster.done())
        now = time.monotonic()
        if now >= max(calm, storm.moved) + options.patience:
            raise TimeoutError(f"{storm.final} items are final, and none more within {options.patience:.0f} s")
        stormy = options.in_each_phase or now < calm or len(storm.counts()) < len(options.kinds)
        # Where there is none of the kind just now, there is soon.
        if stormy and now >= following:
            phases = learning.phases(cluster) if learning is not None else []
            turn = storm.missing(phases, options.kinds) if options.in_each_phase else kind
            if turn is not None and (kill := hurt(cluster, turn, dice)) is not None:
                storm.kills.append((time.monotonic(), kill))
                storm.phases.update(f"{phase}, {turn}" for phase in phases)
                tell("; ".join([f"{now - storm.began:6.1f} s  {storm.final:5} done  {turn} killed", *phases]))
                kind = next(kinds)
                following = now + dice.uniform(0.5, 1.5) * options.every
        time.sleep(_LOOK_S)
    storm.ended = time.monotonic()
    return storm


def run(options: argparse.Namespace) -> Json:
    """One whole run: what happened, and what was wrong."""
    began = time.monotonic()
    tell("starting the cluster")
    with ExitStack() as stack:
        network = stack.enter_context(Network(options.nodes)) if options.namespaces else None
        model: dict[str, str] = {}
        if options.learn:
            host = ("--host", SITES) if network is not None else ()
            model = {"SHOAL_MODEL_URL": stack.enter_context(oracle(*host)), "SHOAL_MODEL": "oracle"}
        cluster = stack.enter_context(
            ChaosCluster(
                options.nodes, logs=options.logs, network=network, full_disks=options.full_disks, settings=model
            )
        )
        tell(f"{time.monotonic() - began:6.1f} s  ready: {options.nodes} nodes")
        try:
            products, truth = submit_products(cluster, options.items, options.pace)
            sent = {
                "quote": submit_quotes(cluster, options.forms),
                "callback": submit_callbacks(cluster, options.forms),
            }
            learning = (
                LearningLoops.submit(cluster, options.learn, options.learn_forms, options.pace, _ATTEMPTS)
                if options.learn
                else None
            )
            storm = rage(cluster, options, learning)
            until(lambda: gateway_answers(cluster), 60, "the gateway answers", cluster.keep_running)
            told = verdict(cluster, storm, (products, truth), sent, learning, options)
        except BaseException:
            tell(cluster.last_log_lines())
            raise
    told["wrong"] += [f"left behind: {line}" for line in cluster.left]
    return {"seed": options.seed, "seconds": round(time.monotonic() - began, 1), **told}


def verdict(
    cluster: ChaosCluster,
    storm: Storm,
    products: tuple[str, list[Json]],
    forms: Mapping[str, tuple[str, list[str]]],
    learning: LearningLoops | None,
    options: argparse.Namespace,
) -> dict[str, Json]:
    """Return what the results, the store and the shop say.
    `forms`: job and marks of each form, by the shop's name of it.
    """
    product_rows = cluster.results(products[0])
    kills = storm.counts()
    wrong = products_wrong(product_rows, products[1])
    form_rows: list[Json] = []
    received: dict[str, int] = {}
    for form, (job, emails) in forms.items():
        rows, sent = cluster.results(job), cluster.site(f"/_log/forms?form={form}")["submissions"]
        wrong += forms_wrong(rows, emails, sent, form)
        wrong += [f"{form}: {one}" for one in unexplained(doubts(cluster, rows), [kill for _, kill in storm.kills])]
        form_rows += rows
        received[form] = len(sent)
    expected = len(products[1]) + sum(len(emails) for _, emails in forms.values())
    learned: dict[str, Json] = {}
    if learning is not None:
        learned["kills while loops learned"] = dict(sorted(storm.phases.items()))
        learned["not killed while loops learned"] = storm.not_reached(options.kinds)
        told, not_learned = learning.verdict(cluster, [kill for _, kill in storm.kills])
        learned |= told
        wrong += not_learned
        expected += learning.items
    wrong += store_wrong(cluster, expected)
    for line in last_steps(cluster, [*product_rows, *form_rows]):
        tell(line)
    attempts = Counter(row["attempts"] for row in [*product_rows, *form_rows])
    return {
        "storm_s": round(storm.ended - storm.began, 1),
        "items_per_s": round(storm.rate(), 2),
        "longest_pause_s": round(storm.pause(), 1),
        "kills": dict(kills),
        "recovery_s": {kind: [round(s, 1) for s in found] for kind, found in sorted(storm.recoveries().items())},
        "products": dict(Counter(row["status"] for row in product_rows)),
        "forms": dict(Counter(row["status"] for row in form_rows)),
        "forms_received": sum(received.values()),
        "received": received,
        **learned,
        "attempts": {str(n): attempts[n] for n in sorted(attempts)},
        "lost": cluster.store("select count(*) from session where losses > 0")[0][0],  # with a worker, or a lease
        "wrong": wrong,
    }


def gateway_answers(cluster: ChaosCluster) -> bool:
    """Return whether the gateway and the database behind it are back."""
    return cluster.parts["gateway"].runs and cluster.done() is not None and cluster.ready()


def show(told: dict[str, Json]) -> None:
    """The run as text."""
    for name, value in told.items():
        if name == "recovery_s":
            print("seconds until the next item ended, after each kill (median, longest):")
            for kind, found in value.items():
                print(f"  {kind:12}{told['kills'][kind]:4} kills {statistics.median(found):6.1f} {max(found):6.1f}")
        elif name != "wrong":
            print(f"{name:16}{value}")
    for one in told["wrong"][:50]:
        print(f"WRONG           {one}")
    print("all invariants hold" if not told["wrong"] else f"{len(told['wrong'])} violations")


def tell(text: str) -> None:
    """Shows the person who watches a line."""
    print(text, file=sys.stderr, flush=True)


def _kinds(text: str) -> list[str]:
    kinds = text.split(",")
    if unknown := set(kinds) - WEIGHTS.keys():
        raise argparse.ArgumentTypeError(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(WEIGHTS)}")
    return kinds


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=2000, help="product pages")
    pace = "seconds between two product pages, so that a run on a quick machine lasts as long as its storm"
    parser.add_argument("--pace", type=float, default=0.0, help=pace)
    parser.add_argument("--forms", type=int, default=100, help="forms to send, of each kind")
    parser.add_argument("--learn", type=int, default=0, help="pages of a loop that learns; 0: no loop learns (default)")
    parser.add_argument("--learn-forms", type=int, default=60, help="with --learn: forms of the other loop that learns")
    each = "with --learn: each kind is killed once in each phase of learning, and not at random"
    parser.add_argument("--in-each-phase", action="store_true", help=each)
    parser.add_argument("--seconds", type=float, default=120.0, help="how long the storm lasts at most")
    parser.add_argument("--every", type=float, default=5.0, help="seconds between two kills, on average")
    parser.add_argument("--seed", type=int, default=1, help="decides what is killed when")
    parser.add_argument("--nodes", type=int, default=2, help="Ray nodes with browsers, beside the head")
    parser.add_argument("--kinds", type=_kinds, help="what may be killed, split by commas; default: all that can be")
    namespaces = "nodes with addresses of their own, which are cut off and slowed too (needs root); default: loopback"
    parser.add_argument("--namespaces", action="store_true", help=namespaces)
    stuck = "seconds after the storm in which no item becomes final"
    parser.add_argument("--patience", type=float, default=900.0, help=stuck)
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="keep the logs of all parts there")
    parser.add_argument("--json", action="store_true", help="one object on stdout")
    options = parser.parse_args()
    options.full_disks = can_mount()
    cannot = (frozenset() if options.namespaces else NEEDS_LINKS) | (frozenset() if options.full_disks else NEEDS_DISK)
    options.kinds = options.kinds or [kind for kind in WEIGHTS if kind not in cannot]
    if options.namespaces:
        go_inside()
    told = run(options)
    if options.json:
        print(json.dumps(told))
    else:
        show(told)
    return 1 if told["wrong"] else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the cluster ends with it, as on Ctrl-C
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
