"""Makes the pictures of the web pages: those of README and docs, or every page in every look into a folder.

scripts/screenshots            # docs/*.png
scripts/screenshots FOLDER     # every page: light and dark, 1280 and 390 pixels wide
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.integration.dashboard.served import Site, served_site  # noqa: E402  # the path is set first
from tests.patience import chromium  # noqa: E402

DOCS = {"dashboard": "/jobs/j1", "new-job": "/new?preset=pages"}
"""Pictures in docs/, by name."""
PAGES = {
    **DOCS,
    **{"jobs": "/", "search": "/?q=prices", "records": "/jobs/j1/records?sources=1&sort=price"},
    **{"compare": "/jobs/j1/compare?with=j6", "activity": "/activity?range=hour", "job-running": "/jobs/j7"},
    **{"status": "/status", "attention": "/attention", "unknown": "/nothing", "login": "/login"},
}
SETTLED_MS = 900


async def take(site: Site, path: str, file: Path, width: int, scheme: str, *, whole: bool) -> None:
    """One picture."""
    page, complaints = await site.page(path, width, scheme)
    await page.wait_for_timeout(SETTLED_MS)
    await page.screenshot(path=str(file), full_page=whole)
    await page.context.close()
    if complaints := [text for text in complaints if "404" not in text]:
        raise SystemExit(f"{path} complains: {complaints}")


async def main(folder: Path | None) -> None:
    """All pictures."""
    async with chromium() as browser, served_site(browser) as site:
        if folder is None:
            for name, path in DOCS.items():
                await take(site, path, ROOT / "docs" / f"{name}.png", 1280, "light", whole=False)
            return
        session = (await site.world.client.get("/v1/jobs/j2")).json()["root_session"]
        sessions = {"session": f"/sessions/{session}", "step": f"/sessions/{session}/steps/1/1"}
        for name, path in {**PAGES, **sessions}.items():
            for width in (1280, 390):
                for scheme in ("light", "dark"):
                    await take(site, path, folder / f"{name}-{width}-{scheme}.png", width, scheme, whole=True)


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if chosen is not None:
        chosen.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(chosen))
