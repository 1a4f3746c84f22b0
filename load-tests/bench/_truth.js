// What a page reacts to, told by the page's own world rather than by the walker: put there before the page's scripts.
// Listeners are counted as they are added and as they are called; closed shadow roots are remembered as they are made.
(() => {
  if (window.benchTruth) return;
  const POINTER = new Set(['click', 'mousedown', 'mouseup', 'pointerdown', 'pointerup', 'dblclick', 'touchstart', 'touchend']);
  const HOVER = new Set(['mouseenter', 'mouseover', 'pointerenter', 'pointerover']);
  const ROLES = 'button link checkbox radio tab menuitem menuitemcheckbox menuitemradio switch combobox textbox option slider searchbox spinbutton treeitem gridcell listbox'.split(' ');
  const NATIVE = 'a[href],area[href],button,input:not([type=hidden]),select,textarea,summary,audio[controls],video[controls],[onclick],[tabindex],[contenteditable],[role]';
  const listened = new WeakSet(), roots = new WeakMap(), wrapped = new WeakMap();
  let notes = [];
  const note = what => { if (notes.length < 50) notes.push(what); };
  const inside = node => node instanceof Element && node !== document.body && node !== document.documentElement;

  const add = EventTarget.prototype.addEventListener, remove = EventTarget.prototype.removeEventListener;
  EventTarget.prototype.addEventListener = function (type, listener, options) {
    if (!listener || !(POINTER.has(type) || HOVER.has(type)) || !inside(this)) return add.call(this, type, listener, options);
    if (POINTER.has(type)) listened.add(this);
    let own = wrapped.get(listener);
    if (!own) {
      own = function (event) {
        if (event.isTrusted) note('listener ' + event.type);
        return typeof listener === 'function' ? listener.call(this, event) : listener.handleEvent(event);
      };
      wrapped.set(listener, own);
    }
    return add.call(this, type, own, options);
  };
  EventTarget.prototype.removeEventListener = function (type, listener, options) {
    return remove.call(this, type, wrapped.get(listener) ?? listener, options);
  };
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    const root = attach.call(this, options);
    roots.set(this, root);
    watch(root);
    return root;
  };
  for (const name of ['alert', 'confirm', 'prompt', 'open']) window[name] = () => { note(name); return null; };
  const CHANGES = { subtree: true, childList: true, attributes: true, characterData: true };
  const watch = root => new MutationObserver(() => note('mutation')).observe(root, CHANGES);
  watch(document);
  for (const type of ['input', 'change', 'toggle']) add.call(document, type, event => { if (event.isTrusted) note(type); }, true);
  add.call(document, 'focusin', event => { if (event.isTrusted && inside(event.target)) note('focus'); }, true);
  add.call(document, 'click', event => {
    // Handlers in attributes and properties cannot be wrapped; they are found on the way up instead.
    for (const node of event.composedPath()) if (inside(node) && (node.onclick || node.onmousedown || node.onpointerdown)) note('handler');
    const link = event.composedPath().find(node => node.href !== undefined && node.matches?.('a, area'));
    if (link) { note('link'); event.preventDefault(); }
    const picker = event.composedPath()[0];
    if (picker.type === 'file') { note('file'); event.preventDefault(); }
  }, true);
  add.call(document, 'submit', event => { note('submit'); event.preventDefault(); }, true);

  const rootOf = element => roots.get(element) ?? element.shadowRoot;
  const parentOf = node => node.assignedSlot ?? node.parentNode ?? node.host;
  const deepHit = (x, y) => {
    let hit = document.elementFromPoint(x, y);
    for (let root = hit && rootOf(hit); root; root = hit && rootOf(hit)) {
      const inner = root.elementFromPoint(x, y);
      if (!inner || inner === hit) break;
      hit = inner;
    }
    return hit;
  };
  const boxOf = element => { const b = element.getBoundingClientRect(); return [Math.round(b.left), Math.round(b.top), Math.round(b.width), Math.round(b.height)]; };
  const holds = (element, hit) => {
    for (let node = hit; node; node = parentOf(node)) if (node === element) return true;
    return false;
  };
  const everything = function* (root) {
    for (const element of root.querySelectorAll('*')) {
      yield element;
      const inner = rootOf(element);
      if (inner) yield* everything(inner);
    }
  };
  const seen = element => {
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || element.closest('[inert]')) return null;
    const box = element.getBoundingClientRect();
    if (box.width < 2 || box.height < 2 || box.right + scrollX <= 0 || box.bottom + scrollY <= 0) return null;
    const left = Math.max(0, box.left), right = Math.min(innerWidth, box.right), top = Math.max(0, box.top), bottom = Math.min(innerHeight, box.bottom);
    if (left >= right || top >= bottom) return box;
    for (const fx of [0.5, 0.1, 0.3, 0.7, 0.9]) for (const fy of [0.5, 0.1, 0.3, 0.7, 0.9]) {
      const hit = deepHit(left + (right - left) * fx, top + (bottom - top) * fy);
      if (hit && (holds(element, hit) || hit.closest('label')?.control === element)) return box;
    }
    return null;
  };

  window.benchTruth = {
    take: () => { const taken = notes; notes = []; return taken; },
    // Boxes of what has to be listed, of what listens for others, and of what may be listed besides.
    wanted: () => {
      const must = [], holders = [], may = [];
      for (const element of everything(document)) {
        const role = (element.getAttribute('role') ?? '').split(' ')[0];
        const native = element.matches(NATIVE) && (!element.hasAttribute('role') || ROLES.includes(role) || element.matches('a[href],button,input,select,textarea,summary')) &&
          !(element.hasAttribute('tabindex') && element.tabIndex < 0 && !element.matches('a[href],button,input,select,textarea,summary,[onclick],[contenteditable]') && !ROLES.includes(role));
        const target = native && inside(element) && element.tagName !== 'IFRAME';
        const hears = listened.has(element) || element.onclick || element.onmousedown || element.onpointerdown;
        const pointer = !target && !hears && getComputedStyle(element).cursor === 'pointer';
        if (!target && !hears && !pointer) continue;
        const shown = seen(element) ?? (target && element.labels?.length ? seen(element.labels[0]) && element.labels[0].getBoundingClientRect() : null);
        if (!shown) continue;
        const box = [Math.round(shown.left), Math.round(shown.top), Math.round(shown.width), Math.round(shown.height)];
        if (target) must.push(box); else if (hears) holders.push(box); else may.push(box);
      }
      return { must, holders, may };
    },
    // One point for each element that some point of a grid hits, and two more for large ones.
    points: step => {
      const found = new Map();
      for (let y = step / 2; y < innerHeight; y += step) for (let x = step / 2; x < innerWidth; x += step) {
        const hit = deepHit(x, y);
        if (!inside(hit) || hit.tagName === 'IFRAME') continue;
        // What nobody can see is not asked for, unless it is a field that lies over what is drawn for it.
        if (hit.tagName !== 'INPUT' && !hit.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
        if (!found.has(hit)) found.set(hit, []);
        found.get(hit).push([x, y]);
      }
      const chosen = [];
      for (const [element, at] of found) {
        const label = element.closest('label')?.control;
        const box = label ? boxOf(label) : null;
        for (const share of at.length > 40 ? [0.5, 0.1, 0.9] : [0.5]) chosen.push([...at[Math.floor((at.length - 1) * share)], box]);
      }
      return chosen;
    },
  };
})();
