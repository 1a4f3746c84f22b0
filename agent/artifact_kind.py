"""Kinds of what a session keeps beside its records."""

from __future__ import annotations

from typing import Final, Literal

ArtifactKind = Literal[
    "document",
    "download",
    "download_text",
    "evidence",
    "har",
    "mhtml",
    "page",
    "pointing",
    "prompt",
    "recording",
    "reply",
    "screenshot",
    "snapshot",
    "trace",
    "workflow",
]

POINTING: Final = "pointing"
"""The kind of the artifact of a sample that says what can be pointed at on the picture of its page."""
