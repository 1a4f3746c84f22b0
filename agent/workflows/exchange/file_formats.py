"""The formats of workflow files, as options and parameters name them."""

from __future__ import annotations

from enum import StrEnum


class ImportFormat(StrEnum):
    """Formats that are read."""

    SHOAL = "shoal"
    RECORDER = "recorder"
    AUTOMA = "automa"


class ExportFormat(StrEnum):
    """Formats that are written."""

    SHOAL = "shoal"
    RECORDER = "recorder"
    AUTOMA = "automa"
    PLAYWRIGHT = "playwright"
