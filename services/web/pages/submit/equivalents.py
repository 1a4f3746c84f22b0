"""The same job for other ways in: JSON, curl, the command line, Python."""

from __future__ import annotations

import json
import pprint
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from shoal.agent.support.json_value import Json

_MOST_LINES = 400
"""A text for people to copy; a job with more values is better handed in as a file."""


@dataclass(frozen=True, slots=True)
class Equivalents:
    """One job, four ways to hand it in."""

    json: str
    curl: str
    cli: str
    python: str

    def texts(self) -> dict[str, str]:
        """The texts by the name of the way in."""
        return asdict(self)


def equivalents(spec: Mapping[str, Json], gateway: str, *, keys: bool) -> Equivalents:
    """Return how else `spec` can be handed in.

    Args:
        gateway: address of the gateway.
        keys: whether it asks for an API key.
    """
    text = json.dumps(spec, indent=2, ensure_ascii=False)
    header = ' \\\n  -H "authorization: Bearer $SHOAL_API_KEY"' if keys else ""
    many = text.count("\n") > _MOST_LINES
    source = "@job.json" if many else f"@- <<'JSON'\n{text}\nJSON"
    curl = f"curl -s {gateway}/v1/jobs \\\n  -H 'content-type: application/json'{header} \\\n  --data-binary {source}"
    cli = f"shoal submit --gateway {gateway} " + ("job.json" if many else f"- <<'JSON'\n{text}\nJSON")
    shown = 'json.loads(Path("job.json").read_text())' if many else pprint.pformat(spec, sort_dicts=False, width=100)
    imports = "import json\nfrom pathlib import Path\n\n" if many else ""
    python = (
        f"{imports}from shoal import Client\n\nSPEC = {shown}\n\n"
        f'with Client("{gateway}") as client:\n    job = client.submit(SPEC)\n'
        "    for result in client.results(job.id):\n        print(result.record)\n"
    )
    return Equivalents(text, curl, cli, python)
