"""From options to vLLM's command line."""

from __future__ import annotations

import json

from shoal.services.inference.command import vllm_command, vllm_environment
from shoal.services.inference.options import VllmOptions


def value_of(command: tuple[str, ...], name: str) -> str:
    return command[command.index(name) + 1]


def test_what_must_never_be_left_to_a_default_is_said() -> None:
    command = vllm_command(VllmOptions("org/model", port=8123))
    assert command[:3] == ("vllm", "serve", "org/model")
    assert value_of(command, "--served-model-name") == "org/model"
    assert value_of(command, "--host") == "127.0.0.1"
    assert value_of(command, "--port") == "8123"
    assert value_of(command, "--max-model-len") == "32768"
    assert json.loads(value_of(command, "--limit-mm-per-prompt")) == {"image": 4, "video": 0}
    assert json.loads(value_of(command, "--structured-outputs-config")) == {
        "backend": "xgrammar",
        "disable_any_whitespace": True,
    }
    assert {"--enable-prefix-caching", "--enable-prompt-tokens-details"} <= set(command)


def test_image_sizes_are_bounded_in_whole_tokens() -> None:
    command = vllm_command(VllmOptions("m", image_tokens=1000, least_image_tokens=4))
    size = json.loads(value_of(command, "--mm-processor-kwargs"))["size"]
    assert size == {"shortest_edge": 4 * 32 * 32, "longest_edge": 1000 * 32 * 32}


def test_what_is_not_asked_for_is_not_said() -> None:
    plain = vllm_command(VllmOptions("m"))
    assert not {"--tensor-parallel-size", "--quantization", "--load-format", "--api-server-count"} & set(plain)
    told = vllm_command(VllmOptions("m", tensor_parallel=2, quantization="fp8", load_format="dummy", api_servers=3))
    assert value_of(told, "--api-server-count") == "3"
    assert value_of(told, "--tensor-parallel-size") == "2"
    assert value_of(told, "--quantization") == "fp8"
    assert value_of(told, "--load-format") == "dummy"


def test_extra_arguments_come_last_so_that_they_win() -> None:
    command = vllm_command(VllmOptions("m", extra_arguments=("--max-model-len", "4096")), ("python", "-m", "vllm"))
    assert command[:4] == ("python", "-m", "vllm", "serve")
    assert command[-2:] == ("--max-model-len", "4096")


def test_the_key_is_in_the_environment_and_not_in_the_arguments() -> None:
    options = VllmOptions("m", api_key="geheim")
    assert vllm_environment(options)["VLLM_API_KEY"] == "geheim"
    assert "geheim" not in " ".join(vllm_command(options))
    assert "VLLM_API_KEY" not in vllm_environment(VllmOptions("m"))


def test_a_server_on_all_addresses_is_asked_on_loopback() -> None:
    assert VllmOptions("m", host="0.0.0.0").url == "http://127.0.0.1:8000"
    assert VllmOptions("m", host="::").url == "http://[::1]:8000"
    assert VllmOptions("m", host="fd00::1", port=1).url == "http://[fd00::1]:1"
