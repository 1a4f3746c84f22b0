"""The rule by which documents may stand for the pages of a loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.agent.spec import ExtractSpec, JobSpec


def documents_serve(spec: JobSpec, *, learned: bool = False) -> bool:
    """Return whether a loop's pages may be read from their documents:
    the job allows that, and each field has a place.

    Args:
        learned: the loop replays `spec.workflow`, which it has learned.
    """
    if not spec.allows_documents or spec.extract is None:
        return False
    by_workflow = (learned or spec.policy.startswith("workflow:")) and _only_reads(spec.workflow)
    return by_workflow or _gives_places(spec.extract)


def _gives_places(extract: ExtractSpec) -> bool:
    known = (extract.record_schema or {}).get("properties")
    return bool(extract.fields) and isinstance(known, Mapping) and known.keys() <= extract.fields.keys()


def _only_reads(workflow: Mapping[str, Any] | None) -> bool:
    """Return whether a workflow reads pages, and does nothing on them."""
    if workflow is None:
        return False
    (version,) = workflow["versions"]
    return all(node["kind"] == "extract" for node in version["nodes"])
