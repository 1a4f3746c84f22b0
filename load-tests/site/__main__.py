"""Starts the demo site: `python load-tests/site --port 0 --seed 7`.

Prints one line of JSON with its address on stdout when it accepts requests, and serves until it is told to end.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import socket

import uvicorn
from shop.app import create_app
from shop.images import draw_all

GRACE_S = 1  # hanging routes must not hold up the end


class _Announcing(uvicorn.Server):
    """Says where it is once it accepts requests."""

    def __init__(self, config: uvicorn.Config, announcement: dict[str, object]) -> None:
        super().__init__(config)
        self.announcement = announcement

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        print(json.dumps(self.announcement), flush=True)


def _drops_are_meant(record: logging.LogRecord) -> bool:
    # uvicorn reports an answer that stays unfinished as an error; here it is the drop fault doing its work.
    return "without completing response" not in record.getMessage()


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError("must be between 0 and 1")
    return value


def main() -> None:
    """Serve until ended."""
    parser = argparse.ArgumentParser(prog="load-tests/site", description="A demo shop for tests and benchmarks.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
    parser.add_argument("--port", type=int, default=8800, help="port to listen on; 0 takes a free one (default 8800)")
    parser.add_argument("--seed", type=int, default=7, help="decides catalogue and faults (default 7)")
    faults_help = "share of product pages, 0-1, that fail on a client's first request (default 0)"
    parser.add_argument("--faults", type=_share, default=0.0, metavar="RATE", help=faults_help)
    parser.add_argument("--warm", action="store_true", help="draw all pictures before accepting requests")
    options = parser.parse_args()

    if options.warm:
        draw_all()
    app = create_app(options.seed, options.faults)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((options.host, options.port))
    port = listener.getsockname()[1]
    announcement = {
        "url": f"http://{options.host}:{port}",
        "port": port,
        "pid": os.getpid(),
        "seed": options.seed,
        "products": len(app.state.shop.catalogue.products),
    }
    logging.getLogger("uvicorn.error").addFilter(_drops_are_meant)
    config = uvicorn.Config(app, log_level="warning", access_log=False, backlog=2048,
                            timeout_graceful_shutdown=GRACE_S)  # fmt: skip
    _Announcing(config, announcement).run(sockets=[listener])


if __name__ == "__main__":
    main()
