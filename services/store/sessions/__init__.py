"""Sessions: claimed, finished, expired, resolved."""
