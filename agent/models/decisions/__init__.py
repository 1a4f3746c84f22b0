"""The decisions of a session, one file each: plan, step, extract."""
