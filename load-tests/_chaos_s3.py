"""An S3 server (moto) that has its bucket before it takes the first request, so that it can be killed and replaced."""

from __future__ import annotations

import sys

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple
from werkzeug.test import Client


def main() -> None:
    """`_chaos_s3.py HOST PORT BUCKET`"""
    host, port, bucket = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    app = DomainDispatcherApplication(create_backend_app)
    signed = {"Authorization": "AWS4-HMAC-SHA256 Credential=chaos/20260101/us-east-1/s3/aws4_request"}
    answer = Client(app).put(f"/{bucket}", base_url=f"http://{host}:{port}", headers=signed)
    if answer.status_code != 200:
        sys.exit(f"the bucket was not made: {answer.status} {answer.text}")
    run_simple(host, port, app, threaded=True)


if __name__ == "__main__":
    main()
