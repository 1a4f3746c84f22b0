"""A server of S3 (moto), a process of its own on a port that the system chooses."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import boto3

ANY = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
"""Credentials: the server takes any."""


class S3Server:
    """A running server; `kill` ends it as a crash would."""

    def __init__(self, log: Path) -> None:
        # Into a file: nobody reads its lines later, and a full pipe would stop the server.
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"],
                stdout=subprocess.DEVNULL,
                stderr=output,
            )
        limit = time.monotonic() + 60
        while not (found := re.search(r"Running on (http://127\.0\.0\.1:\d+)", log.read_text())):
            assert self._process.poll() is None and time.monotonic() < limit, log.read_text()
            time.sleep(0.02)
        self.url = found[1]

    def bucket(self, name: str) -> None:
        client = boto3.client("s3", endpoint_url=self.url, region_name="us-east-1", **ANY)
        client.create_bucket(Bucket=name)
        client.close()

    def remove(self, name: str) -> None:
        """Deletes a bucket with what is in it."""
        bucket = boto3.resource("s3", endpoint_url=self.url, region_name="us-east-1", **ANY).Bucket(name)
        bucket.objects.delete()
        bucket.delete()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(timeout=60)
