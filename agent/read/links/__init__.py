"""The links of a page: lists of them that a job's words may name, and the ways to a list's next page."""
