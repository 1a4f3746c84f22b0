"""The browser seam on a real Chromium, through Playwright. No other package imports Playwright."""

from __future__ import annotations

from agent.chromium.find import check_starts, find_chromium
from agent.chromium.launch import LaunchOptions, attach, launch

__all__ = ["LaunchOptions", "attach", "check_starts", "find_chromium", "launch"]
