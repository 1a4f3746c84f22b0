"""The models that decide, behind one protocol."""
