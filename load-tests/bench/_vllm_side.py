"""Figures that need .venv-vllm, made by its Python: tokens by a real tokenizer, and the cost of compiling grammars.

Reads one JSON object from standard input, writes one to standard output. The tokenizer is Tekken, 131,072 entries, from
the `mistral_common` package: it needs no download, and its size is that of the models' that matter here.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import mistral_common
import xgrammar
from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper
from mistral_common.tokens.tokenizers.tekken import Tekkenizer

from shoal.agent.support.json_value import Json

TEKKEN = Path(mistral_common.__file__).parent / "data" / "tekken_240911.json"
END = 2


def main() -> None:
    asked = json.load(sys.stdin)
    tokenizer = Tekkenizer.from_file(TEKKEN)
    answer: dict[str, Json] = {}
    if texts := asked.get("texts"):
        answer["tokens"] = {name: len(numbers(tokenizer, text)) for name, text in texts.items()}
    if requests := asked.get("requests"):
        answer["cached"] = {name: cached_share(tokenizer, some, asked["block"]) for name, some in requests.items()}
    if schemas := asked.get("schemas"):
        answer["xgrammar_ms"], answer["guidance_ms"] = compile_times(tokenizer, schemas)
    json.dump(answer, sys.stdout)


def numbers(tokenizer: Tekkenizer, text: str) -> list[int]:
    return list(tokenizer.encode(text, bos=False, eos=False))


def cached_share(tokenizer: Tekkenizer, requests: Sequence[Sequence[Json]], block: int) -> list[list[int]]:
    """[prompt tokens, cached tokens] of each request, as vLLM counts them: whole blocks from the start, seen before.

    A request is a row of texts and of images; an image is [what identifies it, tokens].
    """
    seen: set[int] = set()
    found = []
    for parts in requests:
        tokens: list[int | str] = []
        for part in parts:
            tokens += numbers(tokenizer, part) if isinstance(part, str) else [part[0]] * part[1]
        chain, hits, missed = 0, 0, False
        # The last token is always computed: its logits are what the reply begins with.
        for start in range(0, len(tokens) - block, block):
            chain = hash((chain, *tokens[start : start + block]))
            missed = missed or chain not in seen
            hits += 0 if missed else block
            seen.add(chain)
        found.append([len(tokens), hits])
    return found


def compile_times(tokenizer: Tekkenizer, schemas: dict[str, list[Json]]) -> tuple[dict[str, Json], dict[str, Json]]:
    """Milliseconds until each schema can mask its first token, in the order in which they come; equal ones are cached
    as the server caches them."""
    special = tokenizer.num_special_tokens
    vocabulary = [f"<special {n}>".encode() for n in range(special)]
    vocabulary += [tokenizer.id_to_byte_piece(n) for n in range(special, tokenizer.n_words)]
    return _xgrammar(vocabulary, schemas), _guidance(vocabulary, special, schemas)


def _xgrammar(vocabulary: list[bytes], schemas: dict[str, list[Json]]) -> dict[str, Json]:
    info = xgrammar.TokenizerInfo(
        vocabulary, vocab_type=xgrammar.VocabType.RAW, vocab_size=len(vocabulary), stop_token_ids=[END]
    )
    mask = xgrammar.allocate_token_bitmask(1, len(vocabulary))

    def server() -> Callable[[Json], None]:
        compiler = xgrammar.GrammarCompiler(info, max_threads=8, cache_enabled=True)

        def ready(schema: Json) -> None:
            compiled = compiler.compile_json_schema(json.dumps(schema), any_whitespace=False, separators=(",", ":"))
            xgrammar.GrammarMatcher(compiled).fill_next_token_bitmask(mask, 0)

        return ready

    return _timed(server, schemas)


def _timed(server: Callable[[], Callable[[Json], None]], schemas: dict[str, list[Json]]) -> dict[str, Json]:
    """The times of each row of schemas, with a cache of its own."""
    times: dict[str, Json] = {}
    for name, some in schemas.items():
        ready = server()
        ready({"type": "object"})
        times[name] = []
        for schema in some:
            started = time.perf_counter()
            ready(schema)
            times[name].append((time.perf_counter() - started) * 1000)
    return times


class _Vocabulary:
    """A tokenizer as llguidance wants it; it only looks at the tokens' bytes."""

    eos_token_id = END
    bos_token_id = 1

    def __init__(self, tokens: list[bytes], special: int) -> None:
        self.tokens = tokens
        self.special_token_ids = list(range(special))

    def __call__(self, text: str) -> list[int]:
        return [0]


def _guidance(vocabulary: list[bytes], special: int, schemas: dict[str, list[Json]]) -> dict[str, Json]:
    tokenizer = LLTokenizer(TokenizerWrapper(_Vocabulary(vocabulary, special)))

    def ready(schema: Json) -> None:
        grammar = LLMatcher.grammar_from_json_schema(json.dumps(schema), defaults={"whitespace_flexible": False})
        LLMatcher(tokenizer, grammar).compute_logit_bias()

    return _timed(lambda: ready, schemas)


if __name__ == "__main__":
    main()
