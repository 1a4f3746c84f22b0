"""One page as one immutable tree, taken once: from a browser, or from raw HTML. It knows no reader."""
