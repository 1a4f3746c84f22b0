"""Editing a version of a workflow in forms, without leaving a draft behind before it is saved."""
