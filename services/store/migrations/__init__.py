"""Alembic's environment and the schema's revisions; `services.store.migrate` runs them."""
