"""Reading records from a raw HTML document, as the page would give them, where that was seen to be the same."""
