"""The loop-opening part of a session: finding the loop's items, and handing them on."""
