"""The browser seam on a real Chromium, through Playwright. No other package imports Playwright.

It imports nothing by itself: a caller that only looks for a Chromium (`shoal.agent.chromium.process.find`) does not
wait for Playwright.
"""
