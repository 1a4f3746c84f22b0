(arg) => {
  // `arg.hosts`: CSS selectors of shadow hosts, outermost first; all else is asked of the shadow root of the last one.
  // The answer is null where they do not lead to one.
  // `arg.describe`: a CSS selector of one element; the answer is every way to find it, with how many elements each finds,
  // and what all elements are called that can be seen and acted on (null where there are too many).
  // `arg.find`: locators ({family, value, role}); the answer is, for each, which elements it finds, as CSS paths.
  // `arg.count`: locators; the answer is, for each, how many elements that can be seen it finds.
  // `arg.most`: so many elements that can be seen and acted on, each as by `describe`, with its box on the page.
  const inside = (at, css) => { const hosts = at ? at.querySelectorAll(css) : []; return hosts.length === 1 ? hosts[0].shadowRoot : null; };
  const root = (arg.hosts || []).reduce(inside, document), top = root === document ? 'html' : ':host';
  if (!root) return null;
  const MAX_FOUND = 4, MAX_ELEMENTS = 20000, MAX_OFFERED = 400, LONG = 80, SMALLEST = 4, MAX_MS = 4000;
  const squash = (text) => (text || '').replace(/\s+/g, ' ').trim();
  const fold = (text) => squash(text).toLowerCase().replace(/[\s:：*]+$/, '');
  const shown = (el) => el.checkVisibility ? el.checkVisibility({visibilityProperty: true}) : el.getClientRects().length > 0;
  const made = (name) => /\d{3,}|[a-z]\d[a-z0-9]*\d|^[a-f0-9-]{8,}$|:r\w+:/i.test(name) || name.length > LONG;
  const quoted = (text) => '"' + text.replace(/["\\]/g, '\\$&') + '"';
  const TEST_IDS = ['data-testid', 'data-test-id', 'data-test', 'data-cy', 'data-qa'];
  const INPUTS = {checkbox: 'checkbox', radio: 'radio', button: 'button', submit: 'button', reset: 'button', image: 'button', range: 'slider', number: 'spinbutton', search: 'searchbox'};
  const TAGS = {BUTTON: 'button', TEXTAREA: 'textbox', IMG: 'img', NAV: 'navigation', MAIN: 'main', FORM: 'form', TABLE: 'table', LI: 'listitem', OPTION: 'option', SUMMARY: 'button'};
  function roleOf(el) {
    const own = el.getAttribute('role');
    if (own) return own.trim().split(/\s+/)[0];
    if (el.tagName === 'A' || el.tagName === 'AREA') return el.hasAttribute('href') ? 'link' : '';
    if (el.tagName === 'INPUT') return INPUTS[el.type] || 'textbox';
    if (el.tagName === 'SELECT') return el.multiple || el.size > 1 ? 'listbox' : 'combobox';
    if (/^H[1-6]$/.test(el.tagName)) return 'heading';
    return TAGS[el.tagName] || '';
  }
  // What a slot was given stands in its place.
  const given = (node) => node.localName === 'slot' ? node.assignedNodes({flatten: true}).map(textOf).join(' ') : [...node.childNodes].map(textOf).join(' ');
  const slotted = (node) => node.localName === 'slot' || (node.querySelector && node.querySelector('slot'));
  const textOf = (node) => root !== document && slotted(node) ? given(node) : node.textContent;
  // The text of a label without that of the control in it: a select's options are no part of its name.
  const textWithout = (node, el) => node === el || /^(SELECT|TEXTAREA)$/.test(node.nodeName) ? '' : node.contains(el) ? [...node.childNodes].map((one) => textWithout(one, el)).join(' ') : textOf(node);
  // A combo box of other elements has its labels by their `for`, around it, or right before it.
  const isCombo = (el) => el.getAttribute('role') === 'combobox' && !/^(INPUT|SELECT|TEXTAREA)$/.test(el.tagName);
  const labelsOf = (el) => {
    if (!isCombo(el)) return [...(el.labels || [])];
    const own = all('label').filter((one) => (el.id && one.htmlFor === el.id) || (!one.control && one.contains(el)));
    const before = el.previousElementSibling;
    return own.length || !before || before.tagName !== 'LABEL' || before.htmlFor || before.control ? own : [before];
  };
  const labelOf = (el) => squash(labelsOf(el).map((one) => textWithout(one, el)).join(' '));
  // Widgets whose text is a value or their items: ARIA takes no name from it. A button that opens a list may be one, too.
  const HOLDERS = /^(combobox|listbox|textbox|searchbox|spinbutton|slider|menu|menubar|radiogroup|tablist|tree|treegrid|grid)$/;
  const holds = (el) => HOLDERS.test(roleOf(el)) || !/^(false)?$/.test(el.getAttribute('aria-haspopup') || '');
  function accessibleName(el) {
    const by = (el.getAttribute('aria-labelledby') || '').split(/\s+/).map((id) => id && root.getElementById(id)).filter((one) => one && !(holds(el) && el.contains(one)));
    if (by.length) return squash(by.map((one) => textWithout(one, el)).join(' '));
    if (el.getAttribute('aria-label')) return squash(el.getAttribute('aria-label'));
    if (labelOf(el)) return labelOf(el);
    if (el.tagName === 'INPUT') return squash(/^(submit|button|reset)$/.test(el.type) ? el.value : el.type === 'image' ? el.alt : el.title || el.placeholder);
    if (/^(SELECT|TEXTAREA)$/.test(el.tagName)) return squash(el.title || el.placeholder);
    if (el.isContentEditable) return squash(el.title || el.getAttribute('aria-placeholder') || el.getAttribute('placeholder'));  // its text is what was typed
    if (el.tagName === 'IMG') return squash(el.alt || el.title);
    if (HOLDERS.test(roleOf(el))) return squash(el.title || el.getAttribute('aria-placeholder'));
    const pictures = [...el.querySelectorAll('img[alt]')].map((one) => one.alt).join(' ');
    return squash(textOf(el)) || squash(pictures) || squash(el.title);
  }
  // Each selector, name and text is looked up once: the page stands still meanwhile, and each look-up goes through all of it.
  const once = (made) => { const known = new Map(); return (key) => { if (!known.has(key)) known.set(key, made(key)); return known.get(key); }; };
  const all = once((css) => { try { return [...root.querySelectorAll(css)].slice(0, MAX_ELEMENTS); } catch { return []; } });
  const nameOf = once(accessibleName);
  const nameSaid = once((el) => fold(nameOf(el))), textSaid = once((el) => fold(textOf(el))), labelSaid = once((el) => fold(labelOf(el) || nameOf(el)));
  const ACTED = 'a,area,button,input,select,textarea,summary,option,label,[role],[onclick],[tabindex],[contenteditable]';
  function byXPath(path) {
    if (root !== document) return [];
    try {
      const found = document.evaluate(path, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
      return Array.from({length: Math.min(found.snapshotLength, MAX_ELEMENTS)}, (_, i) => found.snapshotItem(i)).filter((node) => node.nodeType === 1);
    } catch { return []; }
  }
  const sought = new Map();
  function find({family, value, role}) {
    const key = `${family}\n${role}\n${value}`;
    if (!sought.has(key)) sought.set(key, lookedFor(family, value, role));
    return sought.get(key);
  }
  function lookedFor(family, value, role) {
    const said = fold(value);
    switch (family) {
      case 'test_id': return all(TEST_IDS.map((name) => `[${name}=${quoted(value)}]`).join(','));
      case 'role_name': return all(`${ACTED},h1,h2,h3,h4,h5,h6,img,nav,main,form`).filter((el) => roleOf(el) === role && nameSaid(el) === said);
      case 'label': return all('input,select,textarea,[aria-label],[aria-labelledby]').filter((el) => labelSaid(el) === said && /^(INPUT|SELECT|TEXTAREA)$|^$/.test(el.isContentEditable ? '' : el.tagName));
      case 'placeholder': return all('[placeholder]').filter((el) => fold(el.placeholder || el.getAttribute('placeholder')) === said);
      case 'text': {
        const same = all(ACTED).filter((el) => textSaid(el) === said);
        return same.filter((el) => !same.some((other) => other !== el && el.contains(other)));
      }
      case 'xpath': return byXPath(value);
      default: return all(value);
    }
  }
  const nth = (el) => { let n = 1; for (let s = el.previousElementSibling; s; s = s.previousElementSibling) if (s.localName === el.localName) n += 1; return n; };
  // By position; `anchored`: from the nearest id that is no program's.
  function path(el, anchored) {
    const steps = [];
    for (let node = el; node && node !== document.documentElement; node = node.parentElement) {
      if (anchored && node.id && !made(node.id) && all('#' + CSS.escape(node.id)).length === 1) return ['#' + CSS.escape(node.id), ...steps].join(' > ');
      steps.unshift(`${CSS.escape(node.localName)}:nth-of-type(${nth(node)})`);
    }
    return [top, ...steps].join(' > ');
  }
  function xpath(el) {
    const steps = [];
    for (let node = el; node; node = node.parentElement) {
      steps.unshift(node.namespaceURI === 'http://www.w3.org/1999/xhtml' ? `${node.localName}[${nth(node)}]` : `*[name()="${node.nodeName}"][${nth(node)}]`);
    }
    return '/' + steps.join('/');
  }
  function ways(el) {
    const found = [], tag = CSS.escape(el.localName);
    const add = (family, value, role) => { if (value && value.length <= 300) found.push({family, value, role: role || ''}); };
    for (const name of TEST_IDS) add('test_id', el.getAttribute(name));
    const role = roleOf(el), name = nameOf(el);
    if (role && name.length <= LONG) add('role_name', name, role);
    if (labelOf(el).length <= LONG) add('label', labelOf(el));
    add('placeholder', squash(el.getAttribute('placeholder')));
    if ((/^(A|BUTTON|SUMMARY|LABEL)$/.test(el.tagName) || el.getAttribute('role')) && !(holds(el) && textSaid(el) !== nameSaid(el))) { const text = squash(textOf(el)); if (text.length <= LONG) add('text', text); }
    for (const one of ['name', 'type', 'autocomplete', 'aria-controls', 'title', 'alt']) {
      const value = el.getAttribute(one);
      if (value && !made(value)) { const css = `${tag}[${one}=${quoted(value)}]`; if (all(css).length === 1) { add('attribute', css); break; } }
    }
    if (el.getAttribute('name') && el.value && el.type === 'radio') add('attribute', `${tag}[name=${quoted(el.name)}][value=${quoted(el.getAttribute('value') || '')}]`);
    const own = [];
    if (el.id && !made(el.id)) own.push('#' + CSS.escape(el.id));
    for (const one of [...el.classList].filter((one) => !made(one)).slice(0, 3)) own.push(`${tag}.${CSS.escape(one)}`);
    own.push(tag);
    let css = own.find((one) => all(one).length === 1);
    for (let up = el.parentElement, n = 0; !css && up && n < 5; up = up.parentElement, n += 1) {
      const outer = [up.id && !made(up.id) ? '#' + CSS.escape(up.id) : '', ...[...up.classList].filter((one) => !made(one)).slice(0, 2).map((one) => '.' + CSS.escape(one))].filter(Boolean);
      for (const a of outer) for (const b of own) if (!css && all(`${a} ${b}`).length === 1) css = `${a} ${b}`;
    }
    add('css', css);
    add('structure', path(el, true));
    if (root === document) add('xpath', xpath(el));
    return found.map((one) => ({...one, n: find(one).length}));
  }
  function around(el) {
    // What stands before and after, for people and for a model that repairs.
    const text = (node) => node && squash(textOf(node)).slice(0, 40);
    const said = [];
    let before = el.previousElementSibling || (el.parentElement && el.parentElement.previousElementSibling);
    if (text(before)) said.push('before: ' + text(before));
    const after = el.nextElementSibling || (el.parentElement && el.parentElement.nextElementSibling);
    if (text(after)) said.push('after: ' + text(after));
    const form = el.closest('form,fieldset,section,[role="dialog"]');
    const head = form && form.querySelector('legend,h1,h2,h3');
    if (head) said.push('in: ' + text(head));
    return said;
  }
  function described(el, left, top) {
    const box = el.getBoundingClientRect();
    return {role: roleOf(el), name: nameOf(el).slice(0, LONG), ways: ways(el), around: around(el), box: [box.x + left, box.y + top, box.width, box.height], chooses: shoalChooses(el),
      form: el.form ? {method: el.form.method, type: el.type || ''} : null};
  }
  if (arg.describe) {
    const el = root.querySelector(arg.describe);
    if (!el) return null;
    const seen = all(ACTED).filter(shown), offered = seen.length > MAX_OFFERED ? null : seen.map((one) => [roleOf(one), nameSaid(one)]);
    return JSON.stringify({...described(el, 0, 0), offered});
  }
  if (arg.count) return JSON.stringify(arg.count.map((one) => find(one).filter(shown).length));
  if (arg.most) {
    const seen = all(ACTED).filter((el) => shown(el) && el.offsetWidth >= SMALLEST && el.offsetHeight >= SMALLEST).slice(0, arg.most);
    const until = performance.now() + MAX_MS;
    return JSON.stringify({elements: seen.flatMap((el) => (performance.now() > until ? [] : [described(el, scrollX, scrollY)]))});
  }
  return JSON.stringify(arg.find.map((one) => find(one).filter(shown).slice(0, MAX_FOUND).map((el) => path(el, false))));
}
