"""Pages read over the DevTools protocol, without a Playwright page."""
