"""Playwright's trace viewer, as the installed Playwright has it, at an address of its own.

Its service worker makes answers of what a site gave, in the dashboard's origin. `trace-guard.js` stands before it in
the same file, and makes such answers harmless.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from fastapi import APIRouter, Response

from shoal.services.errors import NotFound
from shoal.services.web.pages.rendering import HERE

VIEWER = "/trace-viewer/"

_TYPES = {
    **{".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"},
    **{".ttf": "font/ttf", ".webmanifest": "application/manifest+json"},
}
_POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; worker-src 'self'; manifest-src 'self'; frame-src 'self' data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
"""The policy for pages of the viewer, beyond that of other pages: styles in attributes, frames with snapshots (`data:`
is the empty one), a service worker that reads traces of this origin. Snapshots of sites run no script: Playwright sends
them with a policy of their own, and the guard adds to it.
"""
_WORKER = "sw.bundle.js"
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def add_trace_viewer(router: APIRouter) -> None:
    """Adds the viewer. Its files are Playwright's own and the same for everybody; traces need a login as before."""

    @router.get(VIEWER + "{path:path}")
    async def viewer(path: str) -> Response:
        body = _files().get(path)
        if body is None:
            raise NotFound(f"the trace viewer has no file {path!r}")
        headers = {"Content-Security-Policy": _policy(path, body), "Cache-Control": "public, no-cache"}
        return Response(body, media_type=_TYPES[Path(path).suffix], headers=headers)


@cache
def _files() -> Mapping[str, bytes]:
    """The viewer's files by their paths, kept in memory, so that a name in a URL never becomes a path.

    Empty where the installed Playwright has no viewer.
    """
    package = find_spec("playwright")
    places = (package.submodule_search_locations if package else None) or ()
    folders = [Path(place) / "driver" / "package" / "lib" / "vite" / "traceViewer" for place in places]
    files = {
        str(file.relative_to(folder)): file.read_bytes()
        for folder in folders
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.suffix in _TYPES
    }
    if _WORKER in files:
        files[_WORKER] = (HERE / "static" / "trace-guard.js").read_bytes() + files[_WORKER]
    return files


def _policy(path: str, body: bytes) -> str:
    """The policy of one file: of the scripts that stand in a page, those that Playwright wrote there may run."""
    inline = _INLINE.findall(body.decode()) if path.endswith(".html") else []
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in inline]
    return _POLICY.format(scripts=" ".join(["'self'", *(f"'sha256-{digest}'" for digest in hashes)]))
