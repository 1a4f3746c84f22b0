// What an action reaches in one document: of the element with an id, of a point, or of what has the focus.
// Runs beside the walker, in the isolated world, where the page's scripts have changed no prototype.
(asked) => {
  const attribute = Element.prototype.getAttribute, WEB = /^https?:/;
  const WITHIN_MAX = 2000;
  const up = shoalWalker.parentOf;
  const pushes = control => (control.tagName === 'BUTTON' && control.type === 'submit') ||
    (control.tagName === 'INPUT' && /^(submit|image)$/.test(control.type));
  const isField = node => /^(SELECT|TEXTAREA|OPTION)$/.test(node.tagName) || node.isContentEditable ||
    (node.tagName === 'INPUT' && !/^(submit|image|button|reset)$/.test(node.type));
  const isControl = node => node.nodeType === 1 && (node.tagName === 'BUTTON' || node.tagName === 'INPUT' || isField(node));
  const isFrame = node => /^(IFRAME|FRAME|OBJECT|EMBED)$/.test(node.tagName);
  const hits = point => {
    let element = document.elementFromPoint(point.x, point.y);
    while (element?.shadowRoot) {
      const inner = element.shadowRoot.elementFromPoint(point.x, point.y);
      if (!inner || inner === element) break;
      element = inner;
    }
    return element;
  };
  const facts = {
    page: WEB.test(location.href) ? location.href : WEB.test(self.origin) ? self.origin : '',
    found: true, field: false, sends: false, forms: [], links: [], frames: [], presses: false, unchosen: [], guarded: [],
  };
  const element = asked.id ? shoalWalker.find(asked.id) : asked.point ? hits(asked.point) : shoalWalker.deepActive() || document.body;
  if (!element) return { ...facts, found: !asked.id };
  // A form's own fields may be called `action` or `getAttribute`: the form itself is not asked.
  const sentTo = (form, control) => {
    const own = control && attribute.call(control, 'formaction'), method = (control && attribute.call(control, 'formmethod')) || attribute.call(form, 'method') || '';
    if (method.toLowerCase() === 'dialog') return;
    let address;
    try { address = new URL(own ?? attribute.call(form, 'action') ?? '', document.baseURI || location.href).href; } catch { return; }
    if (!/^javascript:/.test(address)) facts.forms.push(address);
  };
  const formOf = control => control.form || (typeof control.closest === 'function' ? control.closest('form') : null);
  const OPTIONS = '[role=option],[role=listbox]';
  const inList = !!element.closest(`${OPTIONS},[role=menu]`); // a click there chooses
  const inOptions = !!element.closest(OPTIONS); // in a menu, a button may send
  const toldFor = new Set();
  const tellUnchosen = (form, control, push) => {
    if (!(push ? inOptions : inList) && !toldFor.has(form)) {
      facts.unchosen.push(...shoalWalker.unchosenIn(form, control));
      facts.guarded.push(...(form ? [form] : shoalWalker.fieldsFor(form, control)).map(one => shoalWalker.idOf(one)));
    }
    toldFor.add(form);
  };
  const add = node => {
    if (isFrame(node)) { facts.frames.push([shoalWalker.idOf(node), node.src || node.data || '']); return; }
    if ((node.tagName === 'A' || node.tagName === 'AREA') && node.hasAttribute('href')) facts.links.push(node.href);
    else if (node.tagName === 'a' && node.href?.baseVal) facts.links.push(new URL(node.href.baseVal, document.baseURI).href);
    const control = node.tagName === 'LABEL' ? node.control : node;
    if (!control || !isControl(control)) return;
    facts.field ||= isField(control);
    const form = formOf(control), push = pushes(control) && !!form;
    facts.sends ||= push;
    if (!form || (!push && !isField(control))) return;
    sentTo(form, push ? control : null);
    if (push || !shoalWalker.entersChoice(control)) tellUnchosen(form, null, push);
    if (push) return;
    const button = [...form.querySelectorAll('button, input')].find(pushes); // what Enter presses
    if (button) sentTo(form, button);
  };
  for (let node = element; node && node.nodeType !== 9; node = up(node)) if (node.nodeType === 1) add(node);
  // Where a part of the form has a button that sends it, the others in that part do something else. A search in a form
  // around the whole page is a part of its own.
  const WRITTEN = 'textarea, [contenteditable], input:not([type=hidden], [type=submit], [type=image], [type=button], [type=reset], [type=checkbox], [type=radio])';
  const stands = (control, button, form) => { // in the smallest part of the form around the button that holds a field to write in
    let part = button.parentElement;
    while (part && part !== form && !part.querySelector(WRITTEN)) part = part.parentElement;
    return !part || part === form || part.contains(control);
  };
  const sentByAnother = control => {
    const form = formOf(control);
    return [...form?.elements || []].some(one => one !== control && pushes(one) && stands(control, one, form));
  };
  const pressed = shoalWalker.pressed(element);
  if (pressed && !inList && pressed.type !== 'reset') {
    facts.presses = true;
    if (pushes(pressed) || !sentByAnother(pressed)) tellUnchosen(formOf(pressed), pressed);
  }
  if (asked.within) { // a click on it hits what lies in its middle
    const within = [...element.querySelectorAll('a[href], area[href], button, input, select, textarea, label, iframe, frame, object, embed, [contenteditable]')];
    within.slice(0, WITHIN_MAX).forEach(add);
  }
  if (asked.point && isFrame(element)) {
    const box = element.getBoundingClientRect();
    facts.point = { x: asked.point.x - box.left - element.clientLeft, y: asked.point.y - box.top - element.clientTop };
  }
  facts.forms = [...new Set(facts.forms)];
  facts.links = [...new Set(facts.links)].filter(address => WEB.test(address));
  return facts;
}
