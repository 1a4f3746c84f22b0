"""Processes that serve, end early, keep silent, or are not there. Real vLLM: tests/vllm."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest

from shoal.services.inference.errors import ServerEnded, ServerNotFound, ServerSilent
from shoal.services.inference.options import VllmOptions
from shoal.services.inference.process import VllmProcess, running_vllm
from tests.patience import PATIENCE_S
from tests.vllm.server import free_port

# Answers /health and a first step as told, and has a child, as vLLM has its engine.
PROGRAM = """
import http.server, json, subprocess, sys, time
said = sys.argv[1:]
if "--end" in said:
    sys.exit(3)
subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"])
if "--silent" in said:
    time.sleep(600)

class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        parts = [part["type"] for part in asked["messages"][0]["content"]]
        right = self.path == "/v1/chat/completions" and asked["model"] == "some/model"
        right = right and asked["response_format"]["type"] == "json_schema" and parts == ["image_url", "text"]
        self.send_response(200 if right and "--refuse" not in said else 400)
        self.end_headers()
        print("asked for a step", flush=True)

    def log_message(self, *args):
        pass

http.server.HTTPServer(("127.0.0.1", int(said[said.index("--port") + 1])), Health).serve_forever()
"""


def options(*extra: str) -> VllmOptions:
    return VllmOptions("some/model", port=free_port(), extra_arguments=extra)


async def test_a_healthy_server_ends_with_everything_that_it_started() -> None:
    async with running_vllm(options(), program=(sys.executable, "-c", PROGRAM), ready_s=PATIENCE_S) as server:
        family = [psutil.Process(server.pid), *psutil.Process(server.pid).children(recursive=True)]
        assert len(family) == 2
    # Its child ignores SIGTERM, as an engine that hangs does.
    assert psutil.wait_procs(family, timeout=PATIENCE_S)[1] == []
    await server.end()


async def test_a_server_that_ends_before_it_is_ready_is_an_error_with_its_code() -> None:
    with pytest.raises(ServerEnded, match="with 3"):
        async with running_vllm(options("--end"), program=(sys.executable, "-c", PROGRAM), ready_s=PATIENCE_S):
            raise AssertionError("it was never ready")


async def test_a_silent_server_is_given_up_and_ended() -> None:
    server = await VllmProcess.start(options("--silent"), program=(sys.executable, "-c", PROGRAM))
    with pytest.raises(ServerSilent):
        await server.ready(1.0)
    await server.end(timeout_s=1.0)
    assert not psutil.pid_exists(server.pid)


async def test_a_program_that_is_not_there_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(ServerNotFound, match="pip install"):
        await VllmProcess.start(options(), program=(str(tmp_path / "vllm"),))


async def test_what_it_says_goes_where_it_is_wanted(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    loud = "import sys; print('hello from the server', flush=True); sys.exit(1)"
    with pytest.raises(ServerEnded):
        async with running_vllm(options(), program=(sys.executable, "-c", loud), output_file=log, ready_s=PATIENCE_S):
            raise AssertionError("it was never ready")
    assert "hello from the server" in log.read_text()


async def test_standard_output_belongs_to_us(capfd: pytest.CaptureFixture[str]) -> None:
    loud = "import sys; print('hello from the server', flush=True); sys.exit(1)"
    with pytest.raises(ServerEnded):
        async with running_vllm(options(), program=(sys.executable, "-c", loud), ready_s=PATIENCE_S):
            raise AssertionError("it was never ready")
    said = capfd.readouterr()
    assert "hello from the server" in said.err
    assert "hello from the server" not in said.out


async def test_a_server_is_ready_once_it_has_answered_a_step(tmp_path: Path) -> None:
    output = tmp_path / "output"
    async with running_vllm(options(), program=(sys.executable, "-c", PROGRAM), ready_s=PATIENCE_S, output_file=output):
        assert output.read_text() == "asked for a step\n"


async def test_a_server_that_refuses_a_first_step_is_not_ready() -> None:
    with pytest.raises(ServerSilent, match="first step: HTTP Error 400"):
        async with running_vllm(options("--refuse"), program=(sys.executable, "-c", PROGRAM), ready_s=PATIENCE_S):
            pass
