"""Writes configuration and tokenizer of a default model's architecture, without weights: for `--load-format dummy`.

Run by the Python that has vLLM: `_dummy_model.py FOLDER [8b|30b-a3b]`. Throughput depends on shapes alone, so a machine
without a way to the model hub can measure it. The numbers are those of Qwen3-VL-8B, the default for a GPU of 24 GB, and
of Qwen3-VL-30B-A3B, the one for 80 GB. The tokenizer is the tiny model's, which needs some 2.5 times as many tokens for
a text: the bench's pages are shorter in words than real ones, and as long in tokens.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from transformers import Qwen3VLConfig, Qwen3VLMoeConfig  # noqa: E402

from tests.vllm import tiny_model  # noqa: E402

COMMON = {
    "vocab_size": 151_936,
    "num_attention_heads": 32,
    "head_dim": 128,
    "max_position_embeddings": 262_144,
    "rms_norm_eps": 1e-6,
    "rope_parameters": {
        "rope_type": "default",
        "rope_theta": 5_000_000.0,
        "mrope_interleaved": True,
        "mrope_section": [24, 20, 20],
    },
    "tie_word_embeddings": False,
    "dtype": "bfloat16",
}
DENSE = {"hidden_size": 4096, "intermediate_size": 12_288, "num_hidden_layers": 36, "num_key_value_heads": 8}
EXPERTS = {
    **{"hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 48, "num_key_value_heads": 4},
    **{"num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768, "norm_topk_prob": True},
    **{"decoder_sparse_step": 1, "mlp_only_layers": []},
}
VISION = {
    "depth": 27,
    "hidden_size": 1152,
    "intermediate_size": 4304,
    "num_heads": 16,
    "patch_size": 16,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "num_position_embeddings": 2304,
    "deepstack_visual_indexes": [8, 16, 24],
}


SHAPES = {
    "8b": (Qwen3VLConfig, "Qwen3VLForConditionalGeneration", DENSE),
    "30b-a3b": (Qwen3VLMoeConfig, "Qwen3VLMoeForConditionalGeneration", EXPERTS),
}


def main() -> None:
    folder = Path(sys.argv[1])
    config, architecture, own = SHAPES[sys.argv[2] if len(sys.argv) > 2 else "8b"]
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = tiny_model.write_tokenizer(folder)
    number = tokenizer.convert_tokens_to_ids
    ends = {"bos_token_id": number(tiny_model.PAD), "eos_token_id": number(tiny_model.END)}
    config(
        text_config={**COMMON, **own, **ends},
        vision_config={**VISION, "out_hidden_size": own["hidden_size"]},
        image_token_id=number(tiny_model.IMAGE),
        video_token_id=number(tiny_model.VIDEO),
        vision_start_token_id=number(tiny_model.VISION_START),
        vision_end_token_id=number(tiny_model.VISION_END),
        tie_word_embeddings=False,
        architectures=[architecture],
    ).save_pretrained(folder)
    tiny_model.write_processors(folder)
    print(folder)


if __name__ == "__main__":
    main()
