"""A workflow, drafted of what a person did."""

from __future__ import annotations

import json
from typing import Final
from urllib.parse import urlsplit

from shoal.agent.errors import WorkflowInvalid
from shoal.agent.support.moments import utc_now
from shoal.agent.workflows.format.version import Decision
from shoal.agent.workflows.format.workflow import Scope, Workflow, check_workflow, write_workflow
from shoal.agent.workflows.learning.compile_version import compile_version
from shoal.agent.workflows.learning.evidence import SessionEvidence

KIND: Final = "workflow"
"""Of the artifact that holds a draft: a workflow as JSON, which can be imported."""


def drafted(
    evidence: SessionEvidence, url: str, name: str, *, whole: bool = True
) -> tuple[bytes | None, tuple[Decision, ...]]:
    """The workflow as it can be imported, or None and what could not be taken over.

    Args:
        url: where the person began.
        whole: all of the run was shown, so another one begins there, too.
    """
    if evidence.lost:
        return None, tuple(Decision(what="what was done", why=why) for why in evidence.lost)
    try:
        compiled = compile_version((evidence,), None, at=utc_now(), by_hand=True)
        if compiled.version is None:
            return None, compiled.open
        version = compiled.version.model_copy(update={"by": "recording", "url": url if whole else ""})
        workflow = Workflow(name=name, scope=Scope(site=urlsplit(url).netloc.lower()), versions=(version,))
        check_workflow(workflow)
    except WorkflowInvalid as error:
        return None, (Decision(what="what was done", why=error.message),)
    return json.dumps(write_workflow(workflow)).encode(), ()


def no_draft(decision: Decision) -> str:
    """Why no workflow was drafted, in words."""
    return f"no workflow: {decision.what}: {decision.why}"
