"""Reports and artifacts that a worker sends."""
