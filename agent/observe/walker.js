// Looks at one frame. Runs in the isolated world in which Playwright resolves its selectors, so that pages see nothing
// of it and an id from here can be clicked with all of Playwright's checks. State is kept per document:
// the same element keeps its id for as long as the document lives.
//
// walk(options) gives a JSON string: { tree, url, title, ... } with nodes as arrays (see agent/observe/tree.py, which
// reads them): [tag, id, role, name, text, attributes, options, states, box, flags, children], shortened from the right;
// a bare string is text.
globalThis.shoalWalker ??= (() => {
  const ids = new WeakMap();      // element -> number
  const refs = new Map();         // number -> WeakRef of the element
  const traits = new Map();       // number -> what the element looked like and when, to find its successor
  const listening = new WeakSet(); // elements with pointer listeners, as DevTools told
  let listeners = [];             // WeakRefs of the same
  const handling = new WeakMap(); // element -> states that its other listeners stand for, as DevTools told
  const closed = new WeakMap();   // host -> closed shadow root, as DevTools told
  const known = new WeakSet();    // shadow roots that were come upon
  const roots = [];               // WeakRefs of the same
  const asked = new WeakSet();    // hosts that DevTools was asked about
  const delegated = new WeakSet(); // children for which their parent listens
  const letters = new WeakMap();  // iframe -> its letter
  let suspects = [];              // hosts that may have a closed shadow root
  let lastId = 0, lastLetter = 0, mutations = 0, walks = 0;
  let candidates = null;          // of this walk: what a budget chooses from
  let counted = null;             // how many they are, where they need not be listed
  let small = false;              // whether the page is small enough to ask every element for its cursor
  let memory = null;              // of this walk, in which the page cannot change: by what was asked, the answer for each element
  let parts = [];                 // of a page in parts, since its first one: how far each showed what, and how much of it counts

  // "a" to "z", then "Aa" to "Zz": whatever stands before and after, it reads in one way only. Frames that are gone keep theirs.
  const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];
  for (const first of [...LETTERS]) for (const second of LETTERS.slice(0, 26)) LETTERS.push(first.toUpperCase() + second);
  const set = words => new Set(words.split(' '));
  const SKIP = set('SCRIPT STYLE HEAD NOSCRIPT TEMPLATE LINK META BASE TITLE OBJECT EMBED PARAM SOURCE TRACK COL COLGROUP');
  const NATIVE = set('A AREA BUTTON INPUT SELECT TEXTAREA SUMMARY');
  const FIELDS = set('INPUT SELECT TEXTAREA');
  const DRAWN_FIELDS = /^(checkbox|radio|range)$/; // those that pages draw themselves; a transparent text field is a trap
  const BUTTON_TYPE = /^(submit|button|reset)$/; // types of inputs that are buttons
  const INLINE = set('A ABBR ACRONYM B BDI BDO BIG BUTTON CITE CODE DATA DEL DFN EM FONT I INPUT INS KBD LABEL MARK NOBR Q RUBY S SAMP SELECT SMALL SPAN STRIKE STRONG SUB SUP TIME TT U VAR WBR TEXTAREA OUTPUT SLOT');
  const HOSTS = set('ARTICLE ASIDE BLOCKQUOTE DIV FOOTER H1 H2 H3 H4 H5 H6 HEADER MAIN NAV P SECTION SPAN');
  const ACTIVE_ROLES = set('button link checkbox radio tab menuitem menuitemcheckbox menuitemradio switch combobox textbox option slider searchbox spinbutton treeitem gridcell scrollbar listbox');
  const ROLES = {
    ARTICLE: 'article', ASIDE: 'complementary', BLOCKQUOTE: 'blockquote', BUTTON: 'button', CANVAS: 'canvas', CAPTION: 'caption',
    CODE: 'code', DD: 'definition', DETAILS: 'group', DIALOG: 'dialog', DL: 'list', DT: 'term', FIELDSET: 'group', FIGCAPTION: 'caption',
    FIGURE: 'figure', FOOTER: 'contentinfo', FORM: 'form', H1: 'heading', H2: 'heading', H3: 'heading', H4: 'heading', H5: 'heading',
    H6: 'heading', HEADER: 'banner', HR: 'separator', IMG: 'img', LABEL: 'label', LEGEND: 'legend', LI: 'listitem', MAIN: 'main',
    MENU: 'list', METER: 'meter', NAV: 'navigation', OL: 'list', OPTION: 'option', OUTPUT: 'status', P: 'paragraph', PRE: 'code',
    PROGRESS: 'progressbar', SUMMARY: 'button', TABLE: 'table', TD: 'cell', TEXTAREA: 'textbox', TH: 'columnheader', TR: 'row',
    UL: 'list', VIDEO: 'video', AUDIO: 'audio',
  };
  // Kept for their place in the tree, but never acted on: they get neither id nor box, which halves the work on tables.
  const PLAIN = set('P LI TR TD TH UL OL DL DT DD LABEL LEGEND CAPTION FIGCAPTION BLOCKQUOTE PRE CODE FIGURE ARTICLE ASIDE FOOTER HEADER MAIN NAV MENU HR');
  const INPUT_ROLES = {
    button: 'button', checkbox: 'checkbox', color: 'color', date: 'date', 'datetime-local': 'datetime', file: 'file', image: 'button',
    month: 'month', number: 'spinbutton', radio: 'radio', range: 'slider', reset: 'button', search: 'searchbox', submit: 'button',
    time: 'time', week: 'week',
  };
  const SHOWN = ['type', 'placeholder', 'href', 'title', 'alt', 'name', 'min', 'max', 'step', 'pattern', 'maxlength', 'accept', 'download', 'target', 'src', 'colspan', 'rowspan'];
  const CANDIDATES = 'a[href],area[href],button,input:not([type=hidden]),select,textarea,summary,[role=button],[role=link],[role=checkbox],[role=radio],[role=tab],[role=menuitem],[role=switch],[role=combobox],[role=textbox],[role=option],[role=slider],[onclick],[tabindex],[contenteditable]';
  const NO_LINKS = 'button,input:not([type=hidden]),select,textarea,summary,[role],[onclick],[tabindex],[contenteditable]';
  // Bits, in the order of agent/observe/tree.py.
  const VISIBLE = 1, IN_VIEW = 2, CLICKABLE = 4, FRAME = 8, AROUND = 16, CHOOSES = 32; // AROUND: in view where what is around it is
  const CHECKED = 1, DISABLED = 2, EXPANDED = 4, SELECTED = 8, REQUIRED = 16, INVALID = 32, FOCUSED = 64, READONLY = 128,
    COLLAPSED = 256, PRESSED = 512, MIXED = 1024, MULTIPLE = 2048, CURRENT = 4096, MODAL = 8192,
    DRAGGABLE = 16384, DROP_TARGET = 32768, HOVERS = 65536, CONTEXT_MENU = 131072, KEYS = 262144, PLACED = 524288,
    GREYED = 1048576, HIGHLIGHTED = 2097152;
  const HANDLED = {
    dragstart: DRAGGABLE, drop: DROP_TARGET, dragover: DROP_TARGET, dragenter: DROP_TARGET, mouseenter: HOVERS, mouseover: HOVERS,
    pointerenter: HOVERS, pointerover: HOVERS, contextmenu: CONTEXT_MENU, keydown: KEYS, keyup: KEYS, keypress: KEYS,
  };
  // What `make` gives for an element; within one walk it is asked once.
  const remembered = (element, asked, make) => {
    if (!memory) return make(element);
    let answers = memory.get(asked);
    if (!answers) memory.set(asked, answers = new Map());
    if (!answers.has(element)) answers.set(element, make(element));
    return answers.get(element);
  };
  const canFocus = element => element.tabIndex >= 0 || element.hasAttribute('tabindex') || element.isContentEditable;
  // A framework hears everything at its root, for the controls in there.
  const ALL_KINDS = DRAGGABLE | DROP_TARGET | HOVERS | CONTEXT_MENU | KEYS;
  const hearsForOthers = element => (handling.get(element) & ALL_KINDS) === ALL_KINDS &&
    remembered(element, 'hears for others', () => !!element.querySelector(CANDIDATES) || remembered(document, 'around listeners', aroundListeners).has(element));
  const aroundListeners = () => {
    const around = new Set();
    for (const ref of listeners) for (let node = ref.deref()?.parentNode; node && !around.has(node); node = node.parentNode) around.add(node);
    return around;
  };
  const handles = element => {
    const bits = (hearsForOthers(element) ? 0 : handling.get(element) || 0) | (element.getAttribute('draggable') === 'true' ? DRAGGABLE : 0);
    return bits & KEYS && !canFocus(element) ? bits & ~KEYS : bits; // keys come to nothing that cannot have the focus
  };
  const OF_CONTROLS = HOVERS | CONTEXT_MENU | KEYS; // of a part of the page with controls in it, said of them
  const POINTER = 1, MUTE = 2, FADED = 4, STRUCK = 8, CODE = 16, BELOW = 32;
  const LISTS = set('listbox menu tree');
  const DELETED = set('DEL S STRIKE');
  const CELLS = set('cell gridcell columnheader rowheader');
  const APART_PX = 3; // between two words that no space parts
  const range = document.createRange();
  const ABOVE = 0.25; // what lies above the window counts for less than what lies below
  const NAME_CHARS = 150, MAX_DEPTH = 300, MAX_LEVELS = 30, MAX_OPTIONS = 200;
  const MAX_STYLED = 4000; // elements of a page on which each is asked for its cursor, where a budget counts what there is
  const CONTROL_CHARS = 40; // of the text of one control, as a guess
  const TOLD_CHARS = 2000; // more than is ever shown: a secret is hidden only whole, so before a text is cut further
  const TEXT_CHARS = 2000; // a text up to this long is not cut in two: a budget may be exceeded by it
  // What one look gives without a budget: characters of one text, and of all; texts and controls. No walk goes on after these.
  const MOST_OF_TEXT = 200_000, MOST_CHARS = 1_000_000, MOST_PARTS = 60_000;

  const idOf = element => {
    let id = ids.get(element);
    if (!id) { id = ++lastId; ids.set(element, id); refs.set(id, new WeakRef(element)); }
    return id;
  };
  // What the ids in a frame begin with; '' where there are too many frames.
  const letterOf = frame => {
    let letter = letters.get(frame);
    if (letter === undefined) { letter = LETTERS[lastLetter++] || ''; letters.set(frame, letter); }
    return letter;
  };
  // Marks without a width keep a line of a layout open, and say nothing.
  const squeeze = text => (/[\u200b\u2060\ufeff]/.test(text) ? text.replace(/[\u200b\u2060\ufeff]+/g, '') : text).replace(/\s+/g, ' ').trim();
  // Cut between characters: an emoji is two of JavaScript's.
  const clip = (text, chars) => text.length > chars ? text.slice(0, chars - 1).replace(/[\ud800-\udbff]$/, '') + '…' : text;
  // The beginning of a text, cut between words where there is one within reach.
  const upTo = (text, chars) => {
    const begun = text.slice(0, chars), at = begun.search(/\s\S{0,100}$/);
    return at > 0 ? begun.slice(0, at) : begun.replace(/[\ud800-\udbff]$/, '');
  };
  // Pages may hold halves of characters, which JSON can write and other programs refuse to read.
  const json = value => {
    const text = JSON.stringify(value);
    return text.includes('\\ud') ? text.replace(/\\(?:\\|ud[89a-f][0-9a-f]{2})/g, one => one === '\\\\' ? one : '\\ufffd') : text;
  };
  const whole = text => typeof text === 'string' ? text.toWellFormed() : text;
  const upper = element => element.tagName.toUpperCase(); // SVG and XHTML elements keep their case
  const shadowOf = element => {
    const root = element.shadowRoot || closed.get(element);
    if (root && !known.has(root)) {
      known.add(root);
      roots.push(new WeakRef(root));
      observer?.observe(root, OBSERVED);
    }
    return root;
  };
  const OBSERVED = { subtree: true, childList: true, attributes: true, characterData: true };
  let observer = null; // counts changes, once somebody asks for them
  const places = () => [document, ...roots.map(ref => ref.deref()).filter(root => root?.isConnected)];
  const parentOf = node => node.assignedSlot || node.parentNode || node.host;

  // --- names -------------------------------------------------------------------------------------------------------

  const wordsOf = text => squeeze(text.replace(/[-_/]+/g, ' ').replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase());
  const ICON_NOISE = /^(svg|(?:btn|button|menu|nav|tool|toolbar)?icons?|fa[bsrldt]?|fas|far|bi|mdi|ri|ti|la|lucide|feather|glyphicon|material|symbols?|outlined|rounded|solid|regular|inline|fw|lg|sm|xs|xl|md|\d+x?|w|h|size|block|img|image|sprite|css|js|ng|tabler|octicon|heroicons?|anticon|el|btn|button|ui|widget|state|corner|helper)$/;
  const WAYS = { n: 'up', s: 'down', e: 'right', w: 'left' };
  // The classes that say that an element is an icon; others are for the page's own style sheets, but on what is as small
  // and as empty as an icon.
  const ICON_CLASS = /(^|[\s_-])(icons?|fa[bsrldt]?|bi|mdi|ri|ti|la[bsr]?|glyphicon|material-symbols-\w+|lucide|feather|octicon|codicon|tabler|svg|emoji|sprite)([\s_-]|$)/i;
  const ICON_PX = 64;
  const isSmall = ({ width, height }) => width <= ICON_PX && height <= ICON_PX;
  // The words of the classes that name an icon, as "icon-trash", "fa fa-trash" or "icon trash" do; others lay it out.
  const namedIcon = said => {
    const classes = said.split(/\s+/), marks = classes.filter(one => ICON_CLASS.test(one));
    return marks.length ? iconWords(marks.join(' ')) || iconWords(classes.filter(one => /^[a-z]+$/.test(one)).join(' ')) : '';
  };
  const iconClass = element => {
    const said = element.getAttribute('class') || '';
    return namedIcon(said) || (!ICON_CLASS.test(said) && !element.childNodes.length && isSmall(element.getBoundingClientRect()) ? iconWords(said.split(/\s+/).filter(one => !/[a-z]\d|\d[a-z]/i.test(one)).join(' ')) : '');
  };
  // A letter or word of an icon font, or a picture among the letters, that screen readers are told to leave out. What tells
  // a state is no decoration.
  const isGlyph = element => {
    if (element.getAttribute('aria-hidden') !== 'true' || element.firstElementChild) return false;
    const text = element.textContent;
    if (/^\s*\p{Extended_Pictographic}\ufe0f?\s*$/u.test(text) && !TICKED.test(text)) return true;
    return /^[\s\ue000-\uf8ff]*$|^\s*[a-z]+(_[a-z0-9]+)*\s*$/.test(text) && (element.tagName === 'I' || ICON_CLASS.test(element.getAttribute('class') || ''));
  };
  const TICKED = /[\u2705\u2611\u2713\u2714]/, STATE_ICON = /\b(check|tick|done|lock|locked|pinned|star|warning|error|alert|success)\b/;
  // The texts of a control but for words of an icon font, and what screen readers leave out.
  const ICONS = '[aria-hidden=true], .material-icons, [class*=material-symbols]';
  const textsIn = element => {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), found = [];
    for (let text; (text = texts.nextNode());) if (text.data.trim() && !(text.parentElement !== element && text.parentElement.closest(ICONS))) found.push(text);
    return found;
  };
  // A text that shows once somebody points there. Screen readers say it at any time.
  const isFaint = ({ parentElement: around }) => around.checkVisibility({ visibilityProperty: true }) && !around.checkVisibility({ opacityProperty: true });
  const iconWords = text => {
    // "fa-solid fa-trash-can" -> "trash can"
    // and jQuery UI's compass, "ui-icon-triangle-1-n" -> "triangle up"
    const turned = text.replace(/-1-([nsew])\b/g, (_, way) => ' ' + WAYS[way]);
    const words = wordsOf(turned).split(' ').filter(word => !ICON_NOISE.test(word) && /^[a-z]{2,20}$/.test(word));
    return [...new Set(words)].slice(0, 3).join(' ');
  };
  const nameOfSvg = svg => {
    const said = svg.getAttribute('aria-label') || svg.querySelector(':scope > title')?.textContent || svg.getAttribute('title');
    if (said && squeeze(said)) return squeeze(said);
    const use = svg.querySelector('use');
    const symbol = use && (use.getAttribute('href') || use.getAttribute('xlink:href'));
    if (symbol) {
      const target = symbol.startsWith('#') && svg.getRootNode().getElementById?.(symbol.slice(1));
      const title = target && target.querySelector?.('title')?.textContent;
      const words = title ? squeeze(title) : iconWords(symbol.split('#').pop());
      if (words) return words;
    }
    for (const attribute of ['data-icon', 'data-testid', 'data-lucide', 'id', 'class']) {
      const told = svg.getAttribute(attribute) || '', words = attribute.startsWith('data') ? iconWords(told) : namedIcon(told);
      if (words) return words;
    }
    return shapeOf(svg);
  };
  // "rgb(250, 10, 5)" -> "red"; "" for what is transparent.
  const HUES = [[15, 'red'], [40, 'orange'], [70, 'yellow'], [165, 'green'], [200, 'cyan'], [260, 'blue'], [290, 'purple'], [340, 'pink'], [361, 'red']];
  const colourWord = css => {
    const [red, green, blue, alpha = 1] = (css.match(/[\d.]+/g) || []).map(Number);
    if (blue === undefined || alpha < 0.2) return '';
    const top = Math.max(red, green, blue), low = Math.min(red, green, blue), spread = top - low;
    if (top < 40) return 'black';
    if (spread < 25 || spread / top < 0.12) return low > 225 ? 'white' : 'grey';
    const turn = top === red ? (green - blue) / spread : top === green ? 2 + (blue - red) / spread : 4 + (red - green) / spread;
    const hue = (turn * 60 + 360) % 360;
    if (hue >= 15 && hue < 40 && top < 180) return 'brown';
    return (top < 150 ? 'dark ' : '') + HUES.find(([end]) => hue < end)[1];
  };
  // What somebody sees of an element that says nothing: its colour.
  const colourOf = element => {
    const style = getComputedStyle(element);
    return element.namespaceURI.endsWith('/svg') ? colourWord(style.fill) || colourWord(style.stroke) : colourWord(style.backgroundColor);
  };
  const shapeOf = svg => {
    const counts = new Map();
    for (const part of svg.querySelectorAll('path,circle,rect,line,polyline,polygon,ellipse,text')) {
      const tag = part.tagName.toLowerCase();
      if (tag === 'text') return squeeze(part.textContent);
      counts.set(tag, (counts.get(tag) || 0) + 1);
    }
    const parts = [...counts].map(([tag, count]) => count > 1 ? `${count} ${tag}s` : tag);
    return parts.length ? `icon of ${parts.join(', ')}` : '';
  };
  // The one text that a shape stands with in its group, as in legends.
  const besideIt = shape => {
    const drawn = shape.parentElement?.localName === 'g' ? [...shape.parentElement.querySelectorAll('text')] : [];
    const texts = drawn.filter(one => /[^\s\ue000-\uf8ff]/.test(one.textContent)); // letters of an icon font are none
    return texts.length === 1 ? squeeze(texts[0].textContent) : '';
  };
  // Lines of a drawing that may join two things, as in diagrams and editors of flows; an icon has none.
  const DRAWN_CHARS = 600, WIRE_PX = 24, WIRES = 200, REACH_PX = 12, END_CHARS = 40; // WIRES: of a drawing
  const linesOf = drawing => {
    let svg = drawing;
    while (svg.ownerSVGElement) svg = svg.ownerSVGElement;
    const lines = remembered(svg, 'lines', allLines);
    return drawing === svg ? lines : lines.filter(line => drawing.contains(line));
  };
  const allLines = svg => {
    if (Math.max(svg.clientWidth, svg.clientHeight) < 2 * WIRE_PX && getComputedStyle(svg).overflow === 'hidden') return [];
    return [...svg.querySelectorAll('path,line,polyline')].slice(0, WIRES).filter(line => {
      if (!line.checkVisibility()) return false; // what is not rendered has no length
      const style = getComputedStyle(line);
      return style.stroke !== 'none' && (line.localName === 'line' || style.fill === 'none') && line.getTotalLength() >= WIRE_PX;
    });
  };
  // What a line joins, in words: two things with words at its ends, neither of which holds the other; "" where it joins none.
  const wireOf = line => remembered(line, 'wire', joins);
  const joins = line => {
    const length = line.getTotalLength(), matrix = line.getScreenCTM();
    if (!matrix) return '';
    const at = from => line.getPointAtLength(from).matrixTransform(matrix);
    const [first, last] = [at(0), at(length)], [inner, outer] = [at(Math.min(4, length)), at(Math.max(0, length - 4))];
    const from = endOf(first, inner, last), to = from && endOf(last, outer, first);
    return to && to !== from ? clip(`line from ${from} to ${to}`, NAME_CHARS) : '';
  };
  // The words of what is at an end of a line or a little beyond it, seen from `before`, a point on the line.
  const endOf = (end, before, other) => {
    const way = Math.hypot(end.x - before.x, end.y - before.y) || 1;
    for (const far of [1, REACH_PX / 2, REACH_PX]) {
      const x = end.x + far * (end.x - before.x) / way, y = end.y + far * (end.y - before.y) / way;
      for (const hit of document.elementsFromPoint(x, y)) {
        if (hit.matches('svg,path,line,polyline,text,tspan,html,body')) continue;
        for (let node = hit; node && node.localName !== 'svg' && node !== document.body; node = node.parentElement) {
          const box = node.getBoundingClientRect();
          if (other.x >= box.left && other.x <= box.right && other.y >= box.top && other.y <= box.bottom) break;
          const words = squeeze(node.getAttribute('aria-label') || node.textContent);
          if (words) return clip(words, END_CHARS);
        }
      }
    }
    return '';
  };
  const fileName = url => {
    const last = (url || '').split(/[?#]/)[0].split('/').pop() || '';
    return url && !url.startsWith('data:') ? wordsOf(last.replace(/\.\w+$/, '')) : '';
  };
  // A field's own list of labels looks through the whole document for each field.
  const labelsOf = field => !memory && field.labels !== undefined ? [...field.labels || []] : remembered(field.getRootNode(), 'labels', allLabels).get(field) || [];
  const allLabels = root => {
    const labels = new Map();
    for (const label of root.querySelectorAll?.('label') || []) {
      const field = label.control || root.getElementById?.(label.htmlFor) || label.querySelector(COMBO_BOX);
      if (labels.has(field)) labels.get(field).push(label); else labels.set(field, [label]);
    }
    return labels;
  };
  // A list to choose from that a page makes of other elements: its text is its value, and no name.
  const COMBO_BOX = '[role=combobox]';
  const isComboBox = (element, tag) => !FIELDS.has(tag) && element.matches(COMBO_BOX);
  const BUTTONS = 'button,[role=button]';
  const labelText = (label, buttons) => {
    // A label's own words, without the value of the field inside it, be it a combo box, and what that lists. Those of
    // `buttons` in it are theirs.
    let text = '';
    const add = nodes => {
      for (const child of nodes) {
        if (child.nodeType === 3) text += child.data; // of texts side by side frameworks make one word
        if (child.nodeType !== 1) continue;
        text += ' ';
        if (child.nodeName === 'SLOT') add(child.assignedNodes({ flatten: true })); // what the component was given
        else if (!FIELDS.has(child.tagName) && !child.matches(COMBO_BOX + ',[role=listbox]') && (buttons || !child.matches(BUTTONS)) && (child.checkVisibility() || getComputedStyle(child).display === 'contents')) add(child.childNodes);
        text += ' ';
      }
    };
    add(label.childNodes);
    return squeeze(text);
  };
  const referred = (element, attribute) => {
    const root = element.getRootNode();
    const words = one => one.checkVisibility() && (labelText(one, false) || labelText(one, true)) || one.textContent;
    const label = one => one.getAttribute('aria-label')?.trim() || words(one);
    const named = element.getAttribute(attribute).split(/\s+/).map(id => id && root.getElementById?.(id)).filter(Boolean);
    const own = isComboBox(element, element.tagName); // what shows its value is named beside its label
    return squeeze(named.filter(one => !(own && element.contains(one))).map(label).join(' '));
  };
  // The name that does not come from the content.
  const givenName = (element, tag) => {
    if (element.hasAttribute('aria-labelledby')) { const text = referred(element, 'aria-labelledby'); if (text) return text; }
    const label = element.getAttribute('aria-label');
    if (label && label.trim()) return squeeze(label);
    if (tag === 'INPUT' && BUTTON_TYPE.test(element.type)) {
      return squeeze(element.value) || (element.type === 'button' ? squeeze(element.title) : element.type);
    }
    if ((FIELDS.has(tag) || isComboBox(element, tag)) && labelsOf(element).length) {
      const words = buttons => squeeze(labelsOf(element).map(label => labelText(label, buttons)).join(' '));
      const text = words(false) || (element.placeholder || element.title ? '' : words(true));
      if (text) return text;
    }
    if (tag === 'IMG' || tag === 'AREA' || (tag === 'INPUT' && element.type === 'image')) {
      return squeeze(element.alt || element.title || '');
    }
    if (tag === 'FIELDSET') return squeeze(element.querySelector(':scope > legend')?.textContent || '');
    if (tag === 'TABLE') return squeeze(element.caption?.textContent || '');
    return '';
  };
  // What people are shown while they point at the element.
  const HINTS = ['title', 'data-tooltip', 'data-title', 'data-original-title'];
  const hintOf = element => HINTS.map(name => element.getAttribute(name)).find(Boolean) || '';
  // Where neither author nor content gives a name.
  const lastName = (element, tag) => {
    const own = element.title || element.getAttribute('placeholder') || hintOf(element);
    if (own) return squeeze(own);
    if (isComboBox(element, tag)) return wordsBefore(element);
    if (FIELDS.has(tag)) return (/^(checkbox|radio)$/.test(element.type) ? wordsOfBox(element) : wordsBefore(element)) || wordsOf(element.name || element.id || '');
    const icon = element.querySelector('svg');
    if (icon) { const words = nameOfSvg(icon); if (words) return words; }
    const image = element.querySelector('img');
    if (image) return squeeze(image.alt || '') || fileName(image.currentSrc || image.src);
    if (element.namespaceURI.endsWith('/svg')) {
      const title = element.querySelector(':scope > title')?.textContent || (tag === 'SVG' ? nameOfSvg(element) : '');
      return squeeze(title) || linesOf(element).map(wireOf).find(Boolean) || besideIt(element) || squeeze(`${colourOf(element)} ${element.localName}`);
    }
    const letter = element.querySelector(ICONS)?.textContent.trim() || '';
    if (/^[a-z]+(_[a-z0-9]+)*$/.test(letter)) return wordsOf(letter); // of an icon font, by its word
    for (const inner of [element.querySelector('i,span'), element]) {
      const words = inner && iconClass(inner);
      if (words) return element.childElementCount ? words : squeeze(`${colourOf(element)} ${words}`);
    }
    const drawn = pictured(element);
    if (drawn) return drawn;
    if (tag !== 'A' && !element.childElementCount && colourOf(element)) return colourOf(element);
    return tag === 'A' ? fileName(element.getAttribute('href')) : '';
  };
  // What the file of a picture is called that a style puts in an element's place or behind it.
  const pictured = element => {
    const style = getComputedStyle(element), found = /url\("([^"]+)"\)/.exec(`${style.content} ${style.backgroundImage}`);
    return found ? iconWords(fileName(found[1])) : '';
  };
  const isRow = node => node.tagName === 'TR' || node.getAttribute('role') === 'row' ||
    (!FIELDS.has(node.tagName) && !!node.className && node.className === node.previousElementSibling?.className && node.tagName === node.previousElementSibling.tagName);
  // What the header above a field's column says.
  const columnOf = element => {
    const cell = element.closest('td'), header = cell?.closest('table')?.rows[0];
    const above = header && header !== cell.parentElement ? header.cells[cell.cellIndex] : null;
    return above?.tagName === 'TH' ? squeeze(above.textContent).slice(0, 60) : '';
  };
  // Whether a row says two things beside each other, the second more than a mark.
  const saysTwo = element => {
    const parts = [...element.children].filter(one => squeeze(one.textContent));
    if (parts.length !== 2 || !parts.every(one => /\p{L}|\p{N}/u.test(one.textContent))) return false;
    const [one, other] = parts.map(part => part.getBoundingClientRect());
    return other.left >= one.right - 1 && other.top < one.bottom && one.top < other.bottom;
  };
  // Text right behind a box that has no label, where people look for it.
  const wordsAfter = box => {
    for (let after = box.nextSibling; after; after = after.nextSibling) {
      if (after.nodeType === 1 && (after.matches('br, button, a[href], input, select, textarea') || after.querySelector('button, a[href], input, select, textarea'))) return '';
      const text = after.nodeType === 8 ? '' : squeeze(after.textContent || '');
      if (text) return text.length <= 60 ? text : '';
    }
    return '';
  };
  // Whether the words of the boxes that stand beside this one come before each of them: nothing stands after the last of
  // them but buttons, and words before the first.
  const NO_LABEL = 'br, button, input[type=hidden], input[type=submit], input[type=button], input[type=reset], input[type=image], script, style, template';
  const mayLabel = node => node.nodeType === 3 ? !!squeeze(node.data) : node.nodeType === 1 && !node.matches(NO_LABEL);
  const isLabelledBefore = box => remembered(box.parentNode, `${box.type} labelled before`, parent => {
    const nodes = [...parent.childNodes], boxes = nodes.filter(one => one.tagName === 'INPUT' && one.type === box.type);
    return !nodes.slice(nodes.indexOf(boxes.at(-1)) + 1).some(mayLabel) && nodes.slice(0, nodes.indexOf(boxes[0])).some(mayLabel) && !!wordsBefore(boxes[0]);
  });
  const wordsOfBox = box => {
    const words = wordsBefore(box);
    if (isLabelledBefore(box)) return words;
    let last = box.previousElementSibling;
    while (last && !(last.tagName === 'INPUT' && last.type === box.type)) last = last.previousElementSibling;
    return wordsAfter(box) || (last && words && wordsAfter(last) === words ? '' : words); // those are the words of the one before
  };
  // Text that stands before a field that has no label, as in table layouts.
  const wordsBefore = element => {
    const column = columnOf(element);
    if (column) return column;
    for (let node = element, steps = 0; node && steps < 3; node = node.parentElement, steps++) {
      if (isRow(node)) return ''; // what the row above says is said of other fields
      for (let before = node.previousSibling; before; before = before.previousSibling) {
        if (before.nodeType === 1 && (before.matches(`button, a[href], ${COMBO_BOX}`) || FIELDS.has(before.tagName) || before.querySelector(`input, select, textarea, button, a[href], [role=menuitem], [role=tab], [role=button], ${COMBO_BOX}`))) return '';
        const text = before.nodeType === 8 || before.localName === 'svg' ? '' : squeeze(before.textContent || '');
        if (text && (/:\s*\S/.test(text) || (before.nodeType === 1 && saysTwo(before)))) return ''; // a name with its value
        if (text) return text.length <= 60 ? text.replace(/\s*[:*]+$/, '') : '';
      }
      if (node.parentElement && /^(FORM|BODY|TABLE|FIELDSET)$/.test(node.parentElement.tagName)) return '';
    }
    return '';
  };

  // --- what an element is ------------------------------------------------------------------------------------------

  const isLink = element => element.hasAttribute('href') || element.hasAttribute('xlink:href'); // the latter in drawings
  const AROUND_TEXT = /^(application|document|article|main|region|group|form|paragraph)$/; // roles that an editor may have
  const roleOf = (element, tag, explicit) => {
    if (explicit && element.isContentEditable && !element.parentElement?.isContentEditable && AROUND_TEXT.test(explicit)) return 'textbox';
    if (explicit && explicit !== 'presentation' && explicit !== 'none') return explicit.split(' ')[0];
    if (tag === 'A' || tag === 'AREA') return isLink(element) ? 'link' : '';
    if (tag === 'INPUT') return INPUT_ROLES[element.type] || (element.hasAttribute('list') ? 'combobox' : 'textbox');
    if (tag === 'SELECT') return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
    if (tag === 'SVG') return 'img';
    if (element.isContentEditable) return 'textbox';
    return ROLES[tag] || '';
  };
  const statesOf = (element, tag) => {
    let bits = 0;
    const aria = name => element.getAttribute('aria-' + name);
    if (FIELDS.has(tag) || tag === 'BUTTON') {
      if (element.matches(':disabled')) bits |= DISABLED;
      if (element.required) bits |= REQUIRED;
      if (element.readOnly) bits |= READONLY;
      if (element.type === 'checkbox' || element.type === 'radio') {
        if (element.checked) bits |= CHECKED;
        if (element.indeterminate) bits |= MIXED;
      }
      if (element.multiple) bits |= MULTIPLE;
      // An empty required field is not yet wrong; what the browser shows after an attempt is.
      if (element.matches(':user-invalid')) bits |= INVALID;
    }
    if (element.attributes.length) {
      const checked = aria('checked');
      if (checked === 'true') bits |= CHECKED; else if (checked === 'mixed') bits |= MIXED;
      if (aria('disabled') === 'true') bits |= DISABLED;
      const expanded = aria('expanded');
      if (expanded === 'true') bits |= EXPANDED; else if (expanded === 'false') bits |= COLLAPSED;
      if (aria('selected') === 'true') bits |= SELECTED;
      if (aria('pressed') === 'true') bits |= PRESSED;
      if (aria('required') === 'true') bits |= REQUIRED;
      if (aria('readonly') === 'true') bits |= READONLY;
      const invalid = aria('invalid');
      if (invalid && invalid !== 'false') bits |= INVALID;
      const current = aria('current');
      if (current && current !== 'false') bits |= CURRENT;
      if (aria('modal') === 'true') bits |= MODAL;
    }
    if (tag === 'DETAILS') bits |= element.open ? EXPANDED : COLLAPSED;
    if (tag === 'SUMMARY' && element.parentElement?.tagName === 'DETAILS') bits |= element.parentElement.open ? EXPANDED : COLLAPSED;
    if (element === activeElement) bits |= FOCUSED;
    return bits | handles(element);
  };
  // What only the style of a control tells: greyed out, or another ground than its like siblings have.
  const PALE = 0.6, FEW = 0.25; // of siblings that look otherwise: rows of two colours in turn are more
  // The classes by which style sheets are told of a state; of one that is on, the style has to show it.
  const OFF = /(^|[\s-])disabled($|\s)/, ON = /(^|[\s-])(active|selected|pressed|checked|current|toggled)($|\s)/;
  const DEEP = 4; // groups around a control that may be pale as a whole
  const palenessOf = element => {
    let opacity = 1;
    for (let node = element, deep = 0; node?.nodeType === 1 && deep < DEEP; node = parentOf(node), deep++) {
      const own = +getComputedStyle(node).opacity || 1;
      if (own === 1 || !node.getAnimations().length) opacity *= own; // what is coming into sight is not greyed
    }
    return opacity;
  };
  // The element, or the item around it that holds nothing else.
  const itemOf = element => {
    const around = element.parentElement;
    return around && !element.previousElementSibling && !element.nextElementSibling && /^(LI|SPAN|DIV|TD)$/.test(around.tagName) && squeeze(around.textContent) === squeeze(element.textContent) ? around : element;
  };
  const saidOf = (element, pattern) => [element, itemOf(element)].some(one => pattern.test(one.getAttribute('class') || ''));
  const PAINTED = ['backgroundColor', 'color', 'borderBottomColor', 'borderTopColor', 'boxShadow', 'fontWeight', 'textDecorationLine', 'backgroundImage'];
  const standsOut = element => [...new Set([element, itemOf(element)])].some(item => {
    const isOn = one => ON.test(one.getAttribute('class') || '');
    const other = item.parentElement && isOn(item) && remembered(item.parentElement, `${item.tagName} that is not on`, parent =>
      [...parent.children].find(one => one.tagName === item.tagName && !isOn(one) && !one.matches(':hover')));
    const inner = one => one === item ? element : one.firstElementChild && item !== element ? one.firstElementChild : one;
    return other && [[item, other], [element, inner(other)]].some(([a, b]) => { const [one, two] = [getComputedStyle(a), getComputedStyle(b)]; return PAINTED.some(name => one[name] !== two[name]); });
  });
  // Whether a style or an icon puts a tick in front of the words of an item.
  const ticked = element => {
    if (FIELDS.has(element.tagName) || !squeeze(element.textContent)) return false;
    if (['::before', '::after'].some(part => TICKED.test(getComputedStyle(element, part).content))) return true;
    return [...element.querySelectorAll('i, span')].some(one => !one.textContent.trim() && /^(check|tick|checkmark)$/.test(namedIcon(one.getAttribute('class') || '')) &&
      one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !/^rgba\(.*, 0\)$/.test(getComputedStyle(one).color));
  };
  // The ground that most children of this tag have, where few have another one; '' where it tells nothing.
  const usualGround = (parent, tag) => remembered(parent, `ground of ${tag}`, () => {
    const counts = new Map();
    for (const one of parent.children) {
      if (one.tagName !== tag) continue;
      const colour = getComputedStyle(one).backgroundColor;
      counts.set(colour, (counts.get(colour) || 0) + 1);
    }
    const [most, times] = [...counts].reduce((best, one) => one[1] > best[1] ? one : best, ['', 0]), count = parent.childElementCount;
    return count - times <= count * FEW && counts.size === 2 ? most : '';
  });
  const looksOf = element => {
    const style = getComputedStyle(element), ground = style.backgroundColor;
    let bits = style.cursor === 'not-allowed' || palenessOf(element) < PALE || saidOf(element, OFF) ? GREYED : 0;
    if (ticked(element)) bits |= CHECKED;
    if (!element.matches(':hover') && standsOut(element)) bits |= HIGHLIGHTED;
    const parent = element.parentElement, count = small && parent ? remembered(parent, 'children', one => one.childElementCount) : 0;
    if (count > 3 && count <= 200 && !element.matches(':hover')) {
      const usual = usualGround(parent, element.tagName);
      if (usual && usual !== ground) bits |= HIGHLIGHTED;
    }
    return bits;
  };
  const attributesOf = (element, tag) => {
    if (!element.attributes.length && !FIELDS.has(tag) && !element.isContentEditable) return 0;
    const found = {};
    let any = 0;
    for (const { name, value } of element.attributes) {
      const wanted = name.startsWith('aria-') ? !/^aria-(label|labelledby|hidden|checked|disabled|expanded|selected|required|invalid|readonly)$/.test(name) : SHOWN.includes(name);
      if (wanted && value) { found[name] = clip(value, 300); any = 1; }
    }
    if (FIELDS.has(tag) && tag !== 'SELECT' && !/^(checkbox|radio|submit|button|reset|image|file)$/.test(element.type)) {
      const value = element.type === 'password' ? '•'.repeat(element.value.length) : element.value;
      if (value) { found.value = clip(value, tag === 'TEXTAREA' ? TEXT_CHARS : 500); any = 1; }
    } else if (tag === 'INPUT' && BUTTON_TYPE.test(element.type)) {
      // Its words, where an author gave it another name.
      const value = squeeze(element.value);
      if (value && value !== givenName(element, tag)) { found.value = clip(value, 300); any = 1; }
    } else if (tag === 'INPUT' && element.type === 'file') {
      const files = [...element.files].map(file => file.name).join(', ');
      if (files) { found.value = files; any = 1; }
    } else if (tag === 'SELECT') {
      found.value = [...element.selectedOptions].map(option => squeeze(option.label || option.text)).join(', '); any = 1;
    } else if (tag === 'PROGRESS' || tag === 'METER') {
      found.value = String(element.value); any = 1;
    } else if (element.isContentEditable && NATIVE.has(tag) === false) {
      const value = formatted(element);
      if (value) { found.value = clip(value, TEXT_CHARS); any = 1; }
    }
    return any ? found : 0;
  };
  // What an editor holds with the marks of Markdown: headings, items and what is bold or slanted look otherwise on a page.
  const MARKS = { B: '**', STRONG: '**', I: '_', EM: '_', CODE: '`', S: '~~', DEL: '~~' };
  const FORMATTED_CHARS = 4 * TEXT_CHARS; // more than is shown of an editor, with spaces
  const BOLD = 600; // a weight from which on letters look so
  // The mark of how an inline part looks otherwise than what is around it, whatever its tag.
  const markOf = (node, style) => {
    const own = MARKS[node.tagName], around = getComputedStyle(node.parentElement);
    if (own) return own;
    if (+style.fontWeight >= BOLD && +around.fontWeight < BOLD) return '**';
    if (style.fontStyle === 'italic' && around.fontStyle !== 'italic') return '_';
    return style.textDecorationLine.includes('line-through') ? '~~' : '';
  };
  const formatted = editor => {
    const items = new Map();
    const numberOf = list => items.set(list, (items.get(list) || 0) + 1).get(list);
    const lines = [''];
    const put = text => { lines[lines.length - 1] += text; };
    let left = FORMATTED_CHARS;
    const add = node => {
      if (left < 0) return;
      if (node.nodeType === 3) { left -= node.data.length; put(node.data.slice(0, FORMATTED_CHARS).replace(/\s+/g, ' ')); return; }
      if (node.nodeType !== 1 || SKIP.has(node.tagName)) return;
      if (node.tagName === 'BR') { lines.push(''); return; }
      if (node.tagName === 'IMG') { put(`![${squeeze(node.alt)}]`); return; }
      if (node.tagName === 'INPUT' && node.type === 'checkbox') { put(node.checked ? '[x] ' : '[ ] '); return; }
      const style = getComputedStyle(node);
      if (style.display === 'none') return;
      const block = !style.display.startsWith('inline') && style.display !== 'contents' && !/^(TD|TH)$/.test(node.tagName), mark = !block && squeeze(node.textContent) ? markOf(node, style) : '';
      if (block && lines[lines.length - 1].trim()) lines.push('');
      if (/^H[1-6]$/.test(node.tagName)) lines[lines.length - 1] = '#'.repeat(+node.tagName[1]) + ' ';
      else if (node.tagName === 'LI') lines[lines.length - 1] = node.parentElement.tagName === 'OL' ? `${numberOf(node.parentElement)}. ` : '- ';
      else if (node.tagName === 'BLOCKQUOTE') lines[lines.length - 1] = '> ';
      else if (/^(TD|TH)$/.test(node.tagName) && node.previousElementSibling) put(' | ');
      put(mark);
      for (const child of node.childNodes) add(child);
      put(mark);
      if (block) lines.push('');
    };
    for (const child of editor.childNodes) add(child);
    return lines.map(squeeze).filter(Boolean).join('\n');
  };
  const optionsOf = element => {
    const list = [];
    for (const option of element.options) {
      if (list.length >= MAX_OPTIONS && !option.selected) continue;
      if (option.hidden) continue;
      const one = [clip(squeeze(option.label || option.text || option.value), 100), clip(option.value, 100), option.selected ? 1 : 0];
      if (isOff(option)) one.push(1);
      list.push(one);
    }
    return list;
  };
  const isOff = option => option.disabled || (option.parentElement?.tagName === 'OPTGROUP' && option.parentElement.disabled);
  // All of them, as they can be chosen by their positions.
  const choosable = element => [...element.options].map(one => [squeeze(one.label || one.text || one.value), one.value, isOff(one)]);
  const hearsClicks = element => element.hasAttribute('onclick') || (listening.has(element) && !hearsForOthers(element)) || delegated.has(element);
  // Why an element takes clicks; 0 when it does not by itself.
  const kindOf = (element, tag, role) => {
    if (NATIVE.has(tag)) {
      if (tag === 'A' || tag === 'AREA') { if (isLink(element)) return 1; }
      else if (tag !== 'INPUT' || element.type !== 'hidden') return 1;
    }
    if (element.isContentEditable && !element.parentElement?.isContentEditable) return 3;
    if (role && ACTIVE_ROLES.has(role.split(' ')[0])) return 2;
    if (hearsClicks(element) && tag !== 'HTML' && tag !== 'BODY') return 4;
    if (element.hasAttribute('tabindex') && element.tabIndex >= 0 && tag !== 'BODY' && tag !== 'IFRAME') return 5;
    if ((tag === 'VIDEO' || tag === 'AUDIO') && element.controls) return 1;
    // What takes no clicks, but is dragged, dropped on, pointed at, or reacts to keys.
    const more = tag === 'HTML' || tag === 'BODY' ? 0 : handles(element);
    if (more & (DRAGGABLE | DROP_TARGET) || (more && !element.querySelector(CANDIDATES))) return 7;
    return 0;
  };
  let activeElement = null;
  const deepActive = () => {
    let active = document.activeElement;
    while (active && shadowOf(active)?.activeElement) active = shadowOf(active).activeElement;
    return active === document.body || active === document.documentElement ? null : active;
  };

  // --- what can be seen --------------------------------------------------------------------------------------------

  // Whether somebody who points at the element hits it (or what it consists of), at one of five points.
  // A walk may look twice, and on a page of many thousand boxes one hit test takes most of a millisecond.
  const reachable = (element, box, view) => remembered(element, 'reachable', () => pointedAt(element, box, view));
  const pointedAt = (element, box, view) => {
    const left = Math.max(box.left, view.left), right = Math.min(box.right, view.right);
    const top = Math.max(box.top, view.top), bottom = Math.min(box.bottom, view.bottom);
    const root = element.getRootNode();
    if (!root.elementFromPoint) return true;
    const width = right - left, height = bottom - top;
    for (const [x, y] of [[0.5, 0.5], [0.15, 0.5], [0.85, 0.5], [0.5, 0.15], [0.5, 0.85]]) {
      const hit = root.elementFromPoint(left + width * x, top + height * y);
      if (!hit) continue;
      if (hit === element || element.contains(hit) || (element.tagName === 'AREA' && hit === pictureOf(element))) return true;
      const label = hit.closest?.('label');
      if (label && label.control === element) return true;
      for (let node = hit; node; node = parentOf(node)) if (node === element) return true;
      // The boxes of an inline element's lines need not cover the middle of its bounding box.
      if (hit.contains(element) && element.getClientRects().length > 1) return true;
    }
    return false;
  };
  // Whether an element that cannot be pointed at now can be scrolled to inside a region of the page.
  const scrollable = (element, box) => {
    const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
    for (let node = parentOf(element); node; node = parentOf(node)) {
      if (node.nodeType !== 1) continue;
      const style = getComputedStyle(node);
      if (style.overflow === 'visible' || style.display === 'contents') continue;
      const edge = node.getBoundingClientRect();
      if (x >= edge.left && x <= edge.right && y >= edge.top && y <= edge.bottom) continue;
      if (/auto|scroll/.test(style.overflowX + style.overflowY) && (node.scrollHeight > node.clientHeight || node.scrollWidth > node.clientWidth)) return true;
      if (node !== document.body && node !== document.documentElement) return false;
    }
    return false;
  };
  // Whether an element lies under a bar that stays where it is while the page scrolls, and comes free when it does.
  const STAYS = /fixed|sticky/;
  const staying = node => {
    for (; node; node = parentOf(node)) if (node.nodeType === 1 && STAYS.test(getComputedStyle(node).position)) return node;
    return null;
  };
  const BAR = 0.5; // of the window's height at most: what is higher is a dialog or a curtain
  const underBar = (element, box, view) => {
    const x = (Math.max(box.left, view.left) + Math.min(box.right, view.right)) / 2, y = (Math.max(box.top, view.top) + Math.min(box.bottom, view.bottom)) / 2;
    let hit = document.elementFromPoint(x, y);
    for (let inner; hit && (inner = shadowOf(hit)?.elementFromPoint(x, y)) && inner !== hit;) hit = inner;
    const bar = hit && staying(hit);
    if (!bar || bar.contains(element) || staying(element)) return false;
    const edge = bar.getBoundingClientRect();
    if (edge.height > (view.bottom - view.top) * BAR) return false;
    const region = regionOf(element, false), below = region.scrollHeight - region.clientHeight - region.scrollTop, above = region.scrollTop;
    return (y < (view.top + view.bottom) / 2 ? above >= edge.bottom - box.top || (above > 0 && box.bottom > edge.bottom) : below >= box.bottom - edge.top || below > 0);
  };
  let leftEdge = 0; // of what can be scrolled to: pages that are read from right to left go on to the left
  const offPage = box => box.right + scrollX <= leftEdge || box.bottom + scrollY <= 0;
  const tiny = box => box.width < 2 || box.height < 2;
  // A field within a wrapper of a pixel, which clips it: libraries of components draw it anew.
  const isClipped = element => element.tagName === 'INPUT' && !!element.parentElement && tiny(element.parentElement.getBoundingClientRect()) &&
    getComputedStyle(element.parentElement).overflow !== 'visible';
  const hasNoArea = (element, box = element.getBoundingClientRect()) => tiny(box) || isClipped(element);
  // What is drawn for the field of a slider, which is clipped away in it.
  const thumbOf = element => {
    const thumb = element.type === 'range' ? (isClipped(element) ? element.parentElement : element).parentElement : null;
    return thumb && !tiny(thumb.getBoundingClientRect()) ? thumb : null;
  };

  // A check box, file field or select that is styled away, and the label that stands for it. A select without a choice
  // gets its options from the widget before it, which then has to be used itself.
  const standIn = (element, tag) => {
    if (tag === 'SELECT' ? element.options.length < 2 : tag !== 'INPUT' || !/^(checkbox|radio|file)$/.test(element.type)) return null;
    for (const label of labelsOf(element)) {
      if (label.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !tiny(label.getBoundingClientRect())) return label;
    }
    return null;
  };

  // A label's words are its field's name already: what shows the hand over them is the field's.
  const namesField = label => !!label.control && (label.control.checkVisibility() || !!standIn(label.control, upper(label.control)));
  const isOfLabel = element => {
    const label = element.closest('label');
    return label === element ? !!label.control || label.hasAttribute('for') : !!label && namesField(label) && !!squeeze(element.textContent);
  };

  // Where a click on what stands for a check box sets it, in pixels from its corner: a link or a button in a label takes
  // the click for itself. "anywhere" where there is none, "nowhere" where there is nothing else.
  const TAKES_CLICKS = 'a[href], button, [role=button], [role=link], input, select, textarea';
  const settingSpot = id => {
    const element = find(id);
    const plain = !element || (element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !hasNoArea(element));
    const area = plain ? element : standIn(element, element.tagName);
    if (!area || FIELDS.has(area.tagName) || !area.querySelector('a[href], button, [role=button], [role=link]')) return 'anywhere';
    area.scrollIntoView({ block: 'center', behavior: 'instant' });
    const corner = area.getBoundingClientRect();
    for (const box of area.getClientRects()) for (let x = box.left + 2; x < box.right; x += 4) {
      const y = (box.top + box.bottom) / 2, hit = area.getRootNode().elementFromPoint(x, y), taken = hit?.closest(TAKES_CLICKS);
      if (hit && area.contains(hit) && (!taken || taken === element || !area.contains(taken))) return [x - corner.left - area.clientLeft, y - corner.top - area.clientTop];
    }
    return 'nowhere';
  };

  // Areas of an image map have no boxes of their own: they lie on the picture that names the map.
  const pictureOf = area => {
    const name = area.closest('map')?.name;
    return name ? area.getRootNode().querySelector(`img[usemap="#${CSS.escape(name)}"]`) : null;
  };
  const coordsOf = (area, picture) => {
    const numbers = (area.coords.match(/-?\d+(\.\d+)?/g) || []).map(Number), shape = area.shape.toLowerCase();
    if (shape === 'default') return [[0, 0], [picture.width, picture.height]];
    if (shape.startsWith('circ')) { const [x, y, r] = numbers; return [[x - r, y - r], [x + r, y + r]]; }
    const points = [];
    for (let at = 0; at + 1 < numbers.length; at += 2) points.push([numbers[at], numbers[at + 1]]);
    return points;
  };
  const insideOf = picture => {
    const style = getComputedStyle(picture);
    return [parseFloat(style.paddingLeft), parseFloat(style.paddingTop)];
  };
  const areaBox = (area, picture) => {
    const points = coordsOf(area, picture), box = picture.getBoundingClientRect(), [dx, dy] = insideOf(picture);
    const xs = points.map(point => point[0]), ys = points.map(point => point[1]);
    const left = Math.min(...xs), top = Math.min(...ys), width = Math.max(...xs) - left, height = Math.max(...ys) - top;
    if (!(width > 0 && height > 0)) return new DOMRect();
    return new DOMRect(box.left + picture.clientLeft + dx + left, box.top + picture.clientTop + dy + top, width, height);
  };
  // Where on its picture an area is clicked: the middle of its corners, from the picture's inner edge.
  const spotOf = area => {
    const picture = pictureOf(area), points = picture ? coordsOf(area, picture) : [];
    if (!points.length) return null;
    const [dx, dy] = insideOf(picture), middle = axis => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
    return [dx + middle(0), dy + middle(1)];
  };

  // Rows of which one at a time can have the focus, or that say whether they are selected: each can be pressed, however few
  // say so themselves. The focus may be on a part of the row.
  const ROVING_MAX = 300, MANY_ROWS = 2000;
  const COMPOSITES = '[role=listbox],[role=tree],[role=grid],[role=treegrid],[role=menu],[role=tablist],[role=radiogroup],[role=list],ul,ol,tbody';
  const markRows = () => {
    for (const place of places()) {
      for (const row of place.querySelectorAll('[role=row][aria-selected], [role=listitem][aria-selected]')) delegated.add(row);
      const lists = new Set(), partLists = new Set();
      for (const first of place.querySelectorAll('[tabindex="0"]')) {
        const list = first.parentElement?.parentElement?.closest(COMPOSITES);
        if (list && !partLists.has(list) && !FIELDS.has(first.tagName)) {
          partLists.add(list);
          const parts = [...list.querySelectorAll(CSS.escape(first.tagName) + '[tabindex]')].filter(one => one.getAttribute('class') === first.getAttribute('class'));
          if (parts.length > 1 && parts.every(one => one === first || one.tabIndex < 0)) for (const one of parts) delegated.add(one);
        }
        if (lists.has(first.parentElement)) continue;
        lists.add(first.parentElement);
        if (lists.size > ROVING_MAX) break;
        const rows = first.parentElement ? [...first.parentElement.children].filter(one => one.tagName === first.tagName) : [];
        if (rows.length < 2 || rows.length > MANY_ROWS || FIELDS.has(first.tagName)) continue;
        if (rows.some(one => one !== first && one.tabIndex >= 0)) continue; // each is a stop of its own
        const classes = [...first.classList], listed = !!first.parentElement.closest(COMPOSITES);
        const alike = rows.filter(one => one === first || (listed && one.hasAttribute('tabindex')) || classes.some(name => one.classList.contains(name)));
        if (alike.length < 2 || (!listed && !alike.some(one => one !== first && one.hasAttribute('tabindex')))) continue;
        for (const one of alike) delegated.add(one);
      }
    }
  };

  // --- the walk ----------------------------------------------------------------------------------------------------

  const walk = options => {
    memory = new Map();
    try { return walked(options); } finally { memory = null; }
  };
  const walked = options => {
    if (!document.documentElement) { // the document is only just beginning
      return json({ tree: [], url: location.href, title: '', count: 0, chars: 0, less: false, omitted: 0, focus: 0, scroll: [0, 0], size: [innerWidth, innerHeight], page: [0, 0], suspects: 0, scale: devicePixelRatio });
    }
    const view = options.clip || { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    walks++;
    activeElement = deepActive();
    suspects = [];
    candidates = null;
    counted = null;
    listeners = listeners.filter(ref => ref.deref());
    small = document.getElementsByTagName('*').length <= MAX_STYLED;
    if (!options.part) parts = [];
    const edges = document.scrollingElement || document.documentElement;
    leftEdge = getComputedStyle(edges).direction === 'rtl' ? edges.clientWidth - edges.scrollWidth : 0;
    const modal = modalNow = [...document.querySelectorAll('dialog:modal')].pop() || null;
    markRows();
    let plan = planOf(options, view, 1);
    let found = pass(options, view, plan, modal);
    if (plan.bounded && !options.viewportOnly && options.part === 0 && found.pruned && found.count < plan.max * 0.9 && found.chars < plan.maxChars * 0.9) {
      // Room is left: what lies nearest to the viewport fills it.
      const share = Math.min(found.count ? plan.max / found.count : 20, found.chars ? plan.maxChars / found.chars : 20, 40);
      plan = planOf(options, view, share);
      found = pass(options, view, plan, modal);
    }
    if (found.ended && !plan.bounded) plan.total = countCandidates();
    const page = document.scrollingElement || document.documentElement;
    for (const node of [...plan.chosen ?? [], ...plan.texts ?? []]) if (!found.dropped.has(node) && !found.shown.has(node)) found.shown.set(node, Infinity);
    parts[options.part || 0] = { shown: found.shown, native: found.native };
    const native = parts.reduce((sum, part) => sum + part.native, 0), less = found.stopped || found.pruned;
    return json({
      tree: found.tree, url: location.href, title: document.title, count: found.count, chars: found.chars, less,
      omitted: less ? Math.max(found.cut, plan.total - native) : 0,
      focus: activeElement ? idOf(activeElement) : 0,
      scroll: [scrollX, scrollY], size: [innerWidth, innerHeight], page: [page.scrollWidth, page.scrollHeight],
      suspects: suspects.length, scale: devicePixelRatio, drawn: drawsMore(view), beyond: found.beyond,
    });
  };

  // A drawing that is told by its title, or is there to look nice alone: a chart has words in it.
  const isLogo = svg => !svg.querySelector('text, foreignObject') &&
    (svg.getAttribute('aria-hidden') === 'true' || !!svg.getAttribute('aria-label') || !!svg.querySelector(':scope > title'));
  // Whether something large is in the window that no words stand for: a canvas, a drawing, a picture without a text.
  const DRAWN = 0.02; // of the window's area
  const drawsMore = view => {
    const least = DRAWN * (view.right - view.left) * (view.bottom - view.top);
    return places().some(place => [...place.querySelectorAll('canvas, svg, img, video')].some(element => {
      if (element.tagName === 'IMG' && (element.alt.trim() || element.title || element.getAttribute('aria-label'))) return false;
      if (element.localName === 'svg' && isLogo(element)) return false;
      const box = element.getBoundingClientRect();
      const width = Math.min(box.right, view.right) - Math.max(box.left, view.left), height = Math.min(box.bottom, view.bottom) - Math.max(box.top, view.top);
      return width > 0 && height > 0 && width * height >= least && element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    }));
  };
  // What a bounded walk looks at: a band of the page around the viewport, and elements chosen one by one.
  const planOf = (options, view, share) => {
    // The first part of a page is as much as one look gives, and so is each of the others.
    const max = options.maxElements ?? Infinity, maxChars = options.maxChars ?? (options.part > 0 && max === Infinity ? MOST_CHARS : Infinity);
    const bounded = max < Infinity || maxChars < Infinity;
    const plan = { max, maxChars, bounded, band: null, keep: null, total: 0 };
    if (!bounded && !options.viewportOnly) return plan;
    const height = view.bottom - view.top, more = options.viewportOnly ? 0 : height * (share - 1);
    plan.band = { top: view.top - more * ABOVE, bottom: view.bottom + more * 1.3 };
    const chosenFrom = options.part > 0 || options.words?.length;
    const all = chosenFrom ? candidates ??= allCandidates() : [];
    plan.total = counted ??= chosenFrom || small ? (candidates ??= allCandidates()).filter(isThere).length : countCandidates();
    const chosen = [];
    if (options.part > 0) {
      plan.band = null;
      const earlier = parts.slice(0, options.part).filter(Boolean).map(part => part.shown);
      plan.from = node => {
        let most = 0;
        for (const shown of earlier) most = Math.max(most, shown.get(node) || 0);
        return most;
      };
      const isNew = plan.isNew = node => plan.from(node) < (node.nodeType === 3 ? node.data.length : 1);
      // Parts that were never asked for are taken to have shown as much as they could.
      const missing = options.top ? options.part - earlier.length : 0;
      const room = max < Infinity ? max : Math.max(1, Math.floor(maxChars / CONTROL_CHARS));
      chosen.push(...ranked(all, view, options.words).filter(isNew).slice(missing * room, (missing + 1) * room));
      plan.texts = nextTexts(plan, maxChars < Infinity ? maxChars : max * CONTROL_CHARS);
    } else if (options.words?.length) {
      chosen.push(...withWords(all, options.words).slice(0, max < Infinity ? Math.ceil(max / 2) : 200));
    }
    plan.keep = new Set();
    plan.chosen = new Set(chosen);
    for (const element of [...chosen, ...plan.texts ?? []]) {
      for (let node = element; node && !plan.keep.has(node); node = parentOf(node)) plan.keep.add(node);
    }
    return plan;
  };
  // How many there are: on a page of many thousand links half the time that it takes to list them.
  const countCandidates = () => {
    let count = 0;
    const add = element => { if (isThere(element)) count++; };
    for (const element of document.links) add(element);
    for (const element of document.querySelectorAll(NO_LINKS)) if (!element.href && element.matches(CANDIDATES)) add(element);
    for (const ref of listeners) if (isTarget(ref.deref()) && !ref.deref().matches(CANDIDATES)) add(ref.deref());
    for (const place of places()) if (place !== document) place.querySelectorAll(CANDIDATES).forEach(add);
    return count;
  };
  // Whether a person could reach an element by scrolling: closed menus and parked links are not there.
  const isThere = element => {
    const tag = upper(element), picture = tag === 'AREA' ? pictureOf(element) : null;
    const shown = picture || (element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) ? element : standIn(element, tag));
    if (!shown || !kindOf(element, tag, element.getAttribute('role') || '') && getComputedStyle(element).cursor !== 'pointer') return false;
    const box = shown.getBoundingClientRect();
    return !tiny(box) && !offPage(box) && !element.closest('[inert]') && (!modalNow || modalNow.contains(element));
  };
  let modalNow = null; // the dialog of this walk that everything else lies behind
  const isTarget = element => element?.isConnected && element.tagName !== 'BODY' && element.tagName !== 'HTML';
  // What a budget chooses from: what is native or says so, what listens, in every shadow root, and on a page that is not
  // too large for it what shows the pointing hand.
  const allCandidates = () => {
    const found = new Set();
    const gather = root => {
      for (const element of root.querySelectorAll(CANDIDATES)) found.add(element);
      for (const element of root.querySelectorAll('*')) {
        const shadow = shadowOf(element);
        if (shadow) gather(shadow);
        if (small && !found.has(element) && isTarget(element) && getComputedStyle(element).cursor === 'pointer' && !isOfLabel(element)) {
          const above = parentOf(element);
          if (above?.nodeType !== 1 || getComputedStyle(above).cursor !== 'pointer') found.add(element);
        }
      }
    };
    gather(document);
    for (const ref of listeners) if (isTarget(ref.deref())) found.add(ref.deref());
    return [...found];
  };
  // Text that no earlier part showed, or not to its end, in document order, as much as fits.
  const nextTexts = ({ isNew, from }, chars) => {
    const texts = new Set();
    for (const place of places()) {
      const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
      for (let node; chars > 0 && (node = walker.nextNode());) {
        if (SKIP.has(node.parentNode.nodeName) || !isNew(node) || !/\S/.test(node.data)) continue;
        texts.add(node);
        chars -= node.data.length - from(node);
      }
    }
    return texts;
  };
  const says = (element, words) => {
    const text = (element.textContent + ' ' + (element.getAttribute('aria-label') || '') + ' ' + (element.placeholder || '') + ' ' + (element.name || '') + ' ' + (element.title || '')).toLowerCase();
    return words.some(word => text.includes(word));
  };
  const withWords = (all, words) => {
    const wanted = words.map(word => word.toLowerCase());
    return [...all].filter(element => says(element, wanted));
  };
  const ranked = (all, view, words) => {
    const wanted = (words || []).map(word => word.toLowerCase());
    const rows = [];
    let order = 0;
    for (const element of all) {
      const picture = element.tagName === 'AREA' ? pictureOf(element) : null;
      const box = picture ? areaBox(element, picture) : element.getBoundingClientRect();
      if (!box.width && !box.height) continue;
      const away = wanted.length && says(element, wanted) ? -1 : Math.max(0, box.top - view.bottom, (view.top - box.bottom) / ABOVE);
      rows.push([away, order++, element]);
    }
    rows.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    return rows.map(row => row[2]);
  };

  const pass = (options, view, plan, modal) => {
    const hiddenIcons = new WeakSet(); // that screen readers are told to leave out
    const state = { count: 0, native: 0, chars: 0, texts: 0, cut: 0, stopped: false, ended: false, beyond: false, pruned: false, shown: new WeakMap(), dropped: new Set(), struck: [] };
    const { band, keep, chosen, texts } = plan;
    const limited = keep !== null;
    // Chosen elements have their places kept for them, wherever in the document they come.
    let reserved = chosen?.size ?? 0;
    let named = 0; // up to so many characters the text goes on: an element that is listed is named, whatever the budget
    const cramped = () => state.chars >= named && full();
    const full = () => state.count >= plan.max - reserved || state.chars >= plan.maxChars - reserved * CONTROL_CHARS;

    // Elements of a long list that can lie in the band: rows lie below each other, so their ends are found by halving.
    const rowsInBand = children => {
      if (!band) return [0, -1];
      const top = index => children[index].getBoundingClientRect().top;
      const step = Math.max(1, Math.floor(children.length / 12));
      for (let index = step, last = top(0); index < children.length; index += step) {
        const now = top(index);
        if (now < last) return [0, children.length - 1];
        last = now;
      }
      const firstAt = (edge) => {
        let low = 0, high = children.length;
        while (low < high) { const mid = (low + high) >> 1; if (top(mid) < edge) low = mid + 1; else high = mid; }
        return low;
      };
      return [Math.max(0, firstAt(band.top) - 2), Math.min(children.length - 1, firstAt(band.bottom) + 1)];
    };

    // How many levels of nodes are in a list of them.
    const heightOf = nodes => nodes.height || 0;
    const raise = (nodes, height) => { if (height > heightOf(nodes)) nodes.height = height; };

    // mode: POINTER where an ancestor shows the pointing hand; MUTE in what is hidden by visibility, which children may
    // undo; FADED in what is transparent or covered, which they may not.
    // out: the nodes of the nearest kept ancestor; out.broken: the next text begins a line of its own.
    const visit = (parent, mode, depth, out) => {
      const kids = parent.nodeType === 1 && parent.tagName === 'SLOT' && parent.assignedNodes().length ? parent.assignedNodes() : null;
      if (kids) { for (const child of kids) visitNode(child, mode, depth, out); return; }
      if (limited && parent.childElementCount > 150) {
        const children = parent.children;
        const [first, last] = rowsInBand(children);
        if (last - first + 1 < children.length) state.pruned = true;
        const shown = new Set();
        for (let index = first; index <= last; index++) shown.add(children[index]);
        const near = shown.size;
        for (const node of keep) if (node.parentNode === parent) shown.add(node);
        const inOrder = shown.size === near ? shown : [...shown].sort((a, b) => a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1);
        const textFrom = node => { // up to the next element
          for (; node && node.nodeType !== 1; node = node.nextSibling) if (!shown.has(node)) visitNode(node, mode, depth, out);
        };
        if (first === 0) textFrom(parent.firstChild);
        for (const child of inOrder) {
          visitNode(child, mode, depth, out);
          if (child.nodeType === 1) textFrom(child.nextSibling);
        }
        return;
      }
      for (let child = parent.firstChild; child; child = child.nextSibling) visitNode(child, mode, depth, out);
    };

    const addText = (content, out, node, mode) => {
      const from = texts?.has(node) ? plan.from(node) : 0;
      let data = content.slice(from), text = squeeze(data);
      if (!text) { if (data && out.length && typeof out[out.length - 1] === 'string') out.gap = true; return; }
      if (cramped()) {
        state.stopped = true;
        state.dropped.add(node);
        if (out[out.length - 1] !== '…') out.push('…'); // the reader is to know where something is missing
        return;
      }
      // A parser makes several texts of one that is long: they are one here.
      const last = out.length - 1, goesOn = last >= 0 && typeof out[last] === 'string' && !out.broken, left = MOST_OF_TEXT - (goesOn ? out[last].length : 0);
      const room = Math.min(left, Math.max(TEXT_CHARS, plan.maxChars - reserved * CONTROL_CHARS - state.chars));
      if (data.length > room) {
        state.stopped = true;
        state.beyond ||= room === left;
        if (room <= 0) return;
        data = upTo(data, room);
        text = squeeze(data) + ' …';
      }
      state.shown.set(node, from + data.length);
      state.chars += text.length + 1;
      state.texts++;
      const apart = out.gap || /^\s/.test(data);
      if (goesOn && !(apart && out[last].length >= TEXT_CHARS)) {
        out[last] += (apart ? ' ' : mode & CODE || from || !out.node || node.nodeType !== 3 ? '' : between(out.node, node)) + text;
      } else {
        if (!(mode & BELOW) && node.nodeType === 3) (out.starts ??= []).push([out.length, node]);
        out.push(text);
      }
      out.broken = false;
      out.node = node.nodeType === 3 && data.length === content.length ? node : null;
      out.gap = /\s$/.test(data);
    };
    // What keeps the words of two texts apart that no space parts: prices, badges and columns lie apart all the same, and
    // the digits of a power, a footnote or cents are raised.
    const charBox = (text, at) => { range.setStart(text, at); range.setEnd(text, at + 1); return range.getClientRects()[0]; };
    const between = (one, other) => {
      if ('([{/_='.includes(one.data.at(-1)) || ',.;)]}/_='.includes(other.data[0])) return ''; // they read well as they are
      const a = charBox(one, one.data.length - 1), b = charBox(other, 0);
      if (!a || !b) return '';
      if (b.top >= a.bottom || b.bottom <= a.top || b.left - a.right >= APART_PX || a.left - b.right >= APART_PX) return ' ';
      const raised = b.height < a.height * 0.95 && b.bottom < a.bottom - a.height * 0.1;
      return raised && /^[-+−]?\p{N}/u.test(other.data) && /[\p{L}\p{N}]$/u.test(one.data) ? '^' : '';
    };
    const FLOWS = set('inline inline-block contents');
    const visitInline = (element, style, mode, depth, out) => {
      const flows = mode & CODE || FLOWS.has(style.display);
      if (!flows) out.broken = true;
      visit(element, mode, depth, out);
      if (!flows) out.broken = true;
    };

    const visitNode = (node, mode, depth, out) => {
      if (state.chars >= MOST_CHARS || state.texts + state.count >= MOST_PARTS) state.ended = state.beyond = state.stopped = true;
      if (state.ended) return;
      if (node.nodeType === 3) {
        // An earlier part's, or a later one's; the space between two words is no part's own.
        if (texts && !texts.has(node) && /\S/.test(node.data) && !insideChosen(node.parentNode)) return;
        if (!(mode & (MUTE | FADED))) addText(node.data, out, node, mode);
        return;
      }
      if (node.nodeType !== 1) return;
      const tag = upper(node);
      if (SKIP.has(tag)) return;
      if (tag === 'BR') { out.broken = true; return; }
      if (node.attributes.length && isGlyph(node)) return;
      if (modal && !modal.contains(node) && !node.contains(modal)) return;
      if (node.inert) return;
      if (tag === 'AREA') {
        const picture = isLink(node) ? pictureOf(node) : null;
        if (picture?.checkVisibility({ visibilityProperty: true, opacityProperty: true })) emitControl(node, tag, 1, picture, out, depth);
        return;
      }
      if (!node.checkVisibility()) {
        // Slots and the like have no box of their own, but what is in them has.
        if (getComputedStyle(node).display === 'contents') { visit(shadowOf(node) || node, mode | modeOfLabel(node, tag), depth + 1, out); return; }
        const label = tag === 'INPUT' || tag === 'SELECT' ? standIn(node, tag) : null;
        if (label) emitControl(node, tag, 1, label, out, depth);
        return;
      }
      let box = null;
      if (limited && !keep.has(node)) {
        if (!band) { if (!insideChosen(node)) { state.pruned = true; return; } }
        else {
          box = node.getBoundingClientRect();
          if ((box.top > band.bottom || box.bottom < band.top) && box.height > 0 && tag !== 'BODY' && !insideChosen(node)) { state.pruned = true; return; }
        }
      }
      if (depth > MAX_DEPTH) { // what can be acted on so deep is not listed, and that is said
        state.stopped = true;
        state.cut++;
        addText(node.textContent, out, node, mode);
        return;
      }
      if (tag === 'SVG' && !kindOf(node, tag, node.getAttribute('role') || '')) { if (isPainted(node, mode)) emitDrawing(node, out, depth); return; }
      // An editor of rich text: libraries put one into a frame, whose whole body is the field.
      if (tag === 'BODY' && !options.top && node.isContentEditable) { emitControl(node, tag, 3, null, out, depth); return; }
      if (tag === 'HTML' || tag === 'BODY') { visit(shadowOf(node) || node, mode, depth + 1, out); return; }
      if (tag === 'IFRAME' || tag === 'FRAME') { emitFrame(node, box, out); return; }
      const role = node.getAttribute('role') || '';
      let kind = kindOf(node, tag, role);
      if ((kind === 4 || kind === 5) && delegates(node)) kind = 0;
      else if (kind === 2 && LISTS.has(role)) delegates(node);
      if (kind && kind !== 7) { emitControl(node, tag, kind, null, out, depth); return; }
      const style = getComputedStyle(node);
      let inner = mode & FADED;
      if (style.cursor === 'pointer') {
        inner |= POINTER;
        if (!(mode & POINTER) && !isOfLabel(node)) { emitControl(node, tag, 6, null, out, depth); return; }
      }
      if (kind) { emitControl(node, tag, kind, null, out, depth); return; }
      if (style.visibility !== 'visible') inner |= MUTE;
      if (style.opacity === '0') inner |= FADED;
      emitContainer(node, tag, role, inner | (mode & (STRUCK | CODE | BELOW)), depth, out, style);
    };
    const isItem = element => (element.tagName === 'LI' && !element.hasAttribute('role')) || (element.getAttribute('tabindex') === '-1' && /^(UL|OL|MENU)$/.test(element.parentElement?.tagName));
    // Whether the controls in its rows are what a list listens for: each row has one, or parts of a page have many. Where only
    // some rows have one, or few of a list's have a bar of them, the others would be out of reach.
    const ROW_CONTROLS = 3;
    const heldByControls = list => {
      const held = new Map();
      for (const one of list.querySelectorAll(CANDIDATES)) {
        if (one.parentElement === list || !kindOf(one, upper(one), one.getAttribute('role') || '')) continue;
        let row = one;
        while (row.parentElement !== list) row = row.parentElement;
        held.set(row, (held.get(row) || 0) + 1);
      }
      const full = [...held.values()].filter(count => count > ROW_CONTROLS).length, rows = /^(LI|TR)$/.test(list.firstElementChild?.tagName);
      return held.size === list.childElementCount || (rows ? 2 * full >= list.childElementCount : full > 0);
    };
    // A list that listens for its like children, as frameworks do: each child is a target, the list is not.
    const delegates = element => {
      let list = element;
      while (list.childElementCount === 1 && !isItem(list.firstElementChild)) list = list.firstElementChild;
      if (list.childElementCount && [...list.children].every(isItem)) { // a list, however short, and what can be focused by scripts alone
        if (heldByControls(list)) return false;
        for (const child of list.children) delegated.add(child);
        return true;
      }
      if (list.childElementCount < 3 || heldByControls(list)) return false;
      const first = list.firstElementChild;
      const alike = [...list.children].every(child => child.tagName === first.tagName &&
        (/^(LI|TR|TD|OPTION)$/.test(child.tagName) || (child.className && child.className === first.className)));
      if (alike) for (const child of list.children) delegated.add(child);
      return alike;
    };
    const insideChosen = node => {
      if (!chosen?.size) return false;
      for (let up = node; up; up = parentOf(up)) if (chosen.has(up)) return true;
      return false;
    };

    const flagsOf = box => {
      const inView = box.bottom > view.top && box.top < view.bottom && box.right > view.left && box.left < view.right;
      return VISIBLE | (inView ? IN_VIEW : 0);
    };
    // In view or not, told by a box of its own; without one, as what is around it.
    // Of what follows below the window in one list only each sixteenth is asked: a box costs as much as a row's text.
    const seenOf = (element, out, mode) => {
      if (mode & BELOW) return VISIBLE;
      if (out.far && out.far++ % 16) return VISIBLE;
      const box = element.getBoundingClientRect();
      if (!box.width && !box.height) return VISIBLE | AROUND;
      out.far = box.top >= view.bottom ? (out.far || 0) + 1 : 0;
      return flagsOf(box);
    };
    const place = box => [Math.round(box.left), Math.round(box.top), Math.round(box.width), Math.round(box.height)];

    // Whether an element was given a place of its own, as entries of a calendar are, and not just the next one of a stack.
    const isPlaced = (element, style) => {
      const own = element.style;
      if (!own || !(own.top || own.left || own.bottom || own.right || own.transform) || (style ||= getComputedStyle(element)).position !== 'absolute') return false;
      const box = element.getBoundingClientRect();
      if (tiny(box)) return false;
      const stacked = (one, edge, other) => one?.style?.position === own.position && Math.abs(one.getBoundingClientRect()[edge] - box[other]) <= 1 && Math.abs(one.getBoundingClientRect().left - box.left) <= 1;
      return !stacked(element.nextElementSibling, 'top', 'bottom') && !stacked(element.previousElementSibling, 'bottom', 'top');
    };

    const modeOfLabel = (element, tag) => tag === 'LABEL' && namesField(element) ? FADED : 0;
    // A control: a field, or something whose content is its name.
    const emitControl = (element, tag, kind, label, out, depth) => {
      const box = tag === 'AREA' ? areaBox(element, label) : (label || element).getBoundingClientRect();
      let flags = flagsOf(box);
      let usable = !(label ? tiny(box) : hasNoArea(element, box)) && (label || element.checkVisibility({ visibilityProperty: true, opacityProperty: true }));
      if (!usable) {
        const instead = label ? null : standIn(element, tag) || (isClipped(element) ? thumbOf(element) : null);
        if (instead) { emitControl(element, tag, kind, instead, out, depth); return; }
        // A transparent field that lies over what is drawn for it takes the clicks.
        usable = !tiny(box) && FIELDS.has(tag) && element.checkVisibility({ visibilityProperty: true }) &&
          (flags & IN_VIEW ? reachable(element, box, view) : DRAWN_FIELDS.test(element.type) && getComputedStyle(element).pointerEvents !== 'none');
      }
      if (usable && offPage(box)) usable = false;
      if (usable && (flags & IN_VIEW) && !reachable(tag === 'AREA' ? element : label || element, box, view)) {
        const thumb = label ? null : thumbOf(element);
        if (thumb) { emitControl(element, tag, kind, thumb, out, depth); return; }
        usable = scrollable(label || element, box) || underBar(label || element, box, view);
        flags &= ~IN_VIEW;
      }
      if (!usable && plan.bounded && kind !== 7 && (kind !== 6 || small) && isThere(element)) state.native++; // covered: no scrolling shows it
      if (!usable) {
        // Hidden, covered or without an area of its own: what it contains may still be there to be used.
        if (!FIELDS.has(tag)) {
          const style = getComputedStyle(element);
          // What is switched off for the pointer alone can be read as before.
          const spills = tiny(box) ? style.overflow === 'visible' : style.pointerEvents === 'none' && style.visibility === 'visible' && style.opacity !== '0';
          const asked = element.getAttribute('role') || '', meaning = CELLS.has(asked) ? asked : asked ? '' : /^T[DH]$/.test(tag) ? ROLES[tag] : '', cell = meaning ? [] : out;
          visit(shadowOf(element) || element, spills ? POINTER : POINTER | FADED, depth + 1, cell);
          if (cell !== out) { // its column stays where it is
            out.push([tag.toLowerCase(), 0, meaning, '', '', 0, 0, 0, 0, VISIBLE | AROUND, cell]);
            raise(out, heightOf(cell) + 1);
          }
        }
        return;
      }
      if (plan.isNew?.(element) === false) { // an earlier part's, with more in it than that could show
        visit(shadowOf(element) || element, POINTER, depth + 1, out);
        return;
      }
      const mine = chosen?.has(element);
      if (mine) reserved--;
      if (mine ? state.chars >= plan.maxChars : full()) {
        state.stopped = true;
        state.cut++;
        state.dropped.add(element);
        return;
      }
      state.shown.set(element, Infinity);
      const role = roleOf(element, tag, element.getAttribute('role'));
      const inner = [];
      const before = state.count, struckBefore = state.struck.length, native = state.native;
      state.count++;
      if (kind === 6 ? small : kind !== 7 && (!delegated.has(element) || element.matches(CANDIDATES) || listening.has(element))) state.native++;
      named = Math.max(named, state.chars + NAME_CHARS);
      // What listens for what is in it is no hand itself: what shows the hand there is each a target.
      const hand = kind !== 4 && kind !== 5 || getComputedStyle(element).cursor === 'pointer';
      if (!FIELDS.has(tag) && kind !== 3) visit(shadowOf(element) || element, (hand ? POINTER : 0) | modeOfLabel(element, tag), depth + 1, inner);
      // What listens within a button and is all that it holds, is the button.
      const part = kind <= 2 && isButton(element) ? onlyOf(inner) : null;
      if (part && !part[2]) {
        state.count = before + 1;
        inner.splice(0, inner.length, ...(part[3] && !givenName(element, tag) ? [part[3]] : []), ...(part[4] ? [part[4]] : []), ...(part[10] || []));
      }
      // The one icon in what listens and has a title is a part of it, unless it listens for something else.
      const only = kind === 4 && hintOf(element) && state.count === before + 2 ? inner.findIndex(node => isIconOf(node, hintOf(element))) : -1;
      if (only >= 0) { inner.splice(only, 1); state.count--; }
      // Around controls that are all there is in it, what listens or can be focused is no control of its own. Nor is a cell
      // around a link alone: a click on the link is one on the cell, too.
      const cell = CELLS.has(role) && inner.length === 1 && Array.isArray(inner[0]) && inner[0][9] & CLICKABLE && /^(a|button)$/.test(inner[0][0]);
      if (cell || state.count > before + 1 && (kind >= 4 && kind <= 6 || (kind <= 2 && sheath(element, inner))) && wraps(element, kind, inner, box)) {
        state.count--;
        if (cell) state.native = Math.max(native, state.native - 1);
        const said = inner.filter(node => typeof node === 'string'), control = said.length ? onlyOf(inner.filter(Array.isArray)) : null;
        if (control) { control[4] = squeeze([control[4], ...said].join(' ')); inner.splice(0, inner.length, control); }
        if (inner.length === 1 && /^(tab|menuitem)$/.test(role)) onlyOf(inner)[2] = role; // the link in it is how it is made
        if (inner.length === 1) inner[0][7] |= statesOf(element, tag) & (cell ? SELECTED | DISABLED | CURRENT : ~FOCUSED);
        raise(out, heightOf(inner));
        out.push(...inner);
        out.broken = true;
        return;
      }
      let name = givenName(element, tag), text = '', children = inner;
      let attributes = attributesOf(element, tag), states = statesOf(element, tag);
      // Blocks that have places of their own, or stand in what is only hovered over, are not one name.
      const leaf = state.count === before + 1 && !inner.some(holdsPlaced) && !(kind === 7 && !(states & DRAGGABLE) && inner.length > 1);
      const hint = squeeze(hintOf(element));
      if (!name && leaf && textsIn(element).every(isFaint)) name = squeeze(textsIn(element).map(text => text.data).join(' ')) || hint;
      // Beside words an icon that screen readers leave out tells a state alone, and beside a name no other is told either.
      const isDrawn = node => node[0] === 'svg', tellsState = node => hiddenIcons.has(node) && STATE_ICON.test(node[3]);
      const isLeftOut = name ? node => isDrawn(node) && !tellsState(node) : node => hiddenIcons.has(node) && !tellsState(node);
      const joined = leaf && !(hint && name === hint) ? squeeze((name || squeeze(plainText(inner, isDrawn))) ? plainText(inner, isLeftOut) : plainText(inner)) : '';
      if (leaf && isComboBox(element, tag)) {
        name ||= lastName(element, tag);
        if (joined) attributes = { ...attributes || {}, value: clip(joined, TEXT_CHARS) };
        children = [];
      } else if (leaf && joined.length <= NAME_CHARS) {
        text = joined; children = [];
        if (!name) name = joined; else if (name === joined) text = '';
        if (name === text) text = '';
      }
      // A widget's words beside the controls in it are its own name.
      const own = name || leaf || !/^(button|option|tab|treeitem|menuitem)/.test(role) ? '' : squeeze(inner.filter(node => typeof node === 'string').join(' '));
      if (own && own.length <= NAME_CHARS) { name = own; children = inner.filter(node => typeof node !== 'string'); }
      name ||= leaf || kind <= 2 ? lastName(element, tag) : hint;
      name = clip(name, NAME_CHARS);
      if (kind !== 7) flags |= CLICKABLE;
      if (shoalChooses(element)) flags |= CHOOSES;
      const id = idOf(element), struck = state.struck.length > struckBefore ? state.struck.slice(struckBefore).join(', ') : '';
      if (struck) attributes = { ...attributes || {}, struck: clip(struck, NAME_CHARS) };
      if (element.hasAttribute('style') && isPlaced(element)) states |= PLACED;
      if (kind !== 7 && !(states & DISABLED)) states |= looksOf(element);
      traits.set(id, [element.tagName, name, element.id, element.getAttribute('name'), element.getAttribute('href'), element.getAttribute('type'), walks]);
      state.chars += name.length + 12;
      raise(out, heightOf(inner) + 1);
      tellOutside(children, element, 0);
      out.push([tag.toLowerCase(), id, role, name, text, attributes, tag === 'SELECT' ? optionsOf(element) : 0, states, place(box), flags, children]);
      out.broken = true;
    };

    const isIconOf = (node, title) => {
      const drawn = Array.isArray(node) && node[9] & CLICKABLE && !node[2] && refs.get(node[1]).deref();
      return !!drawn && !drawn.textContent.trim() && (!hearsClicks(drawn) || (!!node[3] && wordsOf(title).includes(node[3])));
    };
    const onlyControls = nodes => nodes.every(node => Array.isArray(node) && (node[9] & CLICKABLE || node[0] === 'svg' || (!node[3] && !node[4] && node[10]?.length && onlyControls(node[10]))));
    const isButton = element => /^(A|BUTTON)$/.test(element.tagName) || /^(button|link)$/.test(element.getAttribute('role') || '');
    // A link, button, tab or entry of a menu around nothing but a button or link: what it says, the inner one says.
    const sheath = (element, inner) => (isButton(element) || /^(tab|menuitem)$/.test(element.getAttribute('role'))) && /^(button|link)$/.test(onlyOf(inner.filter(Array.isArray))?.[2]);
    // The only control in a part of a page that holds nothing else.
    const onlyOf = nodes => nodes.length !== 1 || !Array.isArray(nodes[0]) ? null : nodes[0][9] & CLICKABLE ? nodes[0] : onlyOf(nodes[0][10] || []);
    const OWN_ACTS = DRAGGABLE | DROP_TARGET | CONTEXT_MENU | PLACED;
    const WRAPPER = 0.25; // of what it takes clicks for, the controls in it cover at least so much
    const wraps = (element, kind, inner, box) => {
      if ((kind > 2 && delegated.has(element)) || statesOf(element, upper(element)) & OWN_ACTS) return false;
      const only = onlyOf(inner.filter(Array.isArray)), twice = !!only?.[3] && [element.getAttribute('aria-label'), element.title].includes(only[3]);
      if (twice && /^(button|link)$/.test(only[2])) return true; // a component's host, and the control in it of the same name
      if (!onlyControls(inner)) return false;
      if (element.getAttribute('aria-label') || element.title) return false;
      if (kind === 5) return !(handles(element) & KEYS); // a board that is moved on by keys is a control
      if (kind <= 2 || /^(checkbox|radio)$/.test(onlyOf(inner)?.[2])) return true; // the row of a box, whose words are the box's label
      const area = nodes => nodes.reduce((sum, node) => sum + (node[9] & CLICKABLE && node[8] ? node[8][2] * node[8][3] : node[10] ? area(node[10]) : 0), 0);
      return area(inner) >= WRAPPER * box.width * box.height;
    };

    // Whether a picture shows where what is around it may not.
    const isPainted = (picture, mode) => !(mode & FADED) && (!(mode & MUTE) || picture.checkVisibility({ visibilityProperty: true }));
    // A drawing is one icon, unless its shapes take clicks for themselves, or it joins things by lines.
    const emitDrawing = (svg, out, depth) => {
      const targets = [...svg.querySelectorAll('*')].filter(part => kindOf(part, upper(part), part.getAttribute('role') || '') % 7);
      const wires = new Set(), within = new Set(targets);
      for (const part of targets) emitControl(part, upper(part), 4, null, out, depth);
      for (const line of linesOf(svg)) {
        const name = wireOf(line);
        let control = line;
        while (control !== svg && !within.has(control)) control = control.parentElement;
        if (name && control !== svg && state.shown.has(control)) wires.add(name);
        else if (name && !wires.has(name)) { wires.add(name); emitIcon(line, out, name); }
      }
      const texts = [...svg.querySelectorAll('text,foreignObject')].slice(0, WIRES).filter(one => {
        let control = one;
        while (control !== svg && !within.has(control)) control = control.parentElement;
        return control === svg && one.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      });
      const words = squeeze(texts.map(one => one.textContent).join(' ')), told = squeeze(svg.getAttribute('aria-label') || svg.querySelector(':scope > title')?.textContent || '');
      if (words && (targets.length || texts.length > 1)) emitIcon(svg, out, clip(told ? `${told}: ${words}` : words, DRAWN_CHARS));
      else if (!targets.length && !wires.size) emitIcon(svg, out);
    };

    const emitIcon = (svg, out, name = clip(nameOfSvg(svg), 60)) => {
      if (cramped()) return;
      const box = svg.getBoundingClientRect();
      if (!name || (svg.localName === 'svg' && tiny(box))) return; // a level line has no height
      const icon = ['svg', 0, 'img', name, '', 0, 0, 0, place(box), flagsOf(box)];
      if (svg.closest('[aria-hidden=true]')) hiddenIcons.add(icon);
      out.push(icon);
      state.chars += name.length + 4;
      out.broken = true;
    };

    const emitFrame = (frame, known, out) => {
      const box = known || frame.getBoundingClientRect();
      if (tiny(box) || !frame.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return;
      const letter = letterOf(frame);
      if (!letter) { state.stopped = true; state.cut++; return; }
      const style = getComputedStyle(frame);
      const scale = frame.offsetWidth ? box.width / frame.offsetWidth : 1; // by which a transform draws it larger or smaller
      const left = box.left + (frame.clientLeft + parseFloat(style.paddingLeft)) * scale, top = box.top + (frame.clientTop + parseFloat(style.paddingTop)) * scale;
      out.push(['iframe', idOf(frame), 'frame', clip(frame.title || frame.name || '', NAME_CHARS), letter, attributesOf(frame, 'IFRAME'), [left, top, scale], 0, place(box), flagsOf(box) | FRAME]);
      out.broken = true;
    };

    // A part of the page that is not acted on: kept when it means something or holds several things, else dissolved.
    const emitContainer = (element, tag, role, mode, depth, out, style) => {
      const shadow = shadowOf(element);
      if (!shadow && !asked.has(element) && (tag.includes('-') || (HOSTS.has(tag) && !element.firstChild))) suspects.push(element);
      let meaning = role && role !== 'presentation' && role !== 'none' && role !== 'generic' ? role.split(' ')[0] : (ROLES[tag] || '');
      if (meaning === 'group' && element.getAttribute('aria-hidden') === 'true') meaning = ''; // drawn around a field
      if (tag === 'TH' && !role && /^row/.test(element.scope)) meaning = 'rowheader';
      if (tag === 'SECTION' && !role && (element.hasAttribute('aria-label') || element.hasAttribute('aria-labelledby'))) meaning = 'region';
      if (meaning === 'code') mode |= CODE;
      const struck = !(mode & (STRUCK | FADED | MUTE)) && (DELETED.has(tag) || (element.attributes.length && style.textDecorationLine.includes('line-through')));
      if (struck) mode |= STRUCK;
      if (!meaning && INLINE.has(tag) && !shadow && !struck) { visitInline(element, style, mode, depth + 1, out); return; }
      // What is in a block that lies below the window lies there, too.
      const cell = CELLS.has(meaning), plain = meaning && !cell && !role && PLAIN.has(tag), seen = plain ? seenOf(element, out, mode) : 0;
      if (plain && !(seen & (IN_VIEW | AROUND)) && out.far) mode |= BELOW;
      let inner = [];
      visit(shadow || element, mode | modeOfLabel(element, tag), depth + 1, inner);
      if (struck && inner.length) inner = [strikeOut(inner)];
      // Readers go down level by level: what is around too many of them is left out, not what it holds.
      const tooHigh = heightOf(inner) >= MAX_LEVELS;
      if (!meaning || tooHigh) {
        out.broken = true;
        if (inner.length > 1 && !tooHigh) tellOutside(inner, element, mode);
        const placed = inner.length && !tooHigh && element.hasAttribute('style') && isPlaced(element, style);
        if (placed) out.push(['div', 0, '', '', '', 0, 0, PLACED, place(element.getBoundingClientRect()), seenOf(element, out, mode), inner]);
        else if (inner.length > 1 && !tooHigh) out.push(['div', 0, '', '', '', 0, 0, 0, 0, seenOf(element, out, mode), inner]);
        else {
          if (inner.starts) for (const [at, node] of inner.starts) (out.starts ??= []).push([out.length + at, node]);
          out.push(...inner);
        }
        raise(out, heightOf(inner) + (placed || (inner.length > 1 && !tooHigh) ? 1 : 0));
        if (inner.length) out.broken = true;
        return;
      }
      raise(out, heightOf(inner) + 1);
      const unseen = mode & (MUTE | FADED) && !element.checkVisibility({ visibilityProperty: true, opacityProperty: true }); // but what is in it may be
      if (unseen && !inner.length && tag !== 'IMG' && !cell) return;
      let name = !unseen && (element.attributes.length || tag === 'FIELDSET' || tag === 'TABLE') || tag === 'IMG' ? givenName(element, tag) : '';
      if (tag === 'IMG') {
        name = name || squeeze(element.title || '');
        if (!name || cramped() || !isPainted(element, mode)) return;
      }
      let text = '', children = inner;
      if (inner.length === 1 && typeof inner[0] === 'string') { text = inner[0]; children = []; }
      if (meaning === 'row' && children.length && children.every(isBlank)) return;
      if (meaning === 'group' && !children.length && !text) return; // a border with a label is drawn by an empty one
      tellOutside(children, element, mode);
      if (PLAIN.has(tag) && !role) {
        if (!text && !children.length && !cell) return;
        const spans = cell && (element.colSpan > 1 || element.rowSpan > 1) ? { colspan: String(element.colSpan), rowspan: String(element.rowSpan) } : 0;
        out.push([tag.toLowerCase(), 0, meaning, name, text, spans, 0, 0, 0, cell ? VISIBLE | AROUND : seen, children]);
      } else {
        if (!name && meaning === 'heading') name = clip(squeeze(plainText(inner)), NAME_CHARS);
        const box = element.getBoundingClientRect();
        if (!children.length && !text && !name && !cell && tag !== 'CANVAS' && tag !== 'VIDEO' && tag !== 'PROGRESS' && tag !== 'METER') return;
        if (name === text) text = '';
        out.push([tag.toLowerCase(), idOf(element), meaning, clip(name, NAME_CHARS), text, attributesOf(element, tag), 0, statesOf(element, tag) & ~OF_CONTROLS, place(box), flagsOf(box), children]);
      }
      out.broken = true;
    };
    const holdsPlaced = node => Array.isArray(node) && (node[7] & PLACED || (Array.isArray(node[10]) && node[10].some(holdsPlaced)));
    // Text beside other things in what reaches beyond the window says for itself where it is not in it.
    const tellOutside = (nodes, element, mode) => {
      if (!nodes.starts || mode & BELOW) return;
      const box = element?.getBoundingClientRect();
      if (box && ((box.top >= view.top && box.bottom <= view.bottom) || !(flagsOf(box) & IN_VIEW))) return;
      let far = 0; // of what follows below the window only each sixteenth is asked
      for (const [at, node] of nodes.starts) {
        if (!(far && far++ % 16)) {
          range.selectNodeContents(node);
          const own = range.getBoundingClientRect();
          far = own.top >= view.bottom ? far + 1 : 0;
          if (!far && (flagsOf(own) & IN_VIEW || (!own.width && !own.height))) continue;
        }
        nodes[at] = ['#text', 0, '', '', nodes[at], 0, 0, 0, 0, VISIBLE];
      }
    };
    const isBlank = node => Array.isArray(node) && CELLS.has(node[2]) && !node[3] && !node[4] && !(node[9] & CLICKABLE) && !node[10]?.length;
    // What is crossed out is said to be: an old price stands beside the new one.
    const strikeOut = inner => {
      const plain = inner.every(one => typeof one === 'string');
      const text = plain ? inner.join(' ') : '';
      state.struck.push(text || squeeze(plainText(inner)));
      return ['del', 0, 'deletion', '', text, 0, 0, 0, 0, VISIBLE | AROUND, plain ? [] : inner];
    };
    const plainText = (nodes, isLeftOut = () => false) => nodes.filter(node => !isLeftOut(node)).map(node =>
      typeof node === 'string' ? node : node[3] + ' ' + node[4] + ' ' + (Array.isArray(node[10]) ? plainText(node[10], isLeftOut) : '')).join(' ');

    const top = [];
    visit(document, 0, 0, top);
    tellOutside(top, null, 0);
    return { ...state, tree: top };
  };

  // --- questions about single elements -----------------------------------------------------------------------------

  const alive = id => { const element = refs.get(id)?.deref(); return element?.isConnected ? element : null; };
  // The element that took the place of one that is gone: the only one of its kind that looks like it and has no id of
  // its own. Of several that looked alike when they were last seen, it cannot be told which one it replaces.
  const successor = id => {
    const known = traits.get(id);
    if (!known) return null;
    for (const [other, look] of traits) if (other !== id && look.every((value, index) => value === known[index])) return null;
    const [tag, name, elementId, formName, href, type] = known;
    const looks = element => !ids.has(element) && element.id === elementId && element.getAttribute('name') === formName &&
      element.getAttribute('href') === href && element.getAttribute('type') === type &&
      clip(nameOf(element, tag), NAME_CHARS) === name;
    const like = places().flatMap(place => [...place.querySelectorAll(CSS.escape(tag))]).filter(looks);
    if (like.length !== 1) return null;
    ids.set(like[0], id);
    refs.set(id, new WeakRef(like[0]));
    return like[0];
  };
  const find = id => alive(id) || successor(id);

  const valueOf = element => {
    if (!element) return null;
    if (element.type === 'checkbox' || element.type === 'radio') return element.checked ? 'checked' : 'unchecked';
    if (element.tagName === 'SELECT') return [...element.selectedOptions].map(option => squeeze(option.label || option.text)).join(', ');
    if (element.type === 'password') return '•'.repeat(element.value.length);
    if (element.type === 'file') return [...element.files].map(file => file.name).join(', ');
    if (FIELDS.has(element.tagName)) return element.value;
    if (element.isContentEditable) return element.innerText;
    if (element.matches(COMBO_BOX)) return squeeze(element.innerText || '');
    return element.getAttribute('aria-checked') ?? element.getAttribute('aria-selected') ?? element.getAttribute('aria-valuenow');
  };
  const nameOf = (element, tag) => givenName(element, tag) ||
    (FIELDS.has(tag) || isComboBox(element, tag) ? '' : squeeze(element.textContent.slice(0, TOLD_CHARS))) || lastName(element, tag);
  // An element in a word or two, for what is told about it.
  const brief = (element, chars = 60) => {
    const tag = upper(element), role = roleOf(element, tag, element.getAttribute('role')) || tag.toLowerCase();
    const name = nameOf(element, tag);
    return `${role}${name ? ' ' + JSON.stringify(clip(name, chars)) : ''}`;
  };
  // Whether a field looks up what is typed into it and shows what fits.
  const suggests = element => FIELDS.has(element.tagName) && (element.getAttribute('role') === 'combobox' ||
    /^(list|both)$/.test(element.getAttribute('aria-autocomplete') || '') || (!!element.getAttribute('aria-haspopup') && element.getAttribute('aria-haspopup') !== 'false') ||
    (element.getAttribute('autocomplete') === 'off' && !!(handling.get(element) & KEYS)) || /autocomplete|typeahead|suggest|tt-input|select2|choices/.test(element.className));
  // Whether a form around an element has fields by whose names Playwright asks its elements, and would get the fields.
  const ASKED = ['getAttribute', 'hasAttribute', 'parentElement', 'parentNode', 'nodeName', 'nodeType', 'assignedSlot', 'ownerDocument',
    'isConnected', 'tagName', 'matches', 'closest', 'contains', 'checkVisibility', 'getBoundingClientRect', 'children', 'childNodes',
    'firstChild', 'shadowRoot', 'style', 'querySelector', 'querySelectorAll', 'isContentEditable', 'hidden'];
  const isForced = element => {
    for (let node = element; node; node = parentOf(node))
      if (node instanceof HTMLFormElement && ASKED.some(name => node.elements.namedItem(name))) return true;
    return false;
  };
  // What an action may have changed; the first call begins to watch.
  const elementState = id => {
    if (!observer) {
      observer = new MutationObserver(records => { mutations += records.length; });
      for (const place of places()) observer.observe(place, OBSERVED);
    }
    const active = deepActive(), element = id ? find(id) : active;
    return {
      mutations, drawn: document.getElementsByTagName('canvas').length > 0, focus: active ? idOf(active) : 0, scroll: [scrollX, scrollY], found: !!(id && element), value: whole(valueOf(element)),
      tag: element ? element.tagName.toLowerCase() : '', type: element?.type || '', role: element?.getAttribute('role') || '',
      options: element?.tagName === 'SELECT' ? choosable(element) : undefined,
      keys: !!(element && handling.get(element) & KEYS), suggests: !!element && suggests(element), chooses: !!element && shoalChooses(element),
      open: !!(id && element) && open(element), expanded: element?.getAttribute('aria-expanded') ?? null, forced: isForced(element), file: !!element?.closest('a[download]'), readonly: !!element?.readOnly,
      selected: !!element?.matches?.('[aria-checked=true], [aria-multiselectable=true] [aria-selected=true]'),
      editable: !!element?.isContentEditable, disabled: !!element?.matches?.(':disabled, [aria-disabled=true]'),
      spot: element?.tagName === 'AREA' ? spotOf(element) : null,
      // Styled away, with a label that can be clicked in its place.
      label: !!element && (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || hasNoArea(element)) && !!standIn(element, element.tagName),
    };
  };
  // What an action on an element (without an id: on what has the focus) does by itself, and the nodes whose listeners hear
  // of it: the element with all above and in it, its labels, what has the focus now. `kind` is "" where that is open.
  const PUSHED = new Set(['submit', 'image', 'button', 'reset']), WITHIN_MAX = 300;
  const INTERACTIVE = 'button, input, select, textarea, label, summary, object, embed, iframe, [contenteditable]';
  const fieldKind = element => {
    if (element.tagName === 'SELECT') return 'select';
    if (element.tagName === 'TEXTAREA') return 'field';
    return element.tagName !== 'INPUT' || PUSHED.has(element.type) ? '' : element.list ? 'list' : 'field';
  };
  const linkKind = element => {
    let link = element;
    while (link && link.tagName !== 'A') link = parentOf(link);
    const plain = link?.hasAttribute('href') && /^https?:$/.test(link.protocol) && !link.hasAttribute('ping');
    return plain && !element.closest(INTERACTIVE) && !element.querySelector(INTERACTIVE) ? 'link' : '';
  };
  const around = id => {
    const active = deepActive(), element = id ? find(id) : active || document.body;
    if (!element) return null;
    const control = element.tagName === 'LABEL' ? element.control : element, nodes = new Set();
    const within = [...element.querySelectorAll('*')].filter(one => one.tagName !== 'OPTION' && one.tagName !== 'OPTGROUP');
    const starts = [element, ...(control ? [control, ...labelsOf(control)] : []), ...(active ? [active] : [])];
    for (const start of starts) for (let node = start; node; node = parentOf(node)) nodes.add(node);
    for (const node of within.slice(0, WITHIN_MAX)) nodes.add(node);
    nodes.add(document);
    const inside = [element, ...within], hidden = inside.some(one => one.shadowRoot || closed.has(one) || one.tagName.includes('-'));
    const elsewhere = active?.tagName === 'IFRAME' && active !== element;
    const found = [...nodes];
    found.kind = within.length > WITHIN_MAX || hidden || elsewhere ? ''
      : (control && fieldKind(control)) || linkKind(element) || (element.isContentEditable ? '' : element === document.body ? 'none' : 'other');
    return found;
  };
  const moving = node => node.nodeType === 1 && node.getAnimations().some(one => one.playState === 'running');
  // Whether a click on its middle would hit the element as it lies now, and goes on to lie.
  const open = element => {
    const target = standIn(element, element.tagName) && hasNoArea(element) ? standIn(element, element.tagName) : element;
    const box = target.getBoundingClientRect(), x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
    if (tiny(box) || x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return false;
    for (let node = target; node; node = parentOf(node)) if (moving(node)) return false;
    for (let node = target.getRootNode().elementFromPoint?.(x, y); node; node = parentOf(node)) if (node === target) return true;
    return false;
  };
  // Brings an element into the window; whether it can then be pointed at.
  const expose = id => {
    const element = find(id);
    element?.scrollIntoViewIfNeeded();
    if (!element || open(element)) return !!element;
    element.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' }); // free from bars at the window's edges
    return open(element);
  };
  const SCROLLS = /auto|scroll|overlay/;
  const regionOf = (element, across) => {
    for (let node = element; node; node = parentOf(node)) {
      if (node.nodeType !== 1) continue;
      const style = getComputedStyle(node);
      const room = across ? node.scrollWidth - node.clientWidth : node.scrollHeight - node.clientHeight;
      if (room > 1 && SCROLLS.test(across ? style.overflowX : style.overflowY)) return node;
    }
    return document.scrollingElement || document.documentElement;
  };
  const moved = (region, dx, dy) => {
    const before = [region.scrollLeft, region.scrollTop];
    region.scrollBy({ left: dx, top: dy, behavior: 'instant' });
    return region.scrollLeft !== before[0] || region.scrollTop !== before[1];
  };
  // Scrolls the region that holds the element by most of its height or width; whether it moved.
  const scrollRegion = (id, direction) => {
    const across = direction === 'left' || direction === 'right', sign = direction === 'up' || direction === 'left' ? -1 : 1;
    const region = regionOf(find(id), across);
    const step = sign * 0.8 * (across ? region.clientWidth : Math.min(region.clientHeight, innerHeight));
    return moved(region, across ? step : 0, across ? 0 : step);
  };
  // Scrolls the page, or its largest region where the page itself is as large as its window.
  const scrollPage = (dx, dy) => {
    const page = document.scrollingElement || document.documentElement;
    if (moved(page, dx, dy)) return true;
    const regions = [...document.querySelectorAll('*')].filter(node => regionOf(node, !dy) === node && node !== page);
    regions.sort((a, b) => b.clientWidth * b.clientHeight - a.clientWidth * a.clientHeight);
    return regions.some(region => moved(region, dx, dy));
  };

  // The item of a list or of an opened menu that has this text or position, and what there is to choose from.
  const CHOICES = '[role=option], [role=menuitem], [role=menuitemradio], [role=treeitem], [role=radio], [role=listbox] li, [role=menu] li, [role=list] li, ul li, ol li, option';
  let before = new WeakSet(); // what could be chosen before the widget was opened: other widgets' items
  const choicesIn = (scopes, widget) => scopes.flatMap(scope => [...scope.querySelectorAll(CHOICES)]).filter(item =>
    item !== widget && item.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !tiny(item.getBoundingClientRect()));
  const CONTROLS = '[aria-controls], [aria-owns]';
  const controlledBy = element => `${element.getAttribute('aria-controls') || ''} ${element.getAttribute('aria-owns') || ''}`.split(/\s+/)
    .map(name => name && element.getRootNode().getElementById?.(name)).filter(Boolean);
  // What can be chosen from for a widget: in it, in the lists that it names, in what came since it was opened, or
  // anywhere but in the lists of others.
  const choicesFor = widget => {
    if (/^(listbox|menu|radiogroup|tree)$/.test(widget?.getAttribute('role') || '')) return choicesIn([widget], widget);
    const naming = widget ? [widget, ...widget.querySelectorAll(CONTROLS)].filter(one => one.matches(CONTROLS)) : [];
    const own = choicesIn(naming.flatMap(controlledBy), widget);
    if (own.length) return own;
    const all = choicesIn(places(), widget), fresh = all.filter(item => !before.has(item));
    if (fresh.length || naming.length) return fresh; // the list that it names may not be there now
    const others = places().flatMap(place => [...place.querySelectorAll(CONTROLS)]).flatMap(controlledBy);
    // A field for text lists what fits it by roles: other rows of the page were there before.
    return all.filter(item => (widget?.tagName !== 'INPUT' || item.hasAttribute('role')) && !others.some(list => list.contains(item)));
  };
  const folded = text => squeeze(text).normalize('NFKC').toLowerCase();
  const label = item => squeeze(item.getAttribute('aria-label') || item.textContent);
  // Rows of a list that are none of its choices: what is switched off, messages, and what is made of the text that is typed.
  const TELLS = '[role=alert], [role=status], [role=log], [role=note], [role=heading], [role=separator], [role=progressbar], [aria-live]:not([aria-live=off])';
  const isMessage = row => [row, ...row.querySelectorAll(TELLS)].some(one => one.matches(TELLS) && label(one) === label(row));
  const isRefused = row => row.disabled || !!row.closest('[aria-disabled=true]') || getComputedStyle(row).pointerEvents === 'none';
  const choicesAmong = rows => { const isEcho = echoTest(); return rows.filter(row => !isRefused(row) && !isMessage(row) && !isEcho(row)); };
  const isChoice = row => choicesAmong([row]).length > 0;
  // What rows said beside each text that a field held: one that says the same beside every text, as "Zu: no results" and
  // "Zug: no results", is made of the text. Two texts tell it of a row that is alone, else three.
  const echoes = new WeakMap(); // field -> { text, texts: with rows, beside: words -> text -> whether it was alone, stood: words -> texts }
  const ECHOED = 3, MAX_ROWS = 50;
  const fieldsTyped = () => places().flatMap(place => [...place.querySelectorAll('input')]).filter(field => echoes.get(field)?.text);
  const noteRows = field => {
    const note = echoes.get(field) || { text: '', texts: new Set(), beside: new Map(), stood: new Map() }, rows = note.text ? choicesFor(field) : [];
    if (rows.length) note.texts.add(note.text);
    if (rows.length <= MAX_ROWS) for (const said of rows.map(row => folded(label(row)))) {
      note.stood.set(said, (note.stood.get(said) || new Set()).add(note.text));
      if (!said.includes(note.text)) continue;
      const beside = said.replace(note.text, '');
      note.beside.set(beside, (note.beside.get(beside) || new Map()).set(note.text, rows.length === 1));
    }
    echoes.set(field, Object.assign(note, { text: folded(field.value) }));
  };
  // A test for many rows: the fields are looked for once, and not for each row.
  const echoTest = (fields = fieldsTyped()) => row => fields.some(field => {
    const { text, texts, beside } = echoes.get(field), said = folded(label(row));
    const others = said.includes(text) ? [...beside.get(said.replace(text, '')) || []].filter(([other]) => other !== text) : [];
    return (others.length + 1 >= ECHOED && others.length === texts.size - texts.has(text)) || (others.length > 0 && others.every(([, alone]) => alone) && choicesFor(field).length === 1);
  });
  const choice = (id, wanted, exact) => {
    const isEcho = echoTest(), all = choicesFor(find(id)), shown = all.filter(item => !isMessage(item) && !isEcho(item)), free = shown.filter(item => !isRefused(item));
    const among = typeof wanted === 'number' ? shown : free, typed = among.filter(item => item.hasAttribute('role')), items = typed.length ? typed : among;
    const tests = typeof wanted === 'number' ? [(item, index) => index === wanted]
      : [item => label(item) === wanted, item => item.getAttribute('data-value') === wanted || item.getAttribute('value') === wanted,
         item => folded(label(item)) === folded(wanted), item => !exact && folded(label(item)).includes(folded(wanted))];
    let found = null;
    const groups = typeof wanted === 'number' ? [items] : [items, free, exact ? [] : shown]; // who asks is told of what is switched off
    for (const test of tests) for (const group of groups) found ||= group.find(test);
    if (exact && found && items.filter(item => label(item) === label(found)).length > 1) found = null; // which is meant is not told
    const open = unchosen.get(find(id));
    if (open && all.length) open.options = items.slice(0, 30).map(item => clip(label(item), TOLD_CHARS));
    if (open && exact) open.missed = all.some(item => folded(label(item)).includes(folded(wanted))) ? null : folded(wanted);
    return { id: found ? idOf(found) : 0, labels: items.slice(0, 30).map(label) };
  };
  // Fields that were typed into though what they send is chosen: until something is, with the text and its options.
  const unchosen = new WeakMap();
  // What a click on an element presses, by which a script may send: a button, or what hears clicks without being one.
  // Not what opens or is a list, holds a field, came once a field was typed into, or is an icon within a field's own part.
  const PRESSABLE = 'button, [role=button], input[type=button], input[type=submit], input[type=image]', FIELD_PART = 'input:not([type=hidden]), select, textarea';
  const OPENING = '[aria-haspopup]:not([aria-haspopup=false]), [aria-expanded], [aria-controls], [role=option], [role=option] *, [role=listbox] *, [role=menu] *, [role=combobox]';
  const pressed = element => {
    let at = element;
    while (at && !(at.nodeType === 1 && (at.matches(PRESSABLE) || hearsClicks(at)))) at = parentOf(at);
    if (!at || /^(HTML|BODY|LABEL)$/.test(at.tagName) || at.matches(OPENING)) return null;
    if (!at.matches(PRESSABLE)) {
      const since = places().flatMap(place => [...place.querySelectorAll('input')]).filter(field => unchosen.has(field)).map(field => unchosen.get(field).last);
      const there = [at, element].map(one => ids.get(one) || Infinity);
      if (at.matches(FIELD_PART) || at.querySelector(FIELD_PART) || at.closest(CHOICES) || !/^(|button|link)$/.test(at.getAttribute('role') || '')) return null;
      if (!since.some(last => Math.min(...there) <= last)) return null;
    }
    return /\p{L}{2}/u.test(at.getAttribute('aria-label') || at.value || at.textContent) || !isPartOfField(at) ? at : null;
  };
  // Whether an icon stands with one field of several: it opens or empties that. Beside all fields it sends them.
  const isPartOfField = icon => {
    let around = parentOf(icon);
    while (around && !(around.nodeType === 1 && around.querySelector(FIELD_PART))) around = parentOf(around);
    const fields = around ? around.querySelectorAll(FIELD_PART).length : 0;
    return icon.tabIndex < 0 && icon.hasAttribute('tabindex') || (fields === 1 && document.querySelectorAll(FIELD_PART).length > 1);
  };
  const noteTyped = field => {
    if (field?.isConnected && suggests(field)) noteRows(field);
    if (!field?.isConnected || !shoalChooses(field)) return;
    const note = { text: field.value, options: unchosen.get(field)?.options || [], beside: hiddenBeside(field), last: lastId };
    unchosen.set(field, note);
    setTimeout(() => { if (unchosen.get(field) === note) Object.assign(note, { text: field.value, beside: hiddenBeside(field) }); }); // the page has heard of it
  };
  // What hidden fields hold that stand nearer to this field than any other field to fill in: of suggestions, what was chosen.
  const hiddenBeside = field => {
    let around = field;
    for (let node = field.parentElement; node && [...node.querySelectorAll('input:not([type=hidden]), select, textarea')].every(one => one === field || PUSHED.has(one.type)); node = node.parentElement) {
      around = node;
      if (node.tagName === 'FORM') break;
    }
    return new Map([...around.querySelectorAll('input[type=hidden]')].map(one => [one, one.value]));
  };
  const wroteIn = (one, value) => !!one.value && one.value !== value;
  // Other hidden fields change by themselves: a challenge writes its token. One that is of this field shares a word of its name.
  const nameWords = field => `${field.name} ${field.id}`.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase().match(/\p{L}{3,}/gu)?.filter(word => !SAYS_LITTLE.test(word)) || [];
  const SAYS_LITTLE = /^(name|value|text|input|field|hidden|search|code|form|data|token|response|the)$/;
  const isNamedFor = (one, field) => { const own = new Set(nameWords(field)); return nameWords(one).some(word => own.has(word)); };
  const isOpen = field => {
    const note = unchosen.get(field);
    return !!note && !!field.value && folded(note.text) === folded(field.value) && !showsPick(note.pick) &&
      ![...note.beside].some(([one, value]) => wroteIn(one, value) && isNamedFor(one, field));
  };
  // Whether the list closed upon an option that goes by what the field holds: by these words alone, or with more that stands
  // apart from them. Words that go on, as "Zug not found", may say that it is pressed in vain.
  const APART = /^\s*[\p{Pd}\p{Ps},;|/·•]/u;
  const goesBy = (option, label, text) => {
    if (!label.startsWith(text)) return false;
    const rest = label.slice(text.length), lone = one => ![...one.parentNode.childNodes].some(other => other.nodeType === 3 && other.data.trim());
    return !rest || APART.test(rest) || [...option.querySelectorAll('*')].some(one => folded(one.textContent) === text && lone(one));
  };
  const showsPick = pick => pick?.named &&
    !(pick.option.isConnected && pick.option.checkVisibility({ visibilityProperty: true, opacityProperty: true }));
  const notePick = (field, option) => {
    if (isLost(field)) { unchosen.delete(field); return; }
    const said = folded(label(option)), text = folded(field.value);
    // Of what says more than the text and is alone, the field has to show that it is no message.
    const listed = said === text || choicesAmong(choicesFor(field)).length > 1 || [...echoes.get(field)?.stood.get(said) || []].some(other => other !== text);
    unchosen.get(field).pick = { option, named: listed && goesBy(option, said, text) };
    seeChosen(field);
  };
  // An option, or Enter in the field, chooses where a hidden field beside it holds something else right after.
  const TAKEN_MS = 300;
  const seeChosen = field => {
    const note = unchosen.get(field), then = new Map([...note.beside.keys()].map(one => [one, one.value]));
    const see = () => { if (unchosen.get(field) === note && [...then].some(([one, value]) => wroteIn(one, value))) unchosen.delete(field); };
    for (const wait of [0, TAKEN_MS]) setTimeout(see, wait);
  };
  // A field that is left shows whether it takes what was typed: it keeps that, or lets go of it within LEFT_MS.
  const LEFT_MS = 1000;
  const isLost = field => {
    const note = unchosen.get(field), left = note?.left;
    if (left && !note.lost && !note.pick && performance.now() - left.at <= LEFT_MS + TAKEN_MS) {
      note.lost = deepActive() !== field && folded(field.value) !== folded(note.text) && unseenBeside(field) === left.unseen && !cameBeside(field, left, note.text);
    }
    return !!note?.lost;
  };
  // Whether a field may take any text: nothing that is like this one was listed, no hidden field stands for a choice, and
  // the page does not find it wrong.
  const maySendTyped = field => {
    const note = unchosen.get(field), wrong = field.getAttribute('aria-invalid') || 'false';
    return !note.pick && note.missed === folded(field.value) && field.value.length <= 200 && wrong === 'false' && field.validity.valid &&
      !hiddenBeside(field).size && ![...field.form?.elements || []].some(one => one.type === 'hidden' && (!one.value || isNamedFor(one, field)));
  };
  // The fields of a form, or of the part of the page around `control`, that hold what was typed and not chosen, and those
  // that lost it when they were left, which is told once. `alike`: as many controls hold the same.
  const unchosenIn = (form, control) => {
    const fields = fieldsFor(form, control);
    return fields.filter(isUndecided).map(field => {
      const note = unchosen.get(field), lost = isLost(field), text = lost ? note.text : field.value;
      if (lost) unchosen.delete(field);
      return {
        name: brief(field, TOLD_CHARS), text: clip(text, TOLD_CHARS), options: note.options, holds: lost ? clip(field.value, TOLD_CHARS) : null,
        kept: !lost && maySendTyped(field), alike: fields.filter(one => squeeze(one.value || '') === squeeze(text)).length,
      };
    });
  };
  // Takes the focus from a field that holds what was typed and not chosen, as a press on what sends it will.
  const leaveTyped = () => { const field = deepActive(); if (field && isOpen(field)) field.blur(); };
  const LANDMARKS = 'body, header, nav, footer, [role=banner], [role=navigation], [role=contentinfo]';
  const fieldsFor = (form, control) => {
    if (form) return [...form.elements];
    for (let node = control?.parentElement, first = true; node && (first || !node.matches(LANDMARKS)); node = node.parentElement, first = false) {
      const fields = [...node.querySelectorAll('input')].filter(field => !field.form && !PUSHED.has(field.type) && field.type !== 'hidden');
      if (fields.length) return fields;
    }
    return [];
  };
  const isUndecided = field => isOpen(field) || isLost(field);
  const openFields = () => places().flatMap(place => [...place.querySelectorAll('input')]).filter(isUndecided);
  // The option of its list on which a field's keys are.
  const markedOption = field => {
    const marked = field.getRootNode().getElementById?.(field.getAttribute('aria-activedescendant') || '');
    return marked || choicesFor(field).find(item => item.getAttribute('aria-selected') === 'true') || null;
  };
  // Whether Enter in a field chooses from its list, and sends nothing.
  const entersChoice = field => {
    const marked = markedOption(field);
    return marked ? isChoice(marked) : field.getAttribute('aria-expanded') === 'true' && choicesAmong(choicesFor(field)).length > 0;
  };
  // What people do, as the document hears it before its scripts do: scripts' own events are not trusted.
  const hear = (event, heard) => addEventListener(event, told => {
    if (told.isTrusted) heard(told.composedPath().filter(node => node.nodeType === 1), told);
  }, { capture: true, passive: true });
  hear('input', ([target]) => noteTyped(target?.tagName === 'INPUT' ? target : deepActive()));
  for (const event of ['pointerdown', 'click']) hear(event, path => {
    const option = path.find(node => node.matches(CHOICES));
    if (option && isChoice(option)) openFields().filter(field => choicesFor(field).includes(option)).forEach(field => notePick(field, option));
    if (!option && path[0] && !path[0].matches(FIELD_PART) && !pressed(path[0])) openFields().forEach(seeChosen);
  });
  let onto = null; // what the mouse goes down on now: a press on what may be an option is no leaving
  hear('pointerdown', ([target]) => { onto = target; setTimeout(() => { onto = null; }); });
  hear('blur', ([field]) => {
    const note = unchosen.get(field);
    if (!note || !isOpen(field) || (onto && !onto.matches(FIELD_PART) && !pressed(onto))) return;
    note.left = { at: performance.now(), ...besideNow(field) };
    for (const wait of [TAKEN_MS, LEFT_MS]) setTimeout(() => isLost(field), wait);
  });
  hear('keydown', (_, { key }) => {
    const field = deepActive(), option = key === 'Enter' && field && unchosen.has(field) && markedOption(field);
    if (option && isChoice(option)) notePick(field, option);
    else if (key === 'Enter' && field && unchosen.has(field)) seeChosen(field);
  });
  // What the form of a field sends beside the field itself: a list of suggestions keeps what was chosen there.
  const sentBeside = field => [...field?.form?.elements || []].filter(one => one !== field && one.name && !one.disabled).map(one =>
    [one.name, /^(checkbox|radio)$/.test(one.type) ? one.checked : one.tagName === 'SELECT' ? [...one.selectedOptions].map(option => option.value) : one.value]);
  // The texts around a field, each with its element.
  const textsBeside = field => new Map([...(field?.form || field?.parentElement?.parentElement || document.body).querySelectorAll('*')]
    .filter(one => !one.childElementCount && !one.closest(CHOICES) && one.checkVisibility({ visibilityProperty: true })).map(one => [one, folded(one.textContent)]));
  const besideNow = field => ({ sent: JSON.stringify(sentBeside(field)), unseen: unseenBeside(field), texts: textsBeside(field) });
  const unseenBeside = field => JSON.stringify([...field?.form?.elements || []].filter(one => one !== field && one.name && isUnseen(one)).map(one => [one.name, one.value]));
  const isUnseen = one => one.type === 'hidden' || !one.checkVisibility({ visibilityProperty: true }) || tiny(one.getBoundingClientRect());
  let besides = { sent: '', texts: new Map() }; // before one was chosen: sites forget an earlier choice while one types
  const cameBeside = (field, then, text) => [...textsBeside(field)].some(([one, words]) => words === folded(text) && then.texts.get(one) !== words);
  // Whether a field took what was chosen from its list: its form sends something else than before, the text came to stand
  // beside the list, or the field shows it and its list is closed. A field without a form tells by its text alone, and one
  // that went away, as with a page that the choice opened, tells nothing.
  const took = (id, chosen, text) => {
    const taken = isTaken(id, chosen, text), field = find(id);
    if (taken) unchosen.delete(field);
    else if (!unchosen.has(field)) noteTyped(field);
    return taken;
  };
  const isTaken = (id, chosen, text) => {
    const field = find(id), option = find(chosen);
    const listed = option?.isConnected && option.checkVisibility({ visibilityProperty: true }) && !tiny(option.getBoundingClientRect());
    if (!field) return true;
    // A widget closes its list, marks the option, or shows it; one that lists its options itself need not say anything.
    if (!FIELDS.has(field.tagName)) {
      const marked = option && ['aria-selected', 'aria-checked'].filter(name => option.hasAttribute(name));
      if (!listed || !marked.length || marked.some(name => option.getAttribute(name) === 'true')) return true;
    }
    if ((!listed || !field.form) && folded(field.value || '') === folded(text)) return true;
    return (field.form && JSON.stringify(sentBeside(field)) !== besides.sent) || cameBeside(field, besides, text);
  };
  // Whether a closed shadow root shows this text; the rest of the page Playwright sees for itself.
  const closedSays = text => places().some(place => place !== document && place.mode === 'closed' &&
    [...place.children].some(child => (child.innerText || '').toLowerCase().includes(text.toLowerCase())));

  // The only element that a CSS selector or an XPath finds below `root`, or null.
  const onlyOne = (selector, root) => {
    let found = [];
    try {
      if (/^[/(]/.test(selector)) {
        if (root !== document) return null;
        const answer = document.evaluate(selector, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
        for (let index = 0; index < Math.min(answer.snapshotLength, 2); index++) found.push(answer.snapshotItem(index));
      } else found = [...root.querySelectorAll(selector)];
    } catch { return null; } // it is no selector
    return found.length === 1 && found[0].nodeType === 1 ? found[0] : null;
  };
  // The ids of what is found, 0 for nothing, in the open shadow root that CSS selectors of hosts lead to.
  const locate = (selectors, hosts) => {
    const root = hosts.reduce((at, host) => at && onlyOne(host, at)?.shadowRoot, document);
    return selectors.map(selector => { const element = root && onlyOne(selector, root); return element ? idOf(element) : 0; });
  };
  // The only frame that a CSS selector finds: its id and what the ids in it begin with; null where there is none.
  const frameAt = selector => {
    const element = onlyOne(selector, document);
    return element && /^I?FRAME$/.test(element.tagName) && letterOf(element) ? [idOf(element), letterOf(element)] : null;
  };
  // The CSS selectors, by position in its own root, of each shadow host around an element, outermost first, and of itself.
  const pathOf = id => {
    const told = [];
    for (let element = find(id); element;) {
      const steps = [], root = element.getRootNode();
      for (let node = element; node?.nodeType === 1; node = node.parentElement) {
        const like = [...node.parentNode.children].filter(one => one.localName === node.localName);
        steps.unshift(`${CSS.escape(node.localName)}:nth-of-type(${like.indexOf(node) + 1})`);
      }
      told.unshift((root === document ? '' : ':host > ') + steps.join(' > '));
      if (root === document) return told;
      element = root.mode === 'open' ? root.host : null; // of none in a closed root, and of none that left the page
    }
    return null;
  };
  // A CSS selector and an XPath for an element of this document: by its id where that is its own, else by its place.
  const selectorsOf = id => {
    const element = find(id);
    if (!element || element.getRootNode() !== document) return null;
    if (element.id && document.querySelectorAll('#' + CSS.escape(element.id)).length === 1 && !element.id.includes('"')) {
      return ['#' + CSS.escape(element.id), `//*[@id="${element.id}"]`];
    }
    const css = [], path = [];
    for (let node = element; node?.nodeType === 1; node = node.parentElement) {
      const tag = node.localName, like = node.parentElement ? [...node.parentElement.children].filter(one => one.localName === tag) : [node];
      const at = like.indexOf(node) + 1;
      css.unshift(like.length > 1 ? `${CSS.escape(tag)}:nth-of-type(${at})` : CSS.escape(tag));
      // XPath knows no SVG by its plain name in HTML documents.
      const step = node.namespaceURI === 'http://www.w3.org/1999/xhtml' ? tag : `*[name()="${node.nodeName}"]`;
      path.unshift(like.length > 1 ? `${step}[${at}]` : step);
    }
    return [css.join(' > '), '/' + path.join('/')];
  };

  return {
    walk, find, elementState, around, expose, choice, took, unchosenIn, leaveTyped, fieldsFor, entersChoice, pressed, settingSpot,
    locate, selectors: selectorsOf, pathOf, frameAt,
    known: element => ids.get(element) || 0,
    // For changes.js.
    TOLD_CHARS, places, squeeze, clip, parentOf, idOf, brief, valueOf, deepActive, takesClicks: element => kindOf(element, upper(element), element.getAttribute('role') || '') % 7 > 0,
    opened: () => choicesIn(places(), null).some(item => !before.has(item)),
    beforeOpening: () => { before = new WeakSet(choicesIn(places(), null)); },
    beforeChoosing: id => { besides = besideNow(find(id)); }, closedSays, scrollRegion, scrollPage,
    options: id => { // of a select, or those that an input suggests
      const element = find(id), list = element?.tagName === 'SELECT' ? element : element?.tagName === 'INPUT' ? element.list : null;
      return list ? choosable(list) : [];
    },
    // What Playwright's selector engine asks: "12", or "12/label" for the label that stands for a hidden field, or
    // "12/picture" for the picture that an area lies on.
    select: selector => {
      const [id, part] = selector.split('/'), element = find(+id);
      return !element || !part ? element : part === 'label' ? standIn(element, element.tagName) : pictureOf(element);
    },
    // DevTools tells which nodes have listeners, and which shadow roots are closed; gives back what is another document's.
    mark: (nodes, event) => {
      const foreign = [];
      nodes.forEach((node, index) => {
        if (node.ownerDocument !== document) foreign.push(index);
        else if (node.nodeType === 11) closed.set(node.host, node);
        else if (event && node.nodeType === 1) handling.set(node, (handling.get(node) || 0) | HANDLED[event]);
        else if (node.nodeType === 1 && !listening.has(node)) { listening.add(node); listeners.push(new WeakRef(node)); }
      });
      return foreign;
    },
    lists: url => places().some(place => [...place.querySelectorAll('a[href], area[href]')].some(link => link.href === new URL(url).href)),
    suspects: max => { const some = suspects.slice(0, max); some.forEach(host => asked.add(host)); suspects = []; return some; },
    frameOf: id => alive(id),
  };
})();
