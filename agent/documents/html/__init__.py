"""A raw HTML document: its elements, and what stands at places in it, as a browser would tell it."""
