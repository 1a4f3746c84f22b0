"""The requests that an action would cause on a page, and the guard that keeps forms from sites that the job may not act
on.
"""
