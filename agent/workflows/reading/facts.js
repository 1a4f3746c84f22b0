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
  const MAX_TEXTS = 2000, LABEL = /^([^:：]{1,40})[:：]\s*(\S.*)$/;
  const places = new Map([[document.body, '']]);
  function placeOf(el) {
    // Where an element stands, by names and classes: the same for two entries of one list.
    if (!places.has(el)) places.set(el, `${placeOf(el.parentElement)}/${[el.localName, ...[...el.classList].sort()].join('.')}`);
    return places.get(el);
  }
  function textsOf() {
    // Null where there are too many. What cannot be looked into is told by its name.
    const told = [];
    for (const el of document.body ? document.body.querySelectorAll('*') : []) {
      if (/^(SCRIPT|STYLE|NOSCRIPT|TEMPLATE)$/.test(el.tagName) || el.closest('svg > *') || !shown(el)) continue;
      if (told.length > MAX_TEXTS) return null;
      const place = placeOf(el);
      if (el.shadowRoot || el.localName.includes('-') || /^(IFRAME|FRAME|CANVAS|OBJECT|EMBED|SVG|INPUT|SELECT|TEXTAREA|VIDEO)$/i.test(el.tagName)) told.push([place, `<${el.localName}>`]);
      if (el.tagName === 'IMG') told.push([place, squash(el.alt) || '<img>']);
      const own = squash([...el.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data).join(' '));
      const [, label, rest] = LABEL.exec(own) || [];
      if (label) told.push([`${place}/:`, squash(label)], [place, rest]);
      else if (own) told.push([place, own.replace(/[\s:：*]+$/, '') || own]);
      else if (/^(TD|DD)$/.test(el.tagName) && !el.children.length) told.push([place, '']);
    }
    return told;
  }
  // 0: not known, as of a document that a script has written. An answer from the cache that still holds (304) is its page.
  const answered = (performance.getEntriesByType('navigation')[0] || {}).responseStatus || 0;
  return {texts: arg.texts ? textsOf() : null, url: location.href, status: answered === 304 ? 200 : answered, lang: document.documentElement.lang || '', title: document.title, headings,
    text: document.body ? document.body.innerText.slice(0, 200000) : '', ready: document.readyState,
    busy: Boolean(document.querySelector('[aria-busy="true"]')), present, visible, landmarks, outline: [...new Set(outline)].sort().join(' ')};
}
