"""The process of an embedded cluster's gateway; `gateway_keeper` starts it, and says what it is given and tells."""

from __future__ import annotations

import asyncio
import faulthandler
import json
import pickle
import signal
import socket
import sys
from contextlib import AsyncExitStack

from shoal.services import logs
from shoal.services.cluster.address import ADDRESS_FILE
from shoal.services.cluster.configs import artifact_store
from shoal.services.cluster.gateway import gateway
from shoal.services.cluster.gateway_keeper import GatewayStart
from shoal.services.cluster.gateway_options import checked_gateway_options
from shoal.services.cluster.serving import patiently
from shoal.services.errors import BadSetting, ServiceError
from shoal.services.store.store import open_store


async def serve(start: GatewayStart) -> None:
    """The gateway, until standard input ends."""
    checked_gateway_options(start.settings)  # what it could not take is told at once
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(socket.socket(fileno=start.listener))
        store = await patiently(lambda: open_store(start.settings.store_url, migrate=False))
        stack.push_async_callback(store.close)
        artifacts = artifact_store(start.settings)
        stack.push_async_callback(artifacts.close)
        announced = start.settings.data_dir / ADDRESS_FILE
        running = gateway(listener, start.settings, store, artifacts, restarts=start.restarts, announced=announced)
        url = await stack.enter_async_context(running)
        print(json.dumps({"url": url}), flush=True)
        await asyncio.to_thread(sys.stdin.buffer.read)


def main() -> None:
    for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)  # the cluster's process decides when it ends
    faulthandler.enable()
    start: GatewayStart = pickle.load(sys.stdin.buffer)  # from the process that has started this one
    logs.set_up(start.log_level, start.log_format)
    try:
        asyncio.run(serve(start))
    except ServiceError as error:
        message = {"error": error.message, "bad_setting": isinstance(error, BadSetting)}
        print(json.dumps(message), flush=True)
        sys.exit(3)


if __name__ == "__main__":
    main()
