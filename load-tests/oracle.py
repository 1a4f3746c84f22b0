"""Starts the oracle: `python load-tests/oracle.py --port 0 --errors 0.05`.

A server of OpenAI's protocol that knows the truth of the demo site's drift pages, or of those in a file. Prints one
line of JSON with its address when it accepts requests, and serves until it is told to end.
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
from pathlib import Path

import uvicorn

sys.path.insert(0, str(Path(__file__).resolve().parent / "site"))

from shop.oracle import Oracle, oracle_app


def main() -> None:
    """Serve until ended."""
    parser = argparse.ArgumentParser(prog="load-tests/oracle.py", description="A model that knows the truth.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
    parser.add_argument("--port", type=int, default=0, help="port to listen on; 0 takes a free one (default)")
    parser.add_argument(
        "--errors", type=float, default=0.0, help="share of readings with a wrong number, 0-1 (default 0)"
    )
    parser.add_argument(
        "--truths",
        type=Path,
        metavar="FILE",
        help="JSON: the record of each page by its address, instead of the drift site",
    )
    options = parser.parse_args()
    truths = json.loads(options.truths.read_text()) if options.truths is not None else None
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((options.host, options.port))
    port = listener.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(oracle_app(Oracle(options.errors, truths)), log_level="warning"))
    listener.listen(128)
    print(json.dumps({"url": f"http://{options.host}:{port}/v1", "port": port}), flush=True)
    server.run(sockets=[listener])


if __name__ == "__main__":
    main()
