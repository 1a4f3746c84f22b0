"""Waiting for what a page does a moment after it was acted on."""

from __future__ import annotations

from shoal.agent.browser import Context

_CHANGE_JS = """
(ms) => new Promise((done) => {
  const end = (changed) => { watch.disconnect(); clearTimeout(timer); done(changed); };
  const watch = new MutationObserver(() => end(true));
  const timer = setTimeout(() => end(false), ms);
  watch.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
})
"""


async def wait_for_change(page: Context, *, limit_s: float) -> bool:
    """True as soon as the document changes; False when it has not within `limit_s`.

    A page that was quiet before an action is quiet right after it, too: settling alone misses what a timer brings.
    """
    return bool(await page.read(_CHANGE_JS, limit_s * 1000))
