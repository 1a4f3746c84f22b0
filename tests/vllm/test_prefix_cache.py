"""The prompts' layout pays: what sessions share is computed once. Counted by the server, not timed."""

from __future__ import annotations

import httpx

from shoal.agent.models.openai_compatible import OpenAICompatible
from shoal.agent.policies.model import ModelPolicy
from shoal.agent.policies.model.requests.asker import ModelPolicyOptions
from shoal.agent.spec import JobSpec
from shoal.agent.types import LoopItem
from shoal.services.inference.load import read_load
from shoal.services.inference.process import VllmProcess
from tests.unit.agent.model.pages import URL, el, page, scene_of, text
from tests.vllm.conftest import xgrammar_only
from tests.vllm.recording import Recording

ITEMS = 12
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}, "price": {"type": "number"}}}


@xgrammar_only
async def test_items_of_one_loop_share_what_stands_before_their_page(
    server: VllmProcess, model: OpenAICompatible
) -> None:
    spec = JobSpec.model_validate({"url": URL, "goal": "Read the lamp", "extract": {"schema": SCHEMA}})
    policy = ModelPolicy(Recording(model), None, options=ModelPolicyOptions(extract_tokens=64))  # type: ignore[arg-type]
    shares = []
    async with httpx.AsyncClient() as client:
        before = await read_load(client, server.options.url)
        for n in range(ITEMS):
            item = LoopItem(n, f"https://shop.example/p/{n}", is_link=True)
            shown = page(text(f"Lamp number {n * 37}"), text(f"{n}.99 EUR"), el("1", "button", "Buy", role="button"))
            state = scene_of(shown, spec, item=item)
            try:
                await policy.extract(state)
            except Exception as error:  # noqa: BLE001  a random model's reply may be anything; its cost is what counts
                assert type(error).__module__ == "shoal.agent.errors"
            shares.append(state.usage.cached_tokens / state.usage.prompt_tokens)
        after = await read_load(client, server.options.url)
    print(f"cached share by item: {[round(share, 2) for share in shares]}")
    # The first item fills the cache; small pages leave little that is new.
    assert min(shares[1:]) >= 0.9
    assert after.cache_hits - before.cache_hits > 0.85 * (after.cache_asked - before.cache_asked)
