"""Workflows as files of other programs, by the name of the format."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from shoal.agent.errors import WorkflowInvalid
from shoal.agent.workflows.exchange.automa_files import read_automa, write_automa
from shoal.agent.workflows.exchange.exchanged import Exported, Imported
from shoal.agent.workflows.exchange.file_formats import ExportFormat, ImportFormat
from shoal.agent.workflows.exchange.playwright_script import write_playwright
from shoal.agent.workflows.exchange.recorder import read_recording, write_recording
from shoal.agent.workflows.format.version import Version

_READERS: Mapping[ImportFormat, Callable[[str, str], Imported]] = {
    ImportFormat.RECORDER: read_recording,
    ImportFormat.AUTOMA: read_automa,
}
_WRITERS: Mapping[ExportFormat, Callable[[Version, str], Exported]] = {
    ExportFormat.RECORDER: write_recording,
    ExportFormat.AUTOMA: write_automa,
    ExportFormat.PLAYWRIGHT: write_playwright,
}


def read_file(kind: ImportFormat, content: bytes, name: str) -> Imported:
    """Another program's file as a workflow, and what of the file the workflow does not say.

    Raises:
        WorkflowInvalid: it is no such file; the message names the place.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise WorkflowInvalid(f"byte {error.start}: the file is no UTF-8 text") from None
    return _READERS[kind](text, name)


def write_file(kind: ExportFormat, version: Version, name: str) -> Exported:
    """A version as another program's file, and what that file cannot say."""
    return _WRITERS[kind](version, name)
