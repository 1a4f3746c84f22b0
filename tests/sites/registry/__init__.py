"""Sites and applications from package registries: each module installs one, serves it, and knows its truth.

The jobs are written as a user would first write them. The truth is parsed by lxml from the files that are served, or
read from the application's own database; it never goes through the agent.
"""
