"""The examples of the guide to workflows: its jobs are taken by a gateway, and its commands are ones of the program."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import AsyncIterator
from pathlib import Path

import click
import pytest_asyncio

from shoal.services.cli.command_table import imported
from shoal.services.web.specs.specs import SpecRules
from tests.gateway_world import World, world
from tests.unit.gateway.test_workflows import ORDERS, URL
from tests.unit.workflows.books import BOOKS

GUIDE = (Path(__file__).resolve().parents[3] / "docs" / "workflows" / "workflows.md").read_text()


@pytest_asyncio.fixture
async def w() -> AsyncIterator[World]:
    async with world(rules=SpecRules(people=True)) as made:
        yield made


async def test_the_jobs_of_the_guide_are_taken(w: World) -> None:
    examples = re.findall(r"```json\n(.*?)```", GUIDE, re.DOTALL)
    assert len(examples) >= 3
    await w.client.post(URL, json=BOOKS)
    await w.client.post(f"{URL}/books/versions/1/activate")
    await w.client.post(URL, json=ORDERS)
    for example in examples:
        taken = await w.client.post("/v1/jobs", json=json.loads(example))
        assert taken.status_code == 201, (example, taken.text)


def test_the_commands_of_the_guide_are_ones() -> None:
    blocks, spans = re.findall(r"```\n(.*?)```", GUIDE, re.DOTALL), re.findall(r"`(shoal [^`]+)`", GUIDE)
    lines = [line.strip() for text in (*blocks, *spans) for line in text.splitlines()]
    commands = [line for line in lines if line.startswith("shoal ")]
    assert len(commands) >= 10
    for line in commands:
        _, name, *args = shlex.split(line.partition(" > ")[0], comments=True)
        command = imported(name)
        while args and isinstance(command, click.Group):
            command = command.commands[args.pop(0)]
        command.make_parser(click.Context(command)).parse_args(args)
