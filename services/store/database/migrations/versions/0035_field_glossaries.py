"""Glossaries: models' names for the fields of schemas on pages.

Revision: 0035
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    bytewise = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "field_glossary",
        sa.Column("key", bytewise, primary_key=True),
        sa.Column("found", sa.Text()),
        sa.Column("expires_at", sa.Double(), nullable=False, server_default=sa.text("0")),
        sa.Column("asking_by", sa.BigInteger(), nullable=False, server_default=sa.text("0")),
        sa.Column("asking_until", sa.Double(), nullable=False, server_default=sa.text("0")),
    )
    op.create_index("field_glossary_expires", "field_glossary", ["expires_at"])


def downgrade() -> None:
    op.drop_table("field_glossary")
