"""Hosts as browsers read them, the sites that they make, and what an action would reach."""
