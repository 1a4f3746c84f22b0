"""README.md and values.schema.json of the chart, from the comments and defaults in its values.yaml; and the networks
that its network policies refuse, which are those of Shoal's own filter.

A comment that begins with `# --` documents the key below it. Every value must be documented, itself or by a key above
it. What a default cannot say about a value (a choice, a pattern, a bound, the fields of a list's items) stands in
`chart_values.py`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from scripts.chart_values import DEFINITIONS, IF_THEN, RULES, settings_schema
from shoal.agent.support.json_value import Json
from shoal.services.addresses import refused_networks

ROOT = Path(__file__).parents[1]
CHART = ROOT / "charts" / "shoal"

_KEY = re.compile(r"( *)([A-Za-z][A-Za-z0-9]*):")
_HEAD = """# shoal, a Helm chart

One release is one Shoal: gateway, supervisor, RayCluster with browser pools, and, where wanted, vLLM, a router,
monitors, rules and dashboards. What it needs, how to size, upgrade, back up and mend it:
[docs/operations/operations.md](../../docs/operations/operations.md).

```
helm install shoal charts/shoal --namespace shoal --create-namespace --values charts/shoal/values-small.yaml \\
    --set model.url=https://models.example.com/v1 --set model.name=my-model
```

| profile | for |
| --- | --- |
| `values-small.yaml` | one node without a GPU: own PostgreSQL and object store, rules or an external model |
| `values-production.yaml` | external PostgreSQL and S3, vLLM with a router, monitors, rules, dashboards |
| `values-openshift.yaml` | beside one of the others: users by OpenShift, the profile for Chromium by its operator |
| `values-quota.yaml` | beside one of the others: requests and limits of CPU and memory for every container |

## Values

This page is written by `scripts/chart-docs` from `values.yaml`; `values.schema.json` refuses what is wrong.

| value | default | meaning |
| --- | --- | --- |
"""


_NETWORKS_HEAD = "# Written by scripts/chart-docs from services/addresses.py.\n"


@dataclass(frozen=True, slots=True)
class Documented:
    """One value with its comment."""

    path: str
    meaning: str
    default: Json


def documented(text: str) -> Iterator[Documented]:
    """Every documented value of values.yaml, in its order."""
    values, stack, comment = yaml.safe_load(text), [], []
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("# --"):
            comment = [stripped.removeprefix("# --").strip()]
        elif stripped.startswith("#") and comment:
            comment.append(stripped.removeprefix("#").strip())
        elif key := _KEY.match(line):
            depth = len(key[1]) // 2
            stack[depth:] = [key[2]]
            if comment:
                yield Documented(".".join(stack), " ".join(comment), _at(values, stack))
            comment = []
        else:
            comment = []


def _at(values: Json, path: list[str]) -> Json:
    for key in path:
        values = values[key]
    return values


def undocumented(values: Mapping[str, Json], known: set[str], above: str = "") -> Iterator[str]:
    """Values that neither have a comment nor lie below one that has."""
    for key, value in values.items():
        path = f"{above}{key}"
        if path in known and not any(other.startswith(f"{path}.") for other in known):
            continue
        if isinstance(value, dict) and value:
            yield from undocumented(value, known, f"{path}.")
        elif path not in known:
            yield path


def readme(lines: list[Documented]) -> str:
    """The chart's README."""
    paths = {line.path for line in lines}
    rows = []
    for line in lines:
        group = isinstance(line.default, dict) and any(path.startswith(f"{line.path}.") for path in paths)
        default = "" if group else f"`{json.dumps(line.default)}`"
        rows.append(f"| `{line.path}` | {default} | {line.meaning.replace('|', chr(92) + '|')} |")
    return _HEAD + "\n".join(rows) + "\n"


def schema(values: Mapping[str, Json], lines: list[Documented]) -> Json:
    """values.schema.json."""
    meanings = {line.path: line.meaning for line in lines}
    rules = RULES | {"settings": settings_schema()}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Values of the chart shoal",
        "definitions": DEFINITIONS,
        **_object(values, "", meanings, rules),
        "allOf": IF_THEN,
    }


def _object(values: Mapping[str, Json], above: str, meanings: Mapping[str, str], rules: Mapping[str, Json]) -> Json:
    properties = {key: _value(value, f"{above}{key}", meanings, rules) for key, value in values.items()}
    if not above:
        properties["global"] = {"type": "object", "description": "Helm's own, for charts above this one."}
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _value(default: Json, path: str, meanings: Mapping[str, str], rules: Mapping[str, Json]) -> Json:
    described = {"description": meanings[path]} if path in meanings else {}
    if (rule := rules.get(path) or _rule_by_name(path, rules)) is not None:
        return described | rule
    if isinstance(default, dict) and any(other.startswith(f"{path}.") for other in meanings):
        return described | _object(default, f"{path}.", meanings, rules)
    return described | {"type": _type(default)}


def _rule_by_name(path: str, rules: Mapping[str, Json]) -> Json:
    """A rule for a name wherever it stands: `*.nodeSelector`."""
    return rules.get("*." + path.rpartition(".")[2])


def _type(default: Json) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names[type(default)]


def files() -> dict[str, str]:
    """Each file of the chart that is made here, with its content.

    Raises:
        ValueError: a value has no comment.
    """
    text = (CHART / "values.yaml").read_text()
    lines, values = list(documented(text)), yaml.safe_load(text)
    if missing := list(undocumented(values, {line.path for line in lines})):
        raise ValueError(f"values.yaml has values without a `# --` comment: {', '.join(missing)}")
    return {
        "README.md": readme(lines),
        "values.schema.json": json.dumps(schema(values, lines), indent=1, ensure_ascii=False) + "\n",
        "files/refused-networks.yaml": _NETWORKS_HEAD + yaml.safe_dump(refused_networks()),
    }


def main() -> int:
    try:
        written = files()
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    stale = [name for name, content in written.items() if not _is(CHART / name, content)]
    if "--check" in sys.argv[1:]:
        if stale:
            print(f"charts/shoal: {', '.join(stale)} stale: run scripts/chart-docs", file=sys.stderr)
        return 1 if stale else 0
    for name in stale:
        (CHART / name).write_text(written[name])
    return 0


def _is(path: Path, content: str) -> bool:
    return path.exists() and path.read_text() == content


if __name__ == "__main__":
    sys.exit(main())
