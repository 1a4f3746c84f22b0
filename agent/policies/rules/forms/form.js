() => {
  // What an observation does not carry about forms: autocomplete, groups, the messages beside fields, native validation,
  // and what covers the page. One JSON string; fields are joined with the observation's by tag, type, name and order.
  const line = (text) => (text || '').replace(/\s+/g, ' ').trim();
  const shown = (el) => el.checkVisibility({visibilityProperty: true});
  const byIds = (ids) => line((ids || '').split(/\s+/).filter(Boolean).map((id) => { const el = document.getElementById(id); return el && shown(el) ? el.textContent : ''; }).join(' '));
  const BAD = /(^|[-_\s])(errors?|error(note|list|msg|message|text|box)s?|invalid|danger|warn|warning|problem|failure|failed|fail|fehler|erreur|chyba|fout|errore)([-_\s]|$)/i;
  const COLOUR = /(^|[-_\s])(danger|warn|warning|problem)([-_\s]|$)/gi;  // may only colour a text, or name a part of the page
  const NOTICE = /(^|[-_\s])(alert|alerts|messages?|msg|flash|flashes|notice|notices|notification|notifications|note|toast|callout|banner|feedback)([-_\s]|$)/i;
  const GOOD = /(^|[-_\s])(success|successful|confirmation|confirmed|thanks|thank-you|ok)([-_\s]|$)/i;
  const named = (el) => ((typeof el.className === 'string' ? el.className : '') + ' ' + (el.id || '')).replace(/([a-z])([A-Z])/g, '$1-$2');
  const forms = [...document.forms];
  const ACTS = 'button,[role="button"],input,select,textarea,a[href],label,option';
  const SAYS = /\p{L}{2}/u;  // an asterisk or a counter says nothing
  const saying = (el) => {
    // The text of an element without that of what can be pressed in it: "×", "Delete profile".
    if (!el.querySelector('button,[role="button"]')) return line(el.textContent);
    const copy = el.cloneNode(true);
    copy.querySelectorAll('button,[role="button"]').forEach((c) => c.remove());
    return line(copy.textContent);
  };
  const aside = (el) => Boolean(el.closest('nav,aside,footer,pre,code,tbody,[role="navigation"],[role="complementary"]'));

  function label(el) {
    if (el.labels && el.labels.length) return line([...el.labels].map((l) => { const copy = l.cloneNode(true); copy.querySelectorAll('input,select,textarea,button').forEach((c) => c.remove()); return copy.textContent; }).join(' '));
    return line(el.getAttribute('aria-label')) || byIds(el.getAttribute('aria-labelledby'));
  }
  function beforeLabel(el) {
    // Unlabelled fields: the short text just before them, in their cell or block.
    for (let n = el, up = 0; n && up < 3 && n.tagName !== 'FORM'; n = n.parentElement, up += 1) {
      for (let s = n.previousSibling; s; s = s.previousSibling) {
        if (s.nodeType === 1 && (/^(INPUT|SELECT|TEXTAREA|BUTTON)$/.test(s.tagName) || s.querySelector('input,select,textarea'))) return '';
        const text = line(s.textContent);
        if (text) return text.length <= 80 ? text : '';
      }
    }
    return '';
  }
  function group(el) {
    const box = el.closest('fieldset,[role="group"],[role="radiogroup"]');
    if (!box) return '';
    const legend = box.querySelector('legend');
    return line(box.getAttribute('aria-label')) || byIds(box.getAttribute('aria-labelledby')) || (legend ? line(legend.textContent) : '');
  }
  function error(el) {
    const told = byIds(el.getAttribute('aria-errormessage')) || (el.getAttribute('aria-invalid') === 'true' ? byIds(el.getAttribute('aria-describedby')) : '');
    if (told) return told;
    for (let n = el, up = 0; n && up < 3 && n.tagName !== 'FORM'; n = n.parentElement, up += 1) {
      if (up && n.querySelectorAll('input:not([type=hidden]),select,textarea').length > 1 && !/^(radio|checkbox)$/.test(el.type)) break;
      for (const part of n.querySelectorAll('*')) {
        if (BAD.test(named(part)) && !part.matches(ACTS) && !part.querySelector('input,select,textarea') && shown(part) && SAYS.test(saying(part))) return saying(part).slice(0, 300);
      }
    }
    return '';
  }
  const fields = [...document.querySelectorAll('input:not([type=hidden]),select,textarea')].map((el) => ({
    tag: el.localName, type: el.localName === 'input' ? el.type : '', name: el.name || '', id: el.id || '', label: label(el) || beforeLabel(el),
    ac: el.getAttribute('autocomplete') || '', group: group(el), req: el.required || el.getAttribute('aria-required') === 'true' ? 1 : 0,
    form: forms.indexOf(el.form), v: shown(el) ? 1 : 0, bad: el.willValidate && !el.checkValidity ? '' : el.validationMessage || '',
    aria: el.getAttribute('aria-invalid') === 'true' ? 1 : 0, error: error(el), value: /^(radio|checkbox)$/.test(el.type) ? el.value : '',
  }));
  const messages = [];
  const tell = (el, kind) => {
    const text = saying(el);
    if (!SAYS.test(text) || text.length > 400 || messages.some((m) => m.t === text)) return;
    messages.push({t: text, k: kind, aside: aside(el) ? 1 : 0});
  };
  for (const el of document.querySelectorAll('[role="alert"],[role="status"],[aria-live],[class],[id]')) {
    const role = el.getAttribute('role');
    const words = named(el);
    const bad = BAD.test(NOTICE.test(words) || role === 'alert' ? words : words.replace(COLOUR, ' ')) && !/^(FORM|BODY|HTML|MAIN)$/.test(el.tagName);
    const good = GOOD.test(named(el));
    if (!bad && !good && role !== 'alert' && role !== 'status') continue;
    if (el.matches(ACTS) || !shown(el) || el.querySelector('input:not([type=hidden]),select,textarea')) continue;
    tell(el, bad ? 'error' : good ? 'success' : role === 'alert' ? 'alert' : 'status');
    if (messages.length >= 40) break;
  }
  // Short texts in and around forms: what a site says without marking it in any way.
  const bare = [...document.querySelectorAll('input:not([type=hidden]),select,textarea')].filter((el) => !el.form && shown(el))
    .map((el) => { let n = el.parentElement; while (n && n !== document.body && !n.querySelector('button,[role="button"],[type=submit],[type=button]')) n = n.parentElement; return n || document.body; });
  for (const form of new Set([...forms, ...bare])) {
    if (!shown(form)) continue;
    const near = [...form.querySelectorAll('p,div,span,li,td,strong,b,em,font,small')];
    for (let n = form, up = 0; n && n !== document.body && up < 3; n = n.parentElement, up += 1) {
      for (const s of n.parentElement ? n.parentElement.children : []) {
        if (s !== n && !s.querySelector('form')) near.push(s, ...[...s.querySelectorAll('p,li,strong,b,em,font,td')].slice(0, 10));
      }
    }
    let told = 0;
    for (const el of near) {
      if (told >= 20 || messages.length >= 90) break;
      if (el.matches(ACTS) || el.closest('label,button,a[href],nav,h1,h2') || el.querySelector('input,select,textarea,p,div,li,td') || !shown(el)) continue;
      const before = messages.length;
      if (line(el.textContent).length <= 200) tell(el, 'note');
      told += messages.length - before;
    }
  }
  function heading_of(form) {
    // What stands over a form: its own legend or heading, else the nearest heading before it.
    const own = line(form.getAttribute('aria-label')) || byIds(form.getAttribute('aria-labelledby'));
    const inner = form.querySelector('h1,h2,h3,h4,h5,legend');
    if (own || inner) return own || line(inner.textContent).slice(0, 100);
    for (let n = form; n && n !== document.body; n = n.parentElement) {
      for (let s = n.previousElementSibling; s; s = s.previousElementSibling) {
        if (s.matches('form') || s.querySelector('form')) break;
        const all = s.matches('h1,h2,h3,h4,h5') ? [s] : [...s.querySelectorAll('h1,h2,h3,h4,h5')];
        if (all.length) return line(all[all.length - 1].textContent).slice(0, 100);
      }
    }
    return '';
  }
  const said = forms.map((form) => ({
    action: form.getAttribute('action') || '', method: (form.getAttribute('method') || 'get').toLowerCase(), heading: heading_of(form),
    named: [form.getAttribute('name'), form.getAttribute('id'), form.getAttribute('class'), form.getAttribute('role')].filter(Boolean).join(' '),
    send: [...form.querySelectorAll('button:not([type]),[type=submit],[type=image]')].filter(shown).map((b) => line(b.textContent) || b.value || '').filter(Boolean),
  }));
  const loading = performance.getEntriesByType('navigation')[0];
  // Something that lies over the middle of the window and is no part of the page's flow.
  let overlay = null;
  const top = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
  for (let n = top; n && n !== document.body && n !== document.documentElement; n = n.parentElement) {
    const fixed = getComputedStyle(n).position === 'fixed' || n.tagName === 'DIALOG' || n.getAttribute('aria-modal') === 'true';
    if (fixed) overlay = n;
  }
  const overlayFacts = overlay ? {
    fields: overlay.querySelectorAll('input:not([type=hidden]):not([type=checkbox]),select,textarea').length,
    buttons: [...overlay.querySelectorAll('button,[role="button"],a[href],input[type=button],input[type=submit]')].filter(shown).slice(0, 30)
      .map((b) => ({t: line(b.textContent) || b.value || '', a: b.getAttribute('aria-label') || b.title || ''})),
    text: line(overlay.textContent).slice(0, 500),
  } : null;
  const heading = document.querySelector('h1');
  return JSON.stringify({url: location.href, lang: document.documentElement.lang, fields, messages, overlay: overlayFacts, forms: said, loaded: performance.timeOrigin, status: (loading && loading.responseStatus) || 0, busy: Boolean(document.querySelector('[aria-busy="true"]')),
    h1: heading ? line(heading.textContent) : '', text: line(document.body ? document.body.innerText : '').slice(0, 20000)});
}
