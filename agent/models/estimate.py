"""Estimated token use of a request whose server does not report it: the estimate is rather too high, so that budgets
hold.
"""

from __future__ import annotations

import math

from shoal.agent.models.model import Ask
from shoal.agent.types import Usage

_BYTES_PER_TOKEN = 3.5
"""English has four bytes in a token of today's vocabularies, code and addresses three, other scripts more."""

_MESSAGE_TOKENS = 8
"""A chat template's own, for each message."""


def estimated_usage(ask: Ask, text: str, image_tokens: int) -> Usage:
    """The usage of a request with the answer `text`; `image_tokens` of one image."""
    prompt = sum(_tokens(m.text) + _MESSAGE_TOKENS + len(m.images) * image_tokens for m in ask.messages)
    return Usage(model_calls=1, prompt_tokens=prompt, completion_tokens=_tokens(text))


def _tokens(text: str) -> int:
    return math.ceil(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN)
