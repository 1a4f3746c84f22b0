"""Commands of operators: start, keys, webhooks, the model server."""
