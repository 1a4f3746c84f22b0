"""Pools of workers: in this process, and on Ray."""
