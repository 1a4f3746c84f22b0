"""No command shows a password of a job's details: each that names a job is run, and what it prints is searched."""

from __future__ import annotations

from typer.testing import CliRunner, Result

from shoal.services.cli.app import app
from tests.unit.cli.conftest import Served
from tests.unit.gateway.test_secrets_shown import done, secrets_in


def test_no_command_shows_a_password(served: Served) -> None:
    served.do(_prepare(served))
    job, sessions = served.do(done(served.world))
    told: list[Result] = []
    commands = [["jobs"], ["show", job], ["results", job], ["watch", job], ["settle", sessions[-1]], ["questions"]]
    commands += [[name, job] for name in ("cancel", "pause", "resume", "retry")] + [
        ["export", job],
        ["webhooks", "list"],
    ]
    for command in commands:
        for more in ([], ["--json"]):
            told.append(_any(*command, *more))
    for answer in told:
        assert not secrets_in(answer.stdout + answer.stderr + str(answer.exception)), answer.stdout
    assert sum(answer.exit_code == 0 for answer in told) >= 8
    assert "(hidden)" in _any("show", job).stdout + _any("show", job, "--json").stdout


async def _prepare(served: Served) -> None:
    served.world.names.table["hook.example"] = ["93.184.216.34"]


def _any(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))
