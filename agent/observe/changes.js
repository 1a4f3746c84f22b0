// What an action brought and took, told from two looks at one frame: `begin` before it, `told` after it. And what a
// click hit, where something lay over what it was meant for. Runs beside the walker, in the same isolated world.
globalThis.shoalChanges ??= (() => {
  const walker = globalThis.shoalWalker;
  const LISTED = 'a[href],button,input:not([type=hidden]),select,textarea,summary,[role],[tabindex],dialog,[contenteditable]';
  const WRONG = '[aria-invalid]:not([aria-invalid=false]):not([aria-invalid=""]), input:user-invalid, select:user-invalid, textarea:user-invalid';
  const FIRST = /^(alert|alertdialog|dialog|status)$/;
  const SHOWN = { visibilityProperty: true, opacityProperty: true };
  const SAYS_NOTHING = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'TITLE', 'OPTION', 'TEXTAREA']);
  const MAX = 3000, COMPARED = 300, NAMED = 5; // of a page with more than so many nothing is told by name
  const CHARS = walker.TOLD_CHARS, WHOLE_CHARS = 200; // a secret is hidden only whole: who shows a text cuts it after that
  // What a script puts into a field is no change of the document, nor is how far a part of the page is scrolled.
  const HELD = 'input:not([type=hidden]):not([type=submit]):not([type=button]):not([type=reset]):not([type=image]),select,textarea';
  let before = null, scrolled = false, watching = false;

  const listed = () => {
    const found = new Set();
    for (const place of walker.places()) {
      for (const element of place.querySelectorAll(LISTED)) {
        if (found.size >= MAX) return null;
        if (element.checkVisibility(SHOWN)) found.add(element);
      }
    }
    return found;
  };
  const texts = () => {
    const found = new Map();
    for (const place of walker.places()) {
      const nodes = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
      for (let node; (node = nodes.nextNode());) {
        if (!/\S/.test(node.data) || SAYS_NOTHING.has(node.parentNode.nodeName)) continue;
        if (found.size >= MAX) return null;
        if (node.parentElement?.checkVisibility(SHOWN)) found.set(node, node.data);
      }
    }
    return found;
  };
  const wrong = () => new Set(walker.places().flatMap(place => [...place.querySelectorAll(WRONG)]));
  const held = () => {
    const found = new Map();
    for (const place of walker.places()) {
      for (const field of place.querySelectorAll(HELD)) {
        if (found.size >= MAX) return null;
        found.set(field, walker.valueOf(field));
      }
    }
    return found;
  };
  // Of radio buttons the one that was chosen says it all.
  const otherFields = (old, now, own) => {
    if (!old || !now) return [0, []];
    const other = [...now].filter(([field, value]) => old.has(field) && old.get(field) !== value && field !== own && !(field.type === 'radio' && value === 'unchecked'));
    return [other.length, other.slice(0, NAMED).map(([field, value]) => [walker.brief(field, CHARS), walker.clip(String(value).toWellFormed(), CHARS)])];
  };
  const short = text => walker.clip(walker.squeeze(text), CHARS);
  // What some say and others do not: a framework that draws its list anew brings nothing.
  const without = (some, others) => {
    const left = [...others];
    return some.filter(one => { const at = left.indexOf(one); if (at >= 0) left.splice(at, 1); return at < 0; });
  };
  const urgent = (a, b) => FIRST.test(b.split(' ')[0]) - FIRST.test(a.split(' ')[0]);
  const named = (came, went) => {
    if (came.length > COMPARED || went.length > COMPARED) return [came, went].map(all => [all.length, all.slice(0, NAMED).map(one => walker.brief(one, CHARS))]);
    const names = [came, went].map(all => all.map(one => walker.brief(one, CHARS)));
    return [without(names[0], names[1]), without(names[1], names[0])].map(all => [all.length, all.sort(urgent).slice(0, NAMED)]);
  };
  // Text that came or went outside of elements that did: those are named by it.
  const said = (all, others, among) => {
    const fresh = [...all].filter(([node, text]) => others.get(node) !== text);
    return fresh.filter(([node]) => !among.some(element => element.contains(node))).map(([, text]) => short(text));
  };

  const begin = () => {
    const all = listed(); // what is too much to be compared is not gathered any further
    before = { listed: all, texts: all && texts(), wrong: wrong(), held: held() };
    scrolled = false;
    if (watching) return;
    watching = true;
    addEventListener('scroll', () => { scrolled = true; }, { capture: true, passive: true });
  };
  const told = id => {
    if (!before) return null;
    const all = before.listed && listed();
    const now = { listed: all, texts: all && before.texts && texts(), wrong: wrong() };
    const fields = otherFields(before.held, before.held && held(), id ? walker.find(id) : walker.deepActive());
    const both = before.listed && now.listed;
    const came = both ? [...now.listed].filter(one => !before.listed.has(one)) : [];
    const went = both ? [...before.listed].filter(one => !now.listed.has(one)) : [];
    const [appeared, left] = named(came, went);
    if (both && before.texts && now.texts) {
      const [fresh, old] = [said(now.texts, before.texts, came), said(before.texts, now.texts, went)];
      for (const [to, words] of [[appeared, without(fresh, old)], [left, without(old, fresh)]]) {
        to[0] += words.length;
        to[1].push(...words.slice(0, NAMED - to[1].length).map(text => JSON.stringify(text)));
      }
    }
    const invalid = [...now.wrong].filter(one => !before.wrong.has(one)).slice(0, NAMED).map(one => walker.brief(one, CHARS));
    return { appeared, went: left, invalid, fields, scrolled };
  };

  // --- what a click hits ----------------------------------------------------------------------------------------

  const related = (element, hit) => {
    for (const end of [element, ...(element.labels || [])]) {
      for (let node = hit; node; node = walker.parentOf(node)) if (node === end) return true;
      for (let node = end; node; node = walker.parentOf(node)) if (node === hit) return hit.tagName === 'LABEL' || getComputedStyle(element).display === 'contents';
    }
    return false;
  };
  const control = hit => {
    for (let node = hit; node; node = walker.parentOf(node)) {
      if (node.nodeType === 1 && (walker.takesClicks(node) || node.matches('dialog, [role=dialog], [role=alertdialog]'))) return node;
    }
    return null;
  };
  // In an error's words, a long name is told by its length: a part of it could be a part of a secret.
  const inShort = element => {
    const said = walker.brief(element, CHARS);
    return said.length > WHOLE_CHARS ? `${said.split(' ')[0]} with a name of ${said.length} characters` : said;
  };
  // What lies over the middle of an element: null where nothing does.
  const over = id => {
    const element = walker.find(id);
    if (!element) return null;
    const box = element.getBoundingClientRect(), x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
    const hit = element.getRootNode().elementFromPoint?.(x, y);
    if (!hit || related(element, hit)) return null;
    const taker = control(hit);
    return { name: inShort(taker || hit), id: taker ? walker.idOf(taker) : 0 };
  };
  let received = null, listening = false;
  const watch = () => {
    received = null;
    if (listening) return;
    listening = true;
    const note = event => { if (event.isTrusted) received ??= event.composedPath()[0]; };
    addEventListener('mousedown', note, { capture: true, passive: true });
  };
  // What the click since `watch` hit, where that was not the element: null where it was, or where nothing is known.
  const hit = id => {
    const element = walker.find(id), target = received;
    received = null;
    return !target || !element || target.nodeType !== 1 || related(element, target) ? null : inShort(target);
  };

  return { begin, told, over, watch, hit };
})();
