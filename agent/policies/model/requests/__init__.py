"""The contents of a request to the model."""
