() => {
  // What an observation does not carry about forms: autocomplete, groups, the messages beside fields, native validation,
  // and what covers the page. One JSON string; fields are joined with the observation's by tag, type, name and order.
  const line = (text) => (text || '').replace(/\s+/g, ' ').trim();
  const shown = (el) => el.checkVisibility({visibilityProperty: true});
  const byIds = (ids) => line((ids || '').split(/\s+/).filter(Boolean).map((id) => { const el = document.getElementById(id); return el && shown(el) ? el.textContent : ''; }).join(' '));
  const BAD = /(^|[-_\s])(errors?|invalid|danger|problem|fehler|erreur|chyba|field-validation-error|has-error|feedback-invalid)([-_\s]|$)/i;
  const GOOD = /(^|[-_\s])(success|confirmation|confirmed|thanks|thank-you|ok)([-_\s]|$)/i;
  const named = (el) => (typeof el.className === 'string' ? el.className : '') + ' ' + (el.id || '');
  const forms = [...document.forms];

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
        if (BAD.test(named(part)) && !part.querySelector('input,select,textarea') && shown(part) && line(part.textContent)) return line(part.textContent).slice(0, 300);
      }
    }
    return '';
  }
  const fields = [...document.querySelectorAll('input:not([type=hidden]),select,textarea')].map((el) => ({
    tag: el.localName, type: el.localName === 'input' ? el.type : '', name: el.name || '', id: el.id || '', label: label(el) || beforeLabel(el),
    ac: el.getAttribute('autocomplete') || '', group: group(el), req: el.required || el.getAttribute('aria-required') === 'true' ? 1 : 0,
    form: forms.indexOf(el.form), v: shown(el) ? 1 : 0, bad: el.willValidate && !el.checkValidity ? '' : el.validationMessage || '',
    aria: el.getAttribute('aria-invalid') === 'true' ? 1 : 0, error: error(el), value: /^(radio|checkbox)$/.test(el.type) ? el.value : '',
    hint: byIds(el.getAttribute('aria-describedby')),
  }));
  const messages = [];
  for (const el of document.querySelectorAll('[role="alert"],[role="status"],[aria-live],[class],[id]')) {
    const role = el.getAttribute('role');
    const bad = BAD.test(named(el)) && !/^(INPUT|SELECT|TEXTAREA|FORM|BODY|HTML)$/.test(el.tagName);
    const good = GOOD.test(named(el));
    if (!bad && !good && role !== 'alert' && role !== 'status') continue;
    if (!shown(el) || el.querySelector('input:not([type=hidden]),select,textarea')) continue;
    const text = line(el.textContent);
    if (!text || text.length > 400 || messages.some((m) => m.t === text)) continue;
    messages.push({t: text, k: bad ? 'error' : good ? 'success' : role === 'alert' ? 'alert' : 'status'});
    if (messages.length >= 30) break;
  }
  // Something that lies over the middle of the window and is no part of the page's flow.
  let overlay = null;
  const top = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
  for (let n = top; n && n !== document.body && n !== document.documentElement; n = n.parentElement) {
    const fixed = getComputedStyle(n).position === 'fixed' || n.tagName === 'DIALOG' || n.getAttribute('aria-modal') === 'true';
    if (fixed) overlay = n;
  }
  const cover = overlay ? {
    fields: overlay.querySelectorAll('input:not([type=hidden]):not([type=checkbox]),select,textarea').length,
    buttons: [...overlay.querySelectorAll('button,[role="button"],a[href],input[type=button],input[type=submit]')].filter(shown).slice(0, 30)
      .map((b) => ({t: line(b.textContent) || b.value || '', a: b.getAttribute('aria-label') || b.title || ''})),
    text: line(overlay.textContent).slice(0, 500),
  } : null;
  const heading = document.querySelector('h1');
  return JSON.stringify({url: location.href, fields, messages, cover, busy: Boolean(document.querySelector('[aria-busy="true"]')),
    h1: heading ? line(heading.textContent) : '', text: line(document.body ? document.body.innerText : '').slice(0, 20000)});
}
