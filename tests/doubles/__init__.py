"""Doubles for the seams: product code, for this project's tests and for those of its users."""

from __future__ import annotations

from tests.doubles.browser_double import FakeBrowser, FakePage, body, text
from tests.doubles.model import ScriptedModel

__all__ = ["FakeBrowser", "FakePage", "ScriptedModel", "body", "text"]
