"""What is kept of a run and the one before it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """How many records of two runs changed how."""

    appeared: int = 0
    went: int = 0
    changed: int = 0
    unclear: int = 0  # it cannot be told what became of them
    same: int = 0
