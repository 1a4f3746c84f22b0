"""The operators' web pages, over the same store as the API. Their routes are in `routes`."""
