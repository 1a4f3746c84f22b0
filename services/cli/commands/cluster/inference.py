"""`shoal inference`: the model server on this machine."""

from __future__ import annotations

import asyncio
import json
import shlex
from typing import Annotated

import typer

from shoal.services.cli.ending import Exit, tell
from shoal.services.cli.options import AsJson
from shoal.services.cli.running import finish, settings_of_process
from shoal.services.inference.command import vllm_command
from shoal.services.inference.configs import vllm_options
from shoal.services.inference.process import running_vllm
from shoal.services.inference.sizing import cards


def add_to(app: typer.Typer) -> None:
    """Adds this command to `app`."""
    app.command()(inference)


def inference(
    model: Annotated[str, typer.Option(help="Name on the model hub, or a folder; default: SHOAL_VLLM_MODEL.")] = "",
    host: Annotated[str, typer.Option(help="Address to listen on; default: SHOAL_VLLM_HOST, 127.0.0.1.")] = "",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; default: SHOAL_VLLM_PORT, 8000.")] = 0,
    only_print: Annotated[bool, typer.Option("--print", help="Print the command of the server, and end.")] = False,
    as_json: AsJson = False,
) -> None:
    """Start vLLM with the flags that Shoal wants, until Ctrl-C.

    Workers find it by SHOAL_MODEL_URL and SHOAL_MODEL, which are printed once it is ready.
    """

    async def work() -> Exit:
        given = {"vllm_model": model, "vllm_host": host, "vllm_port": port}
        settings = settings_of_process(serves=True, **{name: value for name, value in given.items() if value})
        gpus = () if settings.vllm_sequences else await asyncio.to_thread(cards)
        options, program = vllm_options(settings, gpus), shlex.split(settings.vllm_program)
        if only_print:
            command = vllm_command(options, program)
            print(json.dumps(command) if as_json else shlex.join(command))
            return Exit.DONE
        tell(
            f"starting vLLM with {options.model}: the first time it is downloaded. Up to {options.sequences} sequences "
            f"on {gpus[0].name if gpus else 'this machine'}, {options.api_servers} API servers …"
        )
        async with running_vllm(options, program=program, ready_s=settings.vllm_ready_s) as server:
            variables = {"SHOAL_MODEL_URL": f"{options.url}/v1", "SHOAL_MODEL": options.name}
            if as_json:
                print(json.dumps(variables), flush=True)
            else:
                tell(f"The model server is ready: {' '.join(f'{k}={shlex.quote(v)}' for k, v in variables.items())}")
            try:
                code = await server.ended()
            except asyncio.CancelledError:  # Ctrl-C: leave in order
                return Exit.DONE
        tell(f"The model server ended by itself, with {code}; its last lines say why")
        return Exit.ENVIRONMENT

    finish(work())
