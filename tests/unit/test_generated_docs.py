"""Pages that scripts make from the code are current."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts import (
    action_docs,
    chart_docs,
    error_docs,
    job_docs,
    prompt_docs,
    python_docs,
    reference_docs,
    settings_doc,
    waiting_docs,
    workflow_docs,
)
from scripts.generated import wrapped
from shoal.agent.workflows.format.workflow import workflow_schema

ROOT = Path(__file__).resolve().parents[2]

PAGES: dict[str, tuple[str, Callable[[], str]]] = {
    "docs/actions.md": ("action-docs", action_docs.page),
    "docs/cli.md": ("reference-docs", reference_docs.cli_page),
    "docs/errors.md": ("error-docs", error_docs.page),
    "docs/job.md": ("job-docs", job_docs.page),
    "docs/metrics.md": ("reference-docs", reference_docs.metrics_page),
    "docs/models/prompts.md": ("prompt-docs", prompt_docs.page),
    "docs/python.md": ("python-docs", python_docs.page),
    "docs/settings.md": ("settings-doc", settings_doc.page),
    "docs/waiting.md": ("waiting-docs", waiting_docs.page),
    "docs/workflows/format.md": ("workflow-docs", workflow_docs.page),
}
"""Each page, the script that writes it, and what it writes."""


@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_is_made_from_the_code_is_current(page: str) -> None:
    script, make = PAGES[page]
    assert (ROOT / page).read_text() == wrapped(make()), f"run scripts/{script}"


def test_the_schema_of_workflows_is_current() -> None:
    published = json.loads((ROOT / "docs" / "workflows" / "workflow.schema.json").read_text())
    assert published == workflow_schema(), "run scripts/workflow-docs"


def test_what_the_chart_says_of_its_values_is_current() -> None:
    for name, content in chart_docs.files().items():
        assert (chart_docs.CHART / name).read_text() == content, f"charts/shoal/{name} is stale: run scripts/chart-docs"


def test_every_script_that_makes_a_page_is_listed() -> None:
    scripts = {path.name for path in (ROOT / "scripts").glob("*-doc*")}
    listed = {script for script, _ in PAGES.values()}
    assert scripts == listed | {"chart-docs", "architecture-docs"}  # the latter: test_structure.py
