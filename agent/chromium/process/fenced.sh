#!/bin/sh
# Starts a browser inside the fence: see starter.py, which names the parts in the environment.
exec "$SHOAL_FENCE_PYTHON" -I -S "$SHOAL_FENCE" "$SHOAL_FENCE_OWN" "$SHOAL_FENCE_PROGRAM" "$@"
