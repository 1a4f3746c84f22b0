"""Records: each property of a schema matched with the places of a page."""
