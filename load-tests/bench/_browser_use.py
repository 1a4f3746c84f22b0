"""browser-use, quiet: imported by the Python of a virtual environment that has it, before anything of browser-use.

python3.12 -m venv DIR && DIR/bin/pip install browser-use
python load-tests/bench/observe.py --browser-use DIR/bin/python
"""

from __future__ import annotations

import os

# It would report its use, ask its cloud, and set up logging on standard output.
os.environ |= {
    "ANONYMIZED_TELEMETRY": "false",
    "BROWSER_USE_CLOUD_SYNC": "false",
    "BROWSER_USE_SETUP_LOGGING": "false",
    "BROWSER_USE_LOGGING_LEVEL": "error",
    "SKIP_LLM_API_KEY_VERIFICATION": "true",
}

from browser_use import BrowserProfile


def profile(chromium: str, **more: object) -> BrowserProfile:
    """Return how both benchmarks start its browser; `more` goes to it as it is."""
    return BrowserProfile(
        executable_path=chromium,
        headless=True,
        chromium_sandbox=False,
        viewport={"width": 1280, "height": 800},
        enable_default_extensions=False,
        **more,
    )
