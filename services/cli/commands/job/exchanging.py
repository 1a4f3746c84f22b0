"""Workflows as files of other programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from shoal.agent.errors import WorkflowInvalid
from shoal.agent.support.json_value import Json
from shoal.agent.workflows.exchange.automa_files import read_automa, write_automa
from shoal.agent.workflows.exchange.exchanged import Exported, Imported
from shoal.agent.workflows.exchange.playwright_script import write_playwright
from shoal.agent.workflows.exchange.recorder import read_recording, write_recording
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.format.workflow import read_workflow, write_workflow
from shoal.services.cli.ending import Usage
from shoal.services.cli.workflow_formats import ExportFormat, ImportFormat

_READERS: Mapping[ImportFormat, Callable[[str, str], Imported]] = {
    ImportFormat.RECORDER: read_recording,
    ImportFormat.AUTOMA: read_automa,
}
_WRITERS: Mapping[ExportFormat, Callable[[Version, str], Exported]] = {
    ExportFormat.RECORDER: write_recording,
    ExportFormat.AUTOMA: write_automa,
    ExportFormat.PLAYWRIGHT: write_playwright,
}


def taken(kind: ImportFormat, content: bytes, name: str) -> tuple[Json, tuple[str, ...]]:
    """Another program's file as a workflow, and what of the file the workflow does not say.

    Raises:
        Usage: it is no such file; the message names the place.
    """
    try:
        read = _READERS[kind](content.decode(), name)
    except UnicodeDecodeError as error:
        raise Usage(f"byte {error.start}: the file is no UTF-8 text") from None
    except WorkflowInvalid as error:
        raise Usage(error.message) from None
    return write_workflow(read.workflow), read.lost


def given(kind: ExportFormat, workflow: Json) -> Exported:
    """A workflow's one version as another program's file, and what that file cannot say."""
    read = read_workflow(workflow)
    return _WRITERS[kind](read.versions[0], read.name)
