"""An S3 server (moto) that has its bucket before it takes the first request, so that it can be killed and replaced."""

from __future__ import annotations

import sys

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple
from werkzeug.test import Client


def main() -> None:
    """`_chaos_s3.py PORT BUCKET`"""
    port, bucket = int(sys.argv[1]), sys.argv[2]
    app = DomainDispatcherApplication(create_backend_app)
    signed = {"Authorization": "AWS4-HMAC-SHA256 Credential=chaos/20260101/us-east-1/s3/aws4_request"}
    answer = Client(app).put(f"/{bucket}", base_url=f"http://127.0.0.1:{port}", headers=signed)
    if answer.status_code != 200:
        sys.exit(f"the bucket was not made: {answer.status} {answer.text}")
    run_simple("127.0.0.1", port, app, threaded=True)


if __name__ == "__main__":
    main()
