"""The browser seam on a real Chromium, through Playwright. No other package imports Playwright.

It imports nothing by itself: whoever only looks for a Chromium (`agent.chromium.find`) does not wait for Playwright.
"""
