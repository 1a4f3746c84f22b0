"""The locust user of `submit.py`: it hands in one job after another, each with a spec of its own."""

from __future__ import annotations

import itertools
import json
import os

from locust import FastHttpUser, constant, task

PATH = os.environ["SUBMIT_PATH"]
_NUMBERS = itertools.count()


class Submitter(FastHttpUser):
    """Waits for nothing but the answer."""

    wait_time = constant(0)

    @task
    def submit(self) -> None:
        body = json.dumps(job(next(_NUMBERS)))
        self.client.post(PATH, data=body, headers={"Content-Type": "application/json"}, name="submit")


def job(n: int) -> dict[str, object]:
    """A job as callers write them: a goal, an address, a schema, a label.

    The address is a number: what a resolver takes, once in half a minute for each host, is not what is measured.
    """
    return {
        "url": f"https://93.184.216.{n % 50}/products/{n}",
        "goal": "find name, price and whether it can be had",
        "extract": {
            "schema": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "price": {"type": "number"},
                    "in_stock": {"type": "boolean"},
                },
                "required": ["name", "price"],
            }
        },
        "labels": {"run": "submit"},
    }
