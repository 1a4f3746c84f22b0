"""Webhooks: what the store's outbox holds is signed and sent, again and again, until somebody has it."""
