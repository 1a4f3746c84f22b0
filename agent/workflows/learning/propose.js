(arg) => {
  // The places of a page that could be read again, each with its raw text: what a field's value is looked for in. Nothing
  // is judged here; Python compares the texts with the values, and the extractor reads what is left.
  // `arg.texts`: what values look like. `arg.most` instead: so many places that can be seen, each with its box on the page;
  // where `arg.many`, with ways within a record: an element that `arg.records` finds, or one of those that are repeated.
  const MAX_LEAVES = 4000, MAX_TEXT = 2000, MAX_ELEMENTS = 40000, LONG = 60;
  const squash = (text) => (text || '').replace(/\s+/g, ' ').trim();
  const SILENT = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD', 'OPTION', 'SVG', 'PATH']);
  // Names that a program made up for one page or one build, such as css-1x2y3z or item_84713, find nothing on the next.
  const made = (name) => /\d{3,}|(?=[\w-]*\d)(?=[\w-]*[a-z])[a-z0-9_-]*[a-z]\d[a-z0-9]*\d|^[a-f0-9-]{8,}$|:r\w+:/i.test(name) || name.length > LONG;
  const esc = (name) => CSS.escape(name);
  // Each selector is looked up once: elements of one kind are named alike, and a look-up goes through the whole page.
  const looked = new Map();
  function all(css) {
    if (!looked.has(css)) { try { looked.set(css, [...document.querySelectorAll(css)]); } catch { looked.set(css, []); } }
    return looked.get(css);
  }
  const counts = new Map();
  function single(css) {
    if (!counts.has(css)) { try { counts.set(css, document.querySelectorAll(css).length); } catch { counts.set(css, 0); } }
    return counts.get(css) === 1;
  }
  const idOf = (el) => el.id && !made(el.id) && single('#' + esc(el.id)) ? '#' + esc(el.id) : '';
  function position(el, anchored, known) {
    // By position, from the root, or (`anchored`) from the nearest id.
    if (el === document.body) return 'body';
    if (!el || el === document.documentElement) return 'html';
    if (known.has(el)) return known.get(el);
    let path = anchored ? idOf(el) : '';
    if (!path) {
      let nth = 1;
      for (let s = el.previousElementSibling; s; s = s.previousElementSibling) if (s.localName === el.localName) nth += 1;
      path = (el.parentElement ? position(el.parentElement, anchored, known) + ' > ' : '') + `${el.localName}:nth-of-type(${nth})`;
    }
    known.set(el, path);
    return path;
  }
  const fromIds = new Map(), fromRoot = new Map();
  // Both: a template may give the block around a value an id of the item's own, which no other page has.
  const positions = (el) => [...new Set([position(el, true, fromIds), position(el, false, fromRoot)])];
  function simple(el) {
    // Ways to name the element itself, without its position.
    const names = [];
    if (idOf(el)) names.push(idOf(el));
    for (const name of ['data-testid', 'data-test', 'data-field', 'itemprop', 'property', 'name', 'rel']) {
      const value = el.getAttribute(name);
      if (value && !made(value)) names.push(`${el.localName}[${name}="${value.replace(/["\\]/g, '\\$&')}"]`);
    }
    const classes = [...el.classList].filter((one) => !made(one));
    for (const one of classes.slice(0, 4)) names.push(`${el.localName}.${esc(one)}`);
    if (classes.length > 1) names.push(el.localName + classes.slice(0, 3).map((one) => '.' + esc(one)).join(''));
    names.push(el.localName);
    return names;
  }
  function selectors(el) {
    const own = simple(el), found = [];
    for (const css of own) if (found.length < 3 && single(css)) found.push(css);
    for (let up = el.parentElement, n = 0; up && up !== document.body && n < 4 && found.length < 5; up = up.parentElement, n += 1) {
      for (const outer of simple(up).slice(0, 3)) for (const css of own.slice(0, 3)) {
        const both = `${outer} ${css}`;
        if (found.length < 5 && outer !== up.localName && single(both)) found.push(both);
      }
    }
    return found;
  }
  const fold = (text) => squash(text).replace(/[\s:：*]+$/, '');
  function labels(el) {
    // What markup or the text before it calls the element.
    const found = [];
    const cell = el.closest('td,dd,[role="cell"],[role="gridcell"]');
    if (cell && squash(cell.textContent) === squash(el.textContent)) {
      if (cell.tagName === 'DD') {
        let dt = cell.previousElementSibling;
        while (dt && dt.tagName !== 'DT') dt = dt.previousElementSibling;
        if (dt) found.push(fold(dt.textContent));
      } else {
        const row = cell.closest('tr,[role="row"]');
        const head = row && (row.querySelector('th,[role="rowheader"]') || (row.cells && row.cells[0] !== cell ? row.cells[0] : null));
        if (head && head !== cell) found.push(fold(head.textContent));
      }
    }
    if (el.labels && el.labels[0]) found.push(fold(el.labels[0].textContent));
    if (el.getAttribute('aria-label')) found.push(fold(el.getAttribute('aria-label')));
    let before = el.previousSibling;
    while (before && before.nodeType === 3 && !squash(before.data)) before = before.previousSibling;
    if (before) {
      const said = fold(before.textContent);
      if (said && said.length <= 40 && /\p{L}/u.test(said)) found.push(said);
    } else if (el.parentElement && /[:：]/.test(squash(el.parentElement.textContent).slice(0, 40))) {
      found.push(fold(squash(el.parentElement.textContent).split(/[:：]/)[0]));
    }
    const own = /^([^:：]{1,40})[:：]/.exec(squash(el.textContent));
    if (own) found.push(fold(own[1]));
    return [...new Set(found)].filter((text) => text && text.length <= 60);
  }
  function column(el) {
    const cell = el.closest('td'), row = cell && cell.closest('tr'), table = row && row.closest('table');
    if (!table || squash(cell.textContent) !== squash(el.textContent)) return '';
    const head = table.rows[0] && table.rows[0] !== row ? table.rows[0].cells[cell.cellIndex] : null;
    return head ? fold(head.textContent) : '';
  }
  const ADDRESSES = ['href', 'src'];
  const leaves = [], metas = [];
  let seen = 0;
  for (const el of document.body ? document.body.querySelectorAll('*') : []) {
    if (++seen > MAX_ELEMENTS || leaves.length >= MAX_LEAVES) break;
    if (SILENT.has(el.tagName.toUpperCase()) || el.closest('svg,template,noscript')) continue;
    const holds = [...el.childNodes].some((node) => node.nodeType === 3 && squash(node.data));
    const control = /^(INPUT|SELECT|TEXTAREA)$/.test(el.tagName) && el.type !== 'password' && el.type !== 'hidden';
    const attributes = [];
    for (const name of ['content', 'datetime', 'value', 'title', 'alt', 'aria-label', ...ADDRESSES]) {
      if (control && name === 'value') continue;
      const value = el.getAttribute(name);
      if (value) attributes.push([name, ADDRESSES.includes(name) ? el[name] : value.slice(0, MAX_TEXT)]);
    }
    for (const {name, value} of el.attributes) if (/^data-/.test(name) && value && value.length <= 200) attributes.push([name, value]);
    const text = holds ? squash(el.textContent) : control ? String(el.value) : '';
    if ((!text && !attributes.length) || text.length > MAX_TEXT) continue;
    leaves.push([el, text, attributes]);
  }
  for (const el of document.querySelectorAll('meta[content]')) {
    const key = ['property', 'name', 'itemprop'].find((name) => el.getAttribute(name));
    if (!key || /viewport|theme|csrf|token/i.test(el.getAttribute(key))) continue;
    const css = `meta[${key}="${el.getAttribute(key).replace(/["\\]/g, '\\$&')}"]`;
    if (single(css)) metas.push({css, text: el.content.slice(0, MAX_TEXT), micro: key === 'itemprop'});
  }
  const POINTED = ['href', 'src', 'datetime', 'content', 'alt'], SMALLEST = 4, MAX_MS = 4000;
  function pointed() {
    // Places that a person can point at.
    const seen = leaves.filter(([el, text, attributes]) => (text || attributes.some(([name]) => POINTED.includes(name))) && el.offsetWidth >= SMALLEST && el.offsetHeight >= SMALLEST
      && el.checkVisibility({visibilityProperty: true})).slice(0, arg.most);
    const until = performance.now() + MAX_MS;
    return seen.flatMap(([el, text, attributes]) => {
      if (performance.now() > until) return []; // so many look-ups in so large a page take too long
      const box = el.getBoundingClientRect(), scope = arg.many ? recordOf(el) : null;
      return {text, box: [box.x + scrollX, box.y + scrollY, box.width, box.height], attributes: attributes.filter(([name]) => POINTED.includes(name)),
        css: scope ? within(el, scope.el) : arg.many ? [] : selectors(el), positions: arg.many ? [] : positions(el), labels: text && !arg.many ? labels(el) : [],
        column: text && arg.many ? column(el) : '', micro: el.getAttribute('itemprop') || '', records: scope ? scope.css : ''};
    });
  }
  function recordOf(el) {
    // The record around an element: what `records` finds, else the topmost of what is repeated at least as often.
    if (arg.records) {
      const scope = all(arg.records).find((one) => one.contains(el));
      return scope && scope !== el ? {el: scope, css: arg.records} : null;
    }
    let best = null, often = 2;
    for (let up = el.parentElement; up && up !== document.body; up = up.parentElement) {
      const css = simple(up).find((one) => one !== up.localName && !one.startsWith('#') && all(one).length >= often && !all(`${one} ${one}`).length)
        || (/^(LI|TR|ARTICLE)$/.test(up.tagName) && all(up.localName).length >= often && !all(`${up.localName} ${up.localName}`).length ? up.localName : '');
      if (css) { best = {el: up, css}; often = all(css).length; }
    }
    return best;
  }
  function within(el, scope) {
    // Selectors that find the element alone in its record.
    const inside = (css) => { try { return scope.querySelectorAll(css).length === 1; } catch { return false; } };
    const found = simple(el).filter(inside), steps = [];
    for (let at = el; at !== scope; at = at.parentElement) {
      let nth = 1;
      for (let s = at.previousElementSibling; s; s = s.previousElementSibling) if (s.localName === at.localName) nth += 1;
      steps.unshift(`${at.localName}:nth-of-type(${nth})`);
    }
    return [...found, `:scope > ${steps.join(' > ')}`].slice(0, 4);
  }
  // `arg.texts`: what values look like, in lower case without anything but letters and digits; only leaves that hold one
  // are described, since a description costs more than the look.
  const bare = (text) => text.toLowerCase().normalize('NFKC').replace(/[^\p{L}\p{N}]/gu, '');
  const asked = arg.texts;
  const wanted = (text) => { const said = bare(text); return said && asked.some((one) => one[0] === '*' ? said.length <= 60 : said.includes(one)); };
  const out = [];
  if (arg.most) return JSON.stringify({width: document.documentElement.scrollWidth, scrolled: [scrollX, scrollY], leaves: pointed()});
  for (const [el, text, attributes] of leaves) {
    const kept = attributes.filter(([, value]) => wanted(value));
    const said = text && wanted(text);
    if (!said && !kept.length) continue;
    out.push({text: said ? text : '', attributes: kept, css: selectors(el), positions: positions(el), labels: said ? labels(el) : [],
      column: said ? column(el) : '', micro: el.getAttribute('itemprop') || ''});
    if (out.length >= 600) break;
  }
  const parts = ['main', 'article', 'h1', 'form', '[role="main"]', '[itemtype]'].filter((css) => document.querySelector(css));
  const ids = [...document.querySelectorAll('body [id]')].map(idOf).filter(Boolean).slice(0, 60);
  return JSON.stringify({leaves: out, metas: metas.filter((one) => wanted(one.text)), parts, ids, password: Boolean(document.querySelector('input[type=password]'))});
}
