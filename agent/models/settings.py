"""Settings of a model: the address of its server, and its abilities.

Built at the entry points from the settings; nothing here reads the environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from shoal.agent.support.json_value import Json

Points = Literal["pixels", "relative"]
"""Units in which a model points: pixels of the picture as it is sent, or thousandths of its two sides."""


@dataclass(frozen=True, slots=True)
class ImageGrid:
    """The grid in which a model counts images."""

    side: int = 32  # pixels of one token's side: patch times merge; 32 for Qwen3-VL, 28 for Qwen2.5-VL
    tokens: int = 1280  # of one image at most
    least: int = 16  # of one image at least: smaller ones are enlarged by the server


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """One model on one server, or on several that serve the same."""

    base_urls: tuple[str, ...]  # each with its version part, such as http://127.0.0.1:8000/v1
    model: str  # the name under which the server serves it
    api_key: str = field(default="", repr=False)  # "" for servers that want none
    timeout_s: float = 120.0  # of one request, from sending to the last byte; a slow model may need an hour
    connect_timeout_s: float = 5.0
    max_tokens: int = 8192  # upper limit of one reply, whatever a decision asks for
    temperature: float | None = None  # None: as each decision asks
    structured: Literal["auto", "json_schema", "off"] = "auto"  # auto: enforced where the server takes the schema
    retries: int = 3  # further tries of one request, for what may pass by itself
    retry_base_s: float = 0.5  # the pause doubles from here, with full jitter
    retry_max_s: float = 20.0  # longest pause, also of a server's own Retry-After
    max_connections: int = 64  # per server
    patience_s: float = 0.0  # how long a request waits for servers that are all away, before it fails
    spill_share: float = 0.75  # of max_connections: with more under way, an affinity goes to its second server
    images: bool = True  # False for a model that reads text only: none are sent
    points: Points = "pixels"  # what it counts in where it points at one
    image_tokens: int | None = None  # of one image at most; larger ones are scaled down. None: sent as they are
    image_grid: int = 32  # pixels of one image token's side: patch times merge, 32 for Qwen3-VL, 28 for Qwen2.5-VL
    breaker_failures: int = 5  # requests that fail in a row until a server is left alone
    breaker_pause_s: float = 15.0  # how long it is left alone before one request tries again
    token_limit_field: Literal["max_tokens", "max_completion_tokens"] = (
        "max_tokens"  # some hosted models want the latter
    )
    proxy: str | None = None  # for the way to the server
    extra_body: Mapping[str, Json] = field(default_factory=dict)  # added to every request, e.g. chat_template_kwargs

    @property
    def grid(self) -> ImageGrid | None:
        """Return how the model counts images; None where they are sent as they are."""
        return ImageGrid(self.image_grid, self.image_tokens) if self.image_tokens else None
