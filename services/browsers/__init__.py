"""Browser workers: the actor that owns Chromium, the pool of such actors, and what guards them."""
