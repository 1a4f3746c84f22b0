"""Runs every benchmark and writes docs/archive/benchmarks.md: `make bench`, or with --quick for a first look."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from _tables import table

from shoal.agent.support.json_value import Json

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "archive" / "benchmarks.md"
BENCHES = (
    "dispatch",
    "fanout",
    "newcomer",
    "control",
    "submit",
    "pages",
    "drift",
    "observe",
    "interactive",
    "actions",
    "slots",
    "live",
    "recording",
    "streams",
    "job_page",
    "optimisations",
    "agent_calls",
    "prompt_costs",
    "start",
)
_NEEDS_VLLM = frozenset({"prompt_costs"})
"""It counts with vLLM's own tokenizers and grammars, 2.4 GB that `scripts/setup-vllm` installs."""


def run(bench: str, options: argparse.Namespace) -> Json:
    """One benchmark's JSON object; its progress goes to our standard error."""
    command = [sys.executable, str(HERE / f"{bench}.py"), "--json"]
    command += ["--quick"] if options.quick else []
    command += ["--rounds", str(options.rounds)] if options.rounds and bench not in _NEEDS_VLLM else []
    print(f"{bench} …", file=sys.stderr, flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode and not done.stdout:  # one whose bounds are missed prints its figures, and ends with 1
        raise subprocess.CalledProcessError(done.returncode, command)
    return json.loads(done.stdout)


def section(result: Json) -> str:
    """One benchmark as Markdown."""
    lines = [f"## {result['bench']}", "", *table(result)]
    return "\n".join([*lines, "", *result.get("notes", []), ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, help="rounds of each; default: each benchmark's own")
    options = parser.parse_args()
    left_out = _NEEDS_VLLM if not (HERE.parents[1] / ".venv-vllm" / ".set-up").exists() else frozenset[str]()
    for bench in left_out:
        print(f"{bench}: not run, since scripts/setup-vllm was not", file=sys.stderr, flush=True)
    results = [run(bench, options) for bench in BENCHES if bench not in left_out]
    machine = results[0]["machine"]
    given = " --quick" * options.quick + (f" --rounds {options.rounds}" if options.rounds else "")
    kind = f"`load-tests/bench/all.py{given}`" if given else "`make bench`"
    text = [
        "# Benchmarks",
        "",
        f"Written by {kind} on {datetime.now(UTC):%Y-%m-%d}: {machine['cpus']} CPUs, {machine['memory_gib']} GiB, "
        f"Python {machine['python']}. Floors and Shoal run in turns in one run: trust the ratios, not the figures.",
        "",
        *map(section, results),
        *(f"## {bench}\n\nNot run: `scripts/setup-vllm` was not.\n" for bench in sorted(left_out)),
    ]
    PAGE.write_text("\n".join(text))
    print(PAGE)


if __name__ == "__main__":
    main()
