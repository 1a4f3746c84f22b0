"""Limits shared by all processes: domains, robots.txt, token buckets."""
