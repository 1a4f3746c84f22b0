"""One session: `session` runs it, `dependencies` lists what the caller supplies."""
