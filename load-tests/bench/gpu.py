"""Steps per second, time to first token and cache hits of the default model's architecture at 1, 8, 32, 128 sessions.

Runs vLLM as `shoal inference` does, with random weights of the default model's shape (`--load-format dummy`), quantized
in blocks as the published weights are: what a model says is not measured, only how fast it says it. Each session takes
steps on pages of its own, held to the schema that real steps send, and all share what real sessions share. Pages have
controls of their own, so that no grammar is there already. What a page adds to a prompt, the length of replies and the
share of steps with a picture are those of `agent_calls.py` (some 1,600 tokens, 60, and 22 %); what all share is longer
by the tiny model's tokenizer, and cached. Each run begins at another seed. Time to first token, queue included, and
cache hits are the server's own figures. The roofline is what the card's memory and arithmetic alone would take for the
same tokens.

    python load-tests/bench/gpu.py --program 'vllm' --python python3      on a machine with a GPU of 24 GB and vLLM
    python load-tests/bench/gpu.py … --shape 30b-a3b      the default for a GPU of 80 GB
    python load-tests/bench/gpu.py … --vllm-bench      `vllm bench serve` beside it, on prompts of the same lengths
    python load-tests/bench/gpu.py --url http://127.0.0.1:8000 --model NAME      a server that runs already
    python load-tests/bench/gpu.py --tiny --sessions 1,4 --steps 2      the script itself, on .venv-vllm
"""

from __future__ import annotations

import asyncio
import io
import json
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
from _layouts import Shown
from _report import Report, arguments
from PIL import Image as Pictures

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from shoal.agent.errors import ModelError  # noqa: E402
from shoal.agent.models.model import Ask, Model, Reply  # noqa: E402
from shoal.agent.models.openai_compatible import OpenAICompatible  # noqa: E402
from shoal.agent.models.settings import ModelSettings  # noqa: E402
from shoal.agent.policies.model import ModelPolicy  # noqa: E402
from shoal.agent.policies.policy import SessionState  # noqa: E402
from shoal.agent.spec import JobSpec  # noqa: E402
from shoal.agent.types import Action, ActionResult, Element, Observation, Step  # noqa: E402
from shoal.services.inference.admission import ServerLoad  # noqa: E402
from shoal.services.inference.load import read_load  # noqa: E402
from shoal.services.inference.options import VllmOptions  # noqa: E402
from shoal.services.inference.process import running_vllm  # noqa: E402
from tests.vllm.server import free_port, tiny_vllm  # noqa: E402

VIEWPORT = (1280, 800)
WORDS = ("lamp", "desk", "price", "order", "delivery", "colour", "basket", "search", "return", "stock", "page", "name")


@dataclass
class Metered:
    """Asks for `reply_tokens` tokens, counts, and decides nothing."""

    model: Model
    reply_tokens: int
    seconds: list[float] = field(default_factory=list)

    async def ask(self, ask: Ask) -> Reply:
        reply = await self.model.ask(replace(ask, max_tokens=self.reply_tokens))
        self.seconds.append(reply.seconds)
        raise Asked

    async def close(self) -> None:
        """Nothing: the caller closes the model."""


class Asked(ModelError):
    """The request was answered; its reply is of no interest."""


