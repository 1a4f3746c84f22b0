"""Workflows as files of other programs."""

from __future__ import annotations

from shoal.agent.errors import WorkflowInvalid
from shoal.agent.support.json_value import Json
from shoal.agent.workflows.exchange.exchanged import Exported
from shoal.agent.workflows.exchange.file_formats import ExportFormat, ImportFormat
from shoal.agent.workflows.exchange.files import read_file, write_file
from shoal.agent.workflows.format.workflow import read_workflow, write_workflow
from shoal.services.cli.ending import BadUsage


def import_workflow(kind: ImportFormat, content: bytes, name: str) -> tuple[Json, tuple[str, ...]]:
    """Another program's file as a workflow, and what of the file the workflow does not say.

    Raises:
        Usage: it is no such file; the message names the place.
    """
    try:
        read = read_file(kind, content, name)
    except WorkflowInvalid as error:
        raise BadUsage(error.message) from None
    return write_workflow(read.workflow), read.lost


def export_workflow(kind: ExportFormat, workflow: Json) -> Exported:
    """A workflow's one version as another program's file, and what that file cannot say."""
    read = read_workflow(workflow)
    return write_file(kind, read.versions[0], read.name)
