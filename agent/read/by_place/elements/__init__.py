"""The one reader of places, labels and tables, over the elements of a page or of a raw document."""
