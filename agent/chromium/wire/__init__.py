"""Our own DevTools client of a browser that Playwright has started."""
