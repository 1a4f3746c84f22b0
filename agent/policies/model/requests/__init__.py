"""What a request to the model contains."""
