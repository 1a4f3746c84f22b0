"""Alembic's environment and the schema's revisions; `shoal.services.store.database.migrate` runs them."""
