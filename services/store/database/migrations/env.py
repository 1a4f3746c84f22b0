"""Run by Alembic: applies revisions on the connection that `shoal.services.store.database.migrate` hands over."""

from __future__ import annotations

from alembic import context

from shoal.services.store.database.indexes import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite alters tables by copying them
)
with context.begin_transaction():
    context.run_migrations()
