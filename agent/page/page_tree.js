// One document as XML with a mark for each element, in the order in which it is drawn: shadow trees in their hosts,
// slotted content in its slots. It runs in an isolated world; the page sees nothing of it. It takes what is there and
// why something is not shown; it judges nothing else. agent/page/recorded.py reads the answer.
//
// options.boxes: where each element lies on the page, too.
// options.find: selectors by name; `matches` has the numbers of their elements, null for what is no CSS.
// options.within: {scopes, names, most}; `inner` has, by the number of each of so many elements of the selector `scopes`,
//   what the selectors of these names find in it, or it itself.
function (options) {
  // Closed shadow roots by host, as DevTools told; the elements that it was asked about; those that it is to be asked about.
  const kept = globalThis.shoalPage ??= { closed: new WeakMap(), asked: new WeakSet() };
  kept.suspects = [];

  // The bits of agent/page/marks.py.
  const NONE = 1 << 4, INVISIBLE = 1 << 5, TRANSPARENT = 1 << 6, CLIPPED = 1 << 7, OFF_PAGE = 1 << 8, SKIPPED = 1 << 9;
  const UNSLOTTED = 1 << 10, CHOICE = 1 << 11, FIXED = 1 << 15;
  const PRE = 1 << 16, STRUCK = 1 << 17, CHECKED = 1 << 18, SELECTED = 1 << 19, DISABLED = 1 << 20;
  const BOXED = 1 << 22, SMALLER = 1 << 23, BADGES = /^(span|small|label|i|em|a)$/;
  const POINTER = 1 << 24, PRESSED = /^(a|li|span|div)$/;
  const LETTERS = 25, MOST_LETTERS = 31; // five bits: half of the height of letters in pixels
  const LOOSE = 1 << 30; // clipped by what does not clip absolute boxes; of this script alone
  const LAYOUTS = {
    none: 0, inline: 1, block: 2, 'flow-root': 2, flex: 2, grid: 2, '-webkit-box': 2, 'table-caption': 2,
    'inline-block': 3, 'inline-flex': 3, 'inline-grid': 3, 'inline-table': 3, contents: 4, 'list-item': 5, table: 6,
    'table-row': 7, 'table-cell': 8, 'table-row-group': 9, 'table-header-group': 9, 'table-footer-group': 9,
  };
  const OTHER = 10;

  const set = words => new Set(words.split(' '));
  const NEVER = set('head script style noscript template title meta link base symbol defs desc metadata datalist param source track');
  const FIELDS = set('input textarea select option optgroup button fieldset');
  const REPLACED = set('img input iframe svg video canvas button textarea select object embed');
  const MAY_HIDE_ROOTS = set('article aside blockquote div footer h1 h2 h3 h4 h5 h6 header main nav p section span');
  const DEEPEST = 512; // levels, as the parser of Chromium makes; scripts make more, and stacks and libxml2 have limits
  const MOST_LEVELS = 2000; // of what lies deeper only the text is told
  const LEAST_PX = 2; // what is smaller is not seen
  const LEAST_OPACITY = 0.02;
  const FAR_INDENT_PX = -300;
  const MOST_SUSPECTS = 40;

  // --- XML ----------------------------------------------------------------------------------------------------

  const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\t': '&#9;', '\n': '&#10;', '\r': '&#13;' };
  const OF_TEXT = /[&<>\r\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, OF_VALUE = /[&<"\t\n\r\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;
  const ANY = /[&<>"\0-\x1f\ud800-\udfff\ufffe\uffff]/;
  const entity = character => ENTITIES[character] ?? '';
  const xml = (text, special) => ANY.test(text) ? text.toWellFormed().replace(special, entity) : text;
  const NAME = /^[A-Za-z_][\w.-]*$/;
  const named = name => {
    if (NAME.test(name)) return name;
    const mended = name.replace(/[^\w.-]/g, '_');
    return NAME.test(mended) ? mended : '_' + mended.slice(1);
  };
  const attributes = element => {
    let text = '', prefixes = '', mended = null;
    for (const name of element.getAttributeNames()) {
      if (NAME.test(name) && !name.startsWith('xmlns')) text += ` ${name}="${xml(element.getAttribute(name), OF_VALUE)}"`;
      else if (!name.startsWith('xmlns')) (mended ??= new Map()).set(named(name), element.getAttribute(name));
      else if (name[5] === ':') prefixes += `${prefixes && ' '}${name.slice(6)}: ${element.getAttribute(name)}`;
    }
    // As RDFa says it without namespaces.
    if (prefixes) (mended ??= new Map()).set('prefix', prefixes);
    for (const [name, value] of mended ?? []) if (!element.hasAttribute(name)) text += ` ${name}="${xml(value, OF_VALUE)}"`;
    return text;
  };

  // --- what is clipped ----------------------------------------------------------------------------------------

  // A clip: the rectangle of the window in which something can be seen. `out` is the one for absolute boxes.
  const ALL = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
  ALL.out = ALL;
  const scroller = document.scrollingElement ?? document.documentElement;
  const rightToLeft = scroller && getComputedStyle(scroller).direction === 'rtl';
  const pageLeft = rightToLeft ? scroller.clientWidth - scroller.scrollWidth : 0;

  // True where a `clip` or a `clip-path` leaves nothing of a box.
  const leavesNothing = (shape, width, height) => {
    const parts = (shape.match(/-?[\d.]+(px|%)?/g) ?? []).map(part => [parseFloat(part), part.endsWith('%')]);
    const px = ([number, isShare], whole) => isShare ? number * whole / 100 : number;
    if (shape.startsWith('rect(')) {
      const [top, right, bottom, left] = parts.map(([number]) => number);
      return right - left < LEAST_PX || bottom - top < LEAST_PX;
    }
    if (shape.startsWith('inset(')) {
      const [top, right = top, bottom = top, left = right] = parts;
      return width - px(right, width) - px(left, width) < LEAST_PX || height - px(top, height) - px(bottom, height) < LEAST_PX;
    }
    if (shape.startsWith('circle(')) return parts.length > 0 && parts[0][0] === 0;
    return shape.startsWith('polygon(') && parts.every(([number]) => number === parts[0][0]);
  };
  const isSeen = (box, clip) =>
    Math.min(box.right, clip.right) - Math.max(box.left, clip.left) >= 1
    && Math.min(box.bottom, clip.bottom) - Math.max(box.top, clip.top) >= 1;
  const isOffPage = box => box.right + scrollX <= pageLeft || box.bottom + scrollY <= 0;
  const hides = overflow => overflow === 'hidden' || overflow === 'clip';
  // The clip for what is in an element that overflows by `x` and `y`; what can be scrolled to is seen.
  const narrowed = (clip, box, x, y, holdsAbsolute) => {
    const inner = { ...clip };
    if (hides(x)) [inner.left, inner.right] = [Math.max(clip.left, box.left), Math.min(clip.right, box.right)];
    else if (x !== 'visible') [inner.left, inner.right] = [-Infinity, Infinity];
    if (hides(y)) [inner.top, inner.bottom] = [Math.max(clip.top, box.top), Math.min(clip.bottom, box.bottom)];
    else if (y !== 'visible') [inner.top, inner.bottom] = [-Infinity, Infinity];
    inner.out = holdsAbsolute ? inner : clip.out;
    return inner;
  };

  // --- how an element looks -----------------------------------------------------------------------------------

  // Marks of an element by what is around it (`above`, `clip`); `within` and `clipWithin` are for what is in it.
  let within = 0, clipWithin = ALL;
  const look = (element, tag, above, clip) => {
    within = above; clipWithin = clip;
    if (NEVER.has(tag)) within |= NONE;
    if (within & (NONE | SKIPPED)) return within;
    const style = getComputedStyle(element), display = style.display, position = style.position;
    if (display === 'none') { within |= NONE; return within; }
    let own = LAYOUTS[display] ?? OTHER;
    const isAbsolute = position === 'absolute' || position === 'fixed';
    if (isAbsolute && within & LOOSE) within &= ~(CLIPPED | LOOSE);
    if (position !== 'static') within &= ~LOOSE;
    if (position === 'fixed') own |= FIXED;
    if (style.visibility !== 'visible') own |= INVISIBLE;
    if (style.opacity !== '1' && style.opacity < LEAST_OPACITY) within |= TRANSPARENT;
    else if (style.filter !== 'none' && /opacity\(0[%)]/.test(style.filter)) within |= TRANSPARENT;
    if (style.cursor === 'pointer' && PRESSED.test(tag) && !element.querySelector('a,li,span,div')) own |= POINTER;
    if (style.textDecorationLine.includes('line-through')) within |= STRUCK;
    // Over the page, as modal dialogs and popovers are, nothing around an element clips it.
    const isTop = position === 'fixed' || (tag === 'dialog' ? element.open && element.matches(':modal') : element.hasAttribute('popover') && element.matches(':popover-open'));
    if (display !== 'contents') own |= room(element, tag, style, display, isAbsolute, position !== 'static', isTop, clip);
    if (hasWords(element)) own |= letters(style) | (BADGES.test(tag) && display.startsWith('inline') ? looks(element, style) : 0);
    if (style.contentVisibility === 'hidden') { const marks = own | within; within |= SKIPPED; return marks; }
    return own | within;
  };
  // A part of a line that is set apart from the text beside it, as badges are.
  const looks = (element, style) => {
    const boxed = !/^(transparent|rgba\(.*, 0\))$/.test(style.backgroundColor) || parseFloat(style.borderLeftWidth) > 0;
    const around = element.parentElement;
    const smaller = around && parseFloat(style.fontSize) < 0.9 * parseFloat(getComputedStyle(around).fontSize);
    return (boxed ? BOXED : 0) | (smaller ? SMALLER : 0);
  };
  // Marks by the room that an element has.
  const room = (element, tag, style, display, isAbsolute, holds, isTop, clip) => {
    const isSvg = tag === 'svg', isInline = display === 'inline' && !isSvg;
    let width = element.offsetWidth, height = element.offsetHeight; // of drawings undefined
    const isSmall = width === undefined ? isSvg : width < LEAST_PX || height < LEAST_PX;
    if (isTop) clip = ALL;
    else if (isAbsolute) clip = clip.out;
    clipWithin = clip;
    const asksBox = options.boxes || isAbsolute || isSmall || clip !== ALL && width !== undefined;
    let box = asksBox ? element.getBoundingClientRect() : null, marks = 0;
    width ??= box?.width ?? LEAST_PX; height ??= box?.height ?? LEAST_PX;
    const x = isInline ? 'visible' : style.overflowX, y = isInline ? 'visible' : style.overflowY;
    if (isSmall && (width < LEAST_PX || height < LEAST_PX) && (REPLACED.has(tag) || hides(x) || hides(y) || x !== 'visible')) {
      if (!(within & CLIPPED)) within |= holds || tag === 'iframe' ? CLIPPED : CLIPPED | LOOSE;
    }
    if (isAbsolute && style.clip !== 'auto' && leavesNothing(style.clip, width, height)) within = within & ~LOOSE | CLIPPED;
    if (style.clipPath !== 'none' && leavesNothing(style.clipPath, width, height)) within = within & ~LOOSE | CLIPPED;
    if (style.transform !== 'none') {
      box ??= element.getBoundingClientRect();
      if (width > 1 && box.width < 1 || height > 1 && box.height < 1) within = within & ~LOOSE | CLIPPED; // scaled to nothing
    }
    if (box && box.width && box.height) {
      if (isOffPage(box)) isAbsolute ? within |= OFF_PAGE : marks |= OFF_PAGE;
      if (!isSeen(box, clip)) marks |= CLIPPED;
    }
    if (options.boxes) boxes.push(Math.round(box.left + scrollX), Math.round(box.top + scrollY), Math.round(box.width), Math.round(box.height));
    const cuts = (hides(x) || hides(y)) && element !== scroller && element !== document.body
      && (element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight);
    if (cuts || clip !== ALL && (x !== 'visible' || y !== 'visible') && !(marks & CLIPPED)) {
      clipWithin = narrowed(clip, box ?? element.getBoundingClientRect(), x, y, holds);
    } else if (holds && clip.out !== clip) {
      clipWithin = { ...clip };
      clipWithin.out = clipWithin;
    }
    return marks;
  };
  const hasWords = element => {
    for (let node = element.firstChild, left = 8; node && left; node = node.nextSibling, left--) if (node.nodeType === 3) return true;
    return false;
  };
  // Marks by the look of its own letters.
  const letters = style => {
    let marks = Math.min(MOST_LETTERS, Math.round(parseFloat(style.fontSize) / 2) || 0) << LETTERS;
    if (style.whiteSpaceCollapse !== 'collapse') marks |= PRE;
    if (style.fontSize === '0px') marks |= CLIPPED;
    const indent = style.textIndent, color = style.color;
    if (indent[0] === '-' && parseFloat(indent) <= FAR_INDENT_PX) within |= OFF_PAGE;
    if (color.startsWith('rgba') && color.endsWith(', 0)') && style.backgroundClip !== 'text') marks |= TRANSPARENT;
    return marks;
  };

  // --- the walk -----------------------------------------------------------------------------------------------

  const marks = [], boxes = [], nodes = [];
  const values = {}, roots = {}, slotted = {};
  const hosts = new Map(); // numbers of the hosts of shadow trees
  const drawn = new Set(); // slotted nodes that were come upon in a slot
  let out = '';

  const shadowOf = element => element.shadowRoot ?? kept.closed.get(element);
  const stateOf = (element, tag, number) => {
    const disabled = element.disabled ? DISABLED : 0;
    if (tag === 'option') return disabled | (element.selected ? SELECTED : 0);
    if (tag === 'textarea' || tag === 'select') values[number] = element.value.toWellFormed();
    if (tag !== 'input') return disabled;
    if (element.type === 'checkbox' || element.type === 'radio') return disabled | (element.checked ? CHECKED : 0);
    if (element.type === 'password') values[number] = '•'.repeat(element.value.length);
    else if (element.value !== (element.getAttribute('value') ?? '')) values[number] = element.value.toWellFormed();
    return disabled;
  };
  // An element that may have a closed shadow root, of which DevTools alone knows. Each question costs a millisecond or two.
  const isSuspect = (element, tag) => {
    if (kept.suspects.length >= MOST_SUSPECTS || kept.asked.has(element)) return false;
    if (tag.includes('-') || !MAY_HIDE_ROOTS.has(tag) || element.firstChild) return tag.includes('-');
    // Of one that is empty, and as high as what is in it.
    return element.offsetWidth > 1 && element.offsetHeight > 1 && element.computedStyleMap().get('height').value === 'auto';
  };
  const visit = (node, above, clip, depth) => {
    if (node.nodeType === 3 || node.nodeType === 4) out += xml(node.data, OF_TEXT);
    if (node.nodeType !== 1) return;
    const tag = node.localName, number = nodes.length, name = named(tag), boxed = boxes.length;
    nodes.push(node);
    let own = look(node, tag, above, clip), inner = within;
    const clipInner = clipWithin, root = shadowOf(node);
    if (options.boxes && boxes.length === boxed) boxes.push(0, 0, 0, 0);
    if (FIELDS.has(tag)) own |= stateOf(node, tag, number);
    if (tag === 'img' && node.currentSrc && node.currentSrc !== node.src) values[number] = node.currentSrc;
    if (own & SELECTED) { own &= ~CHOICE; inner &= ~CHOICE; }
    if (tag === 'select' && !node.multiple && node.size < 2) inner |= CHOICE;
    if (!root && !(own & (NONE | SKIPPED)) && isSuspect(node, tag)) {
      kept.asked.add(node);
      kept.suspects.push(node);
    }
    marks.push(own & ~LOOSE);
    out += '<' + name + (node.hasAttributes() ? attributes(node) : '') + '>';
    const isDeep = depth >= DEEPEST;
    if (isDeep) out += `</${name}>`;
    content(node, tag, number, root, inner, clipInner, depth + 1);
    if (!isDeep) out += `</${name}>`;
  };
  const content = (element, tag, number, root, inner, clip, depth) => {
    if (tag === 'style' || tag === 'template' || tag === 'iframe' || tag === 'frame') return;
    if (root) { shadow(element, number, root, inner, clip, depth); return; }
    if (tag === 'slot' && hosts.size) { slot(element, inner, clip, depth); return; }
    if (depth > MOST_LEVELS) { out += xml(element.textContent, OF_TEXT); return; }
    const isClosed = tag === 'details' && !element.open;
    const summary = isClosed ? element.querySelector(':scope > summary') : null;
    for (let child = element.firstChild; child; child = child.nextSibling) {
      visit(child, isClosed && child !== summary ? inner | SKIPPED : inner, clip, depth);
    }
  };
  const shadow = (host, number, root, inner, clip, depth) => {
    roots[number] = host.shadowRoot ? 'open' : 'closed';
    hosts.set(host, number);
    for (const child of root.childNodes) visit(child, inner, clip, depth);
    for (const child of host.children) if (!drawn.has(child)) {
      slotted[nodes.length] = number;
      visit(child, inner | UNSLOTTED, clip, depth);
    }
  };
  const slot = (element, inner, clip, depth) => {
    const given = element.assignedNodes();
    for (const child of given) {
      drawn.add(child);
      if (child.nodeType === 1) slotted[nodes.length] = hosts.get(child.parentNode);
      visit(child, inner, clip, depth);
    }
    if (!given.length) for (const child of element.childNodes) visit(child, inner, clip, depth);
  };

  // A script may have taken the whole document away; a page has a root all the same.
  visit(document.documentElement ?? document.createElement('html'), 0, ALL, 1);
  kept.nodes = nodes;
  const packed = numbers => new Uint8Array(Int32Array.from(numbers).buffer).toBase64();
  // A document that the browser saved is drawn on a blank page, which knows its address.
  const saved = location.href === 'about:blank' && document.documentElement?.dataset.documentUrl || '';
  const matches = {}, inner = {}, numbers = options.find && new Map(nodes.map((node, number) => [node, number]));
  const numbered = several => [...several].map(node => numbers.get(node)).filter(number => number !== undefined);
  for (const name in options.find) {
    try {
      matches[name] = numbered(document.querySelectorAll(options.find[name]));
    } catch { matches[name] = null; }
  }
  const names = options.within?.names.filter(name => matches[name]) ?? [];
  const scopes = names.length ? numbered(document.querySelectorAll(options.within.scopes)) : [];
  for (const number of scopes.slice(0, options.within?.most)) {
    const scope = nodes[number], its = inner[number] = {};
    for (const name of names) {
      its[name] = numbered(scope.querySelectorAll(options.find[name]));
      if (!its[name].length && scope.matches(options.find[name])) its[name] = [number];
    }
  }
  // 0: not known, as of a document that a script has written. An answer from the cache that still holds (304) is its page.
  const answered = performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0;
  const seen = { height: document.documentElement?.scrollHeight ?? 0, viewport: innerHeight, loaded: document.readyState === 'complete',
    width: document.documentElement?.scrollWidth ?? 0, left: scrollX, top: scrollY };
  return {
    url: saved || location.href, base: saved || document.baseURI, xml: out, marks: packed(marks), boxes: packed(boxes),
    values, roots, slotted, suspects: kept.suspects.length, matches, inner, window: seen, type: document.contentType, loading: document.readyState === 'loading',
    status: answered === 304 ? 200 : answered,
  };
}
