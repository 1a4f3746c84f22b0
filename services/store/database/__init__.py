"""Connections, tables, migrations and named SQL."""
