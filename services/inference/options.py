"""Options of one vLLM server. Built at the entry points from the settings; nothing here reads the environment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class VllmOptions:
    """One server of one model. The defaults fit the default model on one GPU of 24 GB."""

    model: str  # a name on the model hub, or a folder
    served_name: str = ""  # name in requests; "": the model's own
    host: str = "127.0.0.1"
    port: int = 8000
    api_key: str = field(
        default="", repr=False
    )  # handed over in the environment: arguments are visible to every user of the machine
    context_tokens: int = (
        32_768  # prompt and reply together; what is longer is refused, and the client shrinks the page
    )
    sequences: int = 64  # requests that are decoded beside each other
    batch_tokens: int = 8_192  # of one scheduler step; long prompts are computed in pieces of this size
    memory_share: float = 0.9  # of the GPU's memory: weights, activations and KV cache together
    images: int = 4  # of one request; vLLM's own limit is so high that it sizes its buffers for hundreds
    image_tokens: int = 1_280  # of one image at most; larger ones are scaled down by the server
    least_image_tokens: int = 16
    image_grid: int = 32  # pixels of a token's side: Qwen3-VL has patches of 16, merged two by two
    structured: Literal["xgrammar", "guidance"] = "xgrammar"  # "auto" may change its mind from request to request
    quantization: str = ""  # "": as the model's own configuration says
    kv_cache_dtype: str = "auto"
    tensor_parallel: int = 1  # GPUs that share the model
    api_servers: int = 1  # processes that read requests and pictures
    load_format: Literal["auto", "dummy"] = "auto"  # dummy: random weights, for throughput runs
    extra_arguments: tuple[str, ...] = ()  # appended as they are

    @property
    def name(self) -> str:
        """The model's name in requests."""
        return self.served_name or self.model

    @property
    def url(self) -> str:
        """The server's address, without the version part."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "") else "[::1]" if self.host == "::" else self.host
        return f"http://{f'[{host}]' if ':' in host and not host.startswith('[') else host}:{self.port}"
