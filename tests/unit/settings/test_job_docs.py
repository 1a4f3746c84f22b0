"""docs/job.md is made from the job spec, and is current."""

from __future__ import annotations

from pathlib import Path

from shoal.agent.spec import JobSpec

ROOT = Path(__file__).resolve().parents[3]


def test_every_field_of_a_job_says_what_it_means() -> None:
    rows = [line.split(" | ") for line in (ROOT / "docs" / "job.md").read_text().splitlines() if line.startswith("| `")]
    assert {f"| `{field.alias or name}`" for name, field in JobSpec.model_fields.items()} <= {row[0] for row in rows}
    assert [row[0] for row in rows if len(row[-1]) < len("| xx. |")] == []