def page_of(dice: random.Random, words: int) -> Observation:
    """A page that is new to the server: controls, text, and a screenshot of noise, which no cache knows."""
    numbers = sorted(dice.sample(range(1, 90), dice.randrange(15, 45)))
    controls = tuple(
        Element(str(n), "a", name=" ".join(dice.choices(WORDS, k=3)), role="link", clickable=True) for n in numbers
    )
    texts = tuple(Element("", "#text", text=" ".join(dice.choices(WORDS, k=20))) for _ in range(words // 20))
    small = Pictures.frombytes("RGB", (64, 40), dice.randbytes(64 * 40 * 3))
    written = io.BytesIO()
    small.resize(VIEWPORT).save(written, "JPEG", quality=60)
    return Observation(
        url=f"https://shop.example/{dice.randrange(10**9)}",
        title="A page",
        elements=Element("", "body", children=controls + texts),
        screenshot=written.getvalue(),
        viewport=VIEWPORT,
    )


async def session(model: Model, number: int, options: Any) -> list[float]:
    """One session's steps, one after the other; gives the seconds of each."""
    dice = random.Random(f"{options.seed} {number}")
    metered = Metered(model, options.reply_tokens)
    policy = ModelPolicy(metered, None)  # type: ignore[arg-type]  # nothing here needs the fallback
    wanted = {"url": "https://shop.example/", "goal": "Order the cheapest desk lamp", "sight": {"pictures": "always"}}
    spec = JobSpec.model_validate(wanted)
    done: list[Step] = []
    for index in range(options.steps):
        seen = page_of(dice, options.words)
        if dice.random() >= options.pictures:
            seen = replace(seen, screenshot=None)
        state = SessionState(spec=spec, loop=None, item=None, page=Shown(seen))  # type: ignore[arg-type]
        try:
            await policy.step(state, "Find the cheapest lamp", done)
        except Asked:
            done.append(Step(index, seen.url, "On it.", (ActionResult(Action("click", {"bid": str(index + 1)})),)))
    return metered.seconds


async def at_once(url: str, model: Model, sessions: int, options: Any, report: Report) -> None:
    """All figures at one number of sessions."""
    async with httpx.AsyncClient(timeout=30, trust_env=False) as client:
        before = await read_load(client, url)
        started = time.monotonic()
        answered = await asyncio.gather(*(session(model, n, options) for n in range(sessions)))
        seconds = time.monotonic() - started
        after = await read_load(client, url)
    steps = sum(map(len, answered))
    name = f"{sessions} sessions" if sessions > 1 else "1 session"
    report.add(f"{name}: steps per second", steps / seconds)
    report.add(f"{name}: seconds to first token, mean", first_token_s(before, after))
    for took in sorted(second for some in answered for second in some):
        report.add(f"{name}: seconds per step", took)
    report.add(f"{name}: share of prompt tokens from the cache", hits(before, after))
    report.add(f"{name}: tokens written per second", (after.generated_tokens - before.generated_tokens) / seconds)
    prompt, written = after.prompt_tokens - before.prompt_tokens, after.generated_tokens - before.generated_tokens
    report.add(f"{name}: prompt tokens per second", prompt / seconds)
    report.add(f"{name}: prompt tokens per step", prompt / steps)
    if options.card:
        new = prompt * (1 - hits(before, after))
        least_s = roofline_s(CARDS[options.card], SHAPES[options.shape], new, written, sessions)
        report.add(f"{name}: share of the roofline", least_s / seconds)


@dataclass(frozen=True)
class CardRates:
    """Peak rates of a card, in 8 bits without sparsity."""

    operations_per_s: float
    bytes_per_s: float


@dataclass(frozen=True)
class Weights:
    """Parameters of a model, each a byte: those of one token, those that all tokens use, and one expert's share."""

    active: float
    common: float
    experts: int = 0  # of a layer
    chosen: int = 0  # by a token


CARDS = {
    "h200": CardRates(1.979e15, 4.8e12),
    "h100": CardRates(1.979e15, 3.35e12),
    "l40s": CardRates(0.733e15, 0.864e12),
    "l4": CardRates(0.242e15, 0.3e12),
}
SHAPES = {"8b": Weights(8.8e9, 8.8e9), "30b-a3b": Weights(3.4e9, 1.9e9, 128, 8)}
_ALL_EXPERTS = 29e9
"""Parameters of all experts of 30b-a3b."""


def roofline_s(card: CardRates, weights: Weights, read: float, written: float, sessions: int) -> float:
    """Seconds that the arithmetic of tokens that are read, and the weights that each step of writing fetches, take.

    Keys, values and pictures are left out, so it is a bound from below.
    """
    touched = 1 - (1 - weights.chosen / weights.experts) ** sessions if weights.experts else 0.0
    fetched = weights.common + touched * _ALL_EXPERTS
    return 2 * weights.active * read / card.operations_per_s + written / sessions * fetched / card.bytes_per_s


def first_token_s(before: ServerLoad, after: ServerLoad) -> float:
    begun = after.first_tokens - before.first_tokens
    return (after.first_token_s - before.first_token_s) / begun if begun else float("nan")


def hits(before: ServerLoad, after: ServerLoad) -> float:
    asked = after.cache_asked - before.cache_asked
    return (after.cache_hits - before.cache_hits) / asked if asked else 0.0


@asynccontextmanager
async def server_of(options: Any) -> AsyncIterator[tuple[str, str]]:
    """A server that is ready: its address, and its model's name."""
    if options.url:
        yield options.url.rstrip("/").removesuffix("/v1"), options.model
        return
    if options.tiny:
        async with tiny_vllm() as server:
            options.tokenizer = server.options.model
            yield server.options.url, server.options.name
        return
    with tempfile.TemporaryDirectory() as folder:
        model = options.model or dummy_model(options.python, Path(folder) / "model", options.shape)
        options.tokenizer = options.tokenizer or model
        wanted = VllmOptions(
            model=model,
            served_name="dummy",
            port=free_port(),
            load_format="dummy",
            quantization=options.quantization,
            sequences=max(options.sessions),
            memory_share=options.memory_share,
            extra_arguments=tuple(shlex.split(options.arguments)),
        )
        async with running_vllm(wanted, program=shlex.split(options.program), output_file=options.log) as server:
            yield server.options.url, server.options.name


def theirs(url: str, model: str, sessions: int, options: Any, report: Report) -> None:
    """Measure what `vllm bench serve` reaches with as many random prompts of the lengths that ours had."""
    name = f"{sessions} sessions" if sessions > 1 else "1 session"
    tokens = round(report.median(f"{name}: prompt tokens per step"))
    shared = round(tokens * report.median(f"{name}: share of prompt tokens from the cache"))
    with tempfile.TemporaryDirectory() as folder:
        command = [*shlex.split(options.program), "bench", "serve", "--backend", "openai-chat"]
        command += ["--endpoint", "/v1/chat/completions", "--base-url", url, "--model", model]
        command += ["--dataset-name", "random", "--random-prefix-len", str(shared)]
        command += ["--random-input-len", str(tokens - shared), "--random-output-len", str(options.reply_tokens)]
        command += ["--max-concurrency", str(sessions), "--num-prompts", str(sessions * options.steps)]
        command += ["--ignore-eos", "--seed", str(options.seed), "--save-result", "--result-dir", folder]
        command += ["--result-filename", "result.json", "--tokenizer", options.tokenizer or model]
        subprocess.run(command, check=True, stdout=sys.stderr)
        result = json.loads((Path(folder) / "result.json").read_text())
    report.add(f"{name}: vLLM's bench, requests per second", result["request_throughput"])
    report.add(f"{name}: vLLM's bench, seconds to first token, mean", result["mean_ttft_ms"] / 1000)


def dummy_model(python: str, folder: Path, shape: str) -> str:
    """A folder with a default model's shape."""
    script = Path(__file__).with_name("_dummy_model.py")
    subprocess.run([*shlex.split(python), str(script), str(folder), shape], check=True, stdout=sys.stderr)
    return str(folder)


async def measure(options: Any, report: Report) -> None:
    async with server_of(options) as (url, name):
        settings = ModelSettings(
            base_urls=(f"{url}/v1",),
            model=name,
            timeout_s=600,
            max_connections=2 * max(options.sessions),
            spill_share=1.0,
            image_tokens=1280,
        )
        model = OpenAICompatible(settings)
        await session(model, -1, options)  # kernels and the shared prefix are warm for all rows alike
        for sessions in options.sessions:
            print(f"{sessions} …", file=sys.stderr, flush=True)
            await at_once(url, model, sessions, options, report)
            options.seed += 1
            if options.vllm_bench:
                name_of = options.model or name
                await asyncio.to_thread(theirs, url, name_of, sessions, options, report)
        await model.close()


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--sessions", default="1,8,32,128", type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--steps", type=int, default=6, help="of each session")
    parser.add_argument("--reply-tokens", type=int, default=60, help="of each step")
    parser.add_argument("--words", type=int, default=180, help="of text on each page")
    parser.add_argument("--pictures", type=float, default=0.22, help="share of steps with a picture")
    parser.add_argument("--tokenizer", default="", help="of a server that runs already, for `vllm bench serve`")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000, help="default: another for each run")
    parser.add_argument("--card", choices=sorted(CARDS), help="whose roofline the figures are held against")
    parser.add_argument("--vllm-bench", action="store_true", help="`vllm bench serve` on prompts of the same lengths")
    parser.add_argument("--url", default="", help="a vLLM that runs already")
    parser.add_argument("--model", default="", help="its model's name; without --url: a model instead of the dummy one")
    parser.add_argument("--program", default="vllm", help="the command that `serve` is given to")
    parser.add_argument("--python", default=sys.executable, help="the Python that has vLLM")
    parser.add_argument("--shape", choices=("8b", "30b-a3b"), default="8b", help="of the dummy model")
    parser.add_argument("--quantization", default="fp8_per_block", help="as the published weights are; empty: 16 bits")
    parser.add_argument("--memory-share", type=float, default=0.9)
    parser.add_argument("--arguments", default="", help="more of `vllm serve`")
    parser.add_argument("--log", type=Path, help="where the server's output goes")
    parser.add_argument("--tiny", action="store_true", help="the tiny model on the CPU, to try the script")
    options = parser.parse_args()
    if options.quick:
        options.sessions, options.steps = options.sessions[:2], 2
    report = Report("gpu")
    model = options.model or ("the tiny model" if options.tiny else f"Qwen3-VL-{options.shape} {options.quantization}")
    report.notes.append(
        f"{model.strip()}: {options.steps} steps of {options.reply_tokens} tokens a session; random weights; "
        f"seed {options.seed}."
    )
    # The server is a process group of its own: a signal that ends this program ends it, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    asyncio.run(measure(options, report))
    report.show(as_json=options.json)


if __name__ == "__main__":
    main()
