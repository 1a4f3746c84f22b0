"""One agent session in one browser: observing, planning, acting and extracting.

Usable as a library. Nothing here knows of Ray, databases, HTTP servers or S3. Read `session.py` first.
"""
