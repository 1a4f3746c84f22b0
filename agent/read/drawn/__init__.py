"""The tree of the page that is open; of a document that is no HTML, the tree of what it states."""
