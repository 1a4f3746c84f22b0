"""Processes of an embedded cluster that are forks of one which has imported what they need."""
