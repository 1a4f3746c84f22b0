(arg) => {
  // What the page is, as one record: `arg.selectors` are CSS selectors, of which those are told that find something, and
  // of these the ones that find something visible.
  const shown = (el) => el.checkVisibility ? el.checkVisibility({visibilityProperty: true}) : el.getClientRects().length > 0;
  const squash = (text) => (text || '').replace(/\s+/g, ' ').trim();
  const present = [], visible = [];
  for (const css of arg.selectors) {
    try {
      const found = [...document.querySelectorAll(css)];
      if (found.length) present.push(css);
      if (found.some(shown)) visible.push(css);
    } catch { present.push('invalid: ' + css); }
  }
  const ROLES = {HEADER: 'banner', NAV: 'navigation', MAIN: 'main', ASIDE: 'complementary', FOOTER: 'contentinfo', FORM: 'form', SEARCH: 'search'};
  const landmarks = [];
  for (const el of document.querySelectorAll('header,nav,main,aside,footer,form,search,[role]')) {
    const role = el.getAttribute('role') || ROLES[el.tagName];
    if (Object.values(ROLES).includes(role) && !landmarks.includes(role)) landmarks.push(role);
  }
  const headings = [...document.querySelectorAll('h1,h2')].filter(shown).slice(0, 40).map((el) => squash(el.textContent));
  const outline = [];
  const walk = (el, depth) => {
    if (depth > 5 || outline.length > 400) return;
    for (const child of el.children) { outline.push(depth + child.localName); walk(child, depth + 1); }
  };
  if (document.body) walk(document.body, 0);
  return {url: location.href, lang: document.documentElement.lang || '', title: document.title, headings,
    text: document.body ? document.body.innerText.slice(0, 200000) : '', ready: document.readyState,
    busy: Boolean(document.querySelector('[aria-busy="true"]')), present, visible, landmarks, outline: [...new Set(outline)].sort().join(' ')};
}
