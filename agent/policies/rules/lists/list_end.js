(arg) => {
  // What a page says of the end of its list, as one JSON string: its text, what is still coming, what offers to load it
  // again, and what its scripts asked for. `arg.retry`: what a button is called that loads again, in lower case.
  // `arg.loading`: an expression for words by which a text that says that content is coming begins.
  const MAX_SAID = 200000, MOST_REQUESTS = 250;
  const line = (text) => (text || '').replace(/\s+/g, ' ').trim();
  const shown = (el) => (el.checkVisibility ? el.checkVisibility({visibilityProperty: true, opacityProperty: true}) : true) && el.getBoundingClientRect().height > 0;
  // What stands beside the content loads for itself: advertisements, a menu of the account.
  const beside = (el) => Boolean(el.closest('aside,nav,footer,[role="complementary"],[role="navigation"],[role="contentinfo"],[role="banner"]'));
  const COMING = new RegExp(`^(?:${arg.loading}[\\w ]{0,20})?[.…\\s]*$`, 'i');
  const moves = (el) => el.getAnimations && el.getAnimations({subtree: true}).length > 0;

  function waits() {
    for (const el of document.querySelectorAll('[aria-busy="true"]')) if (shown(el) && !beside(el)) return 'aria-busy';
    for (const el of document.querySelectorAll('[role="progressbar"]:not([aria-valuenow]),progress:not([value])')) if (shown(el) && !beside(el)) return 'a progress bar';
    for (const el of document.querySelectorAll('[class*="skeleton" i],[class*="shimmer" i],[class*="placeholder-glow"],[class*="spinner" i],[class*="loading" i],[class*="loader" i]')) {
      if (el === document.body || el === document.documentElement || beside(el) || !shown(el) || !COMING.test(line(el.textContent))) continue;
      // Pictures that load late, and fields for numbers with small arrows, have such names, too.
      if (el.matches('img,iframe,video,picture,input,button,a') || el.querySelector('img,iframe,video,input,button,a,select')) continue;
      const placeholder = /skeleton|shimmer|placeholder-glow/i.test(el.getAttribute('class'));
      if (placeholder || line(el.textContent) || moves(el)) return 'a placeholder for content';
    }
    if (document.readyState === 'loading') return 'a document that is not whole yet';
    return '';
  }

  const retry = [...document.querySelectorAll('button,[role="button"],a,input[type="button"]')].find((el) => arg.retry.includes(line(el.value || el.textContent || el.getAttribute('aria-label')).toLowerCase()) && shown(el) && !beside(el));
  const requests = performance.getEntriesByType('resource').filter((entry) => /^(fetch|xmlhttprequest)$/.test(entry.initiatorType)).slice(-MOST_REQUESTS);
  return JSON.stringify({url: location.href, title: document.title, text: document.body ? document.body.innerText.slice(0, MAX_SAID) : '', waits: waits(),
    retry: retry ? line(retry.value || retry.textContent) : '', requests: requests.map((entry) => [entry.name, entry.responseStatus || 0])});
}
