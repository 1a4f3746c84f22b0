"""From the environment to vLLM's command line and the admission rules."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from shoal.services.cli.app import app
from shoal.services.inference.configs import admission_config, vllm_options
from shoal.services.settings import load_settings


def test_the_command_line_prints_the_servers_command() -> None:
    done = CliRunner().invoke(app, ["inference", "--print", "--json", "--model", "org/other", "--port", "8123"])
    assert done.exit_code == 0
    command = json.loads(done.stdout)
    assert command[:3] == ["vllm", "serve", "org/other"]
    assert command[command.index("--port") + 1] == "8123"


def test_server_and_client_agree_on_name_key_and_image_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_MODEL", "our-name")
    monkeypatch.setenv("SHOAL_MODEL_API_KEY", "geheim")
    monkeypatch.setenv("SHOAL_MODEL_IMAGE_TOKENS", "640")
    monkeypatch.setenv("SHOAL_VLLM_ARGUMENTS", "--seed 7 --chat-template '/a b'")
    options = vllm_options(load_settings())
    assert (options.name, options.api_key, options.image_tokens) == ("our-name", "geheim", 640)
    assert options.extra_arguments == ("--seed", "7", "--chat-template", "/a b")


def test_admission_follows_the_time_limit_of_a_call() -> None:
    settings = load_settings(model_url="http://a:1/v1,http://b:1/v1", model="m", model_timeout_s=3600, model_sessions=5)
    config = admission_config(settings)
    assert config is not None
    assert config.urls == ("http://a:1/v1", "http://b:1/v1")
    assert config.rules.first_token_high_s == 600
    assert (config.rules.start, config.rules.most) == (5, 5)


def test_without_a_model_or_by_wish_nobody_is_held_back() -> None:
    assert admission_config(load_settings()) is None
    assert admission_config(load_settings(model_url="http://a:1/v1", model="m", model_admission=False)) is None
