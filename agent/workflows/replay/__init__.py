"""Replay: a page is read, or a node is done, as the workflow says; what does not fit is a miss."""
