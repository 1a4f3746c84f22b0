() => {
  // What a page that may stand in another's place says of itself, as one JSON string.
  const line = (text) => (text || '').replace(/\s+/g, ' ').trim();
  const shown = (el) => (el.checkVisibility ? el.checkVisibility({visibilityProperty: true, opacityProperty: true}) : true) && el.getBoundingClientRect().height > 0;
  const seen = (selector) => [...document.querySelectorAll(selector)].filter(shown);
  // The badge of a check that runs unseen: it stands in a corner of the window, on pages of all kinds.
  const isBadge = (el) => {
    for (let n = el; n; n = n.parentElement) if (getComputedStyle(n).position === 'fixed') return n.getBoundingClientRect().height < 100;
    return false;
  };
  const PUZZLE = 'iframe[src*="captcha" i],iframe[src*="challenge" i],iframe[src*="turnstile" i],[class*="captcha" i],[id*="captcha" i]';
  return JSON.stringify({url: location.href, title: line(document.title).slice(0, 300),
    headings: seen('h1,h2,[role="heading"]').slice(0, 3).map((el) => line(el.textContent).slice(0, 300)),
    password: seen('input[type="password"]').length > 0, puzzle: seen(PUZZLE).some((el) => !isBadge(el))});
}
