"""Schedules at a gateway: any gateway fires what is due, and holds runs that are over against those before."""
