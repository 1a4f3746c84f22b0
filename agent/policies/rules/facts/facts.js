(arg) => {
  // Everything a page states about itself, in one walk over its document, as one JSON string (the serialiser of
  // the protocol is slower than JSON.stringify by a factor). It judges structure only; words are matched in Python.
  // The elements that the caller calls records, by selectors of one each: each is read by itself.
  const chosen = arg && arg.records ? new Map(arg.records.map((one, i) => [document.querySelector(one), i])) : null;
  const MANY = chosen !== null;
  // Parts of the words that the schema asks for: elements whose names hold none of them are not worth sending.
  const asked = arg && arg.words && arg.words.length ? new RegExp(arg.words.join('|'), 'i') : null;
  // Words of ids and classes that may say of a block that it is about something else: Python judges them.
  const APART = new RegExp(`(?:^|[^a-z])(?:${arg.apart.join('|')})(?:y|ies|s)?(?![a-z])`, 'i');
  const MAX_NODES = 25000, MAX_NAMED = 1500, MAX_PAIRS = 800, MAX_TEXT = 5000, MAX_OWN = 100000, MAX_BLOCKS = 2000, MAX_AROUND = 400, LONG = 300;
  const MOST_BESIDE_CODE = 40;  // characters of a paragraph that names and presents a piece of code, as "Since version 1.2"
  let longLeft = MANY ? 600000 : 60000;  // characters of long texts that are sent in all
  const SKIP = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'IFRAME', 'OBJECT', 'CANVAS', 'VIDEO', 'AUDIO',
    'SELECT', 'OPTION', 'TEXTAREA', 'DATALIST', 'HEAD']);
  const INLINE = /^(A|ABBR|B|BUTTON|CITE|CODE|EM|I|KBD|MARK|SMALL|SPAN|STRONG|SUB|SUP|VAR)$/;
  const HEADING = /^H[1-6]$/;
  // A document that the browser saved is drawn on a blank page, which knows its address (`document_page.js`).
  const address = location.href === 'about:blank' && document.documentElement.dataset.documentUrl || location.href;
  const here = address.split('#')[0];
  const canonicalLink = document.querySelector('link[rel~="canonical"][href]');
  const canonical = canonicalLink ? canonicalLink.href : '';
  // Most texts need nothing but trimming; the expressions are the dearest part of the walk otherwise.
  const messy = /[^\S\n ]|  | \n|\n[ \n]/;
  const clean = (text) => {
    const bare = text.trim();
    return messy.test(bare) ? bare.replace(/[^\S\n]+/g, ' ').replace(/ *\n[ \n]*/g, '\n') : bare;
  };
  const line = (text) => text.replace(/\s+/g, ' ').trim();

  const out = {
    url: address, type: document.contentType || '', drawn: document.querySelector('pre[data-document-source]') ? 1 : 0, title: document.title, lang: document.documentElement.lang || '', canonical,
    ready: document.readyState, busy: '', empty: [], scripts: 0, truncated: false,
    jsonld: [], meta: [], items: [], pairs: [], headings: [], named: [], anchors: [], text: '', apart: [], aside: '', blocks: [],
  };

  // --- head ----------------------------------------------------------------------------------------
  for (const script of document.querySelectorAll('script')) {
    if (/ld\+json/i.test(script.type)) {
      if (script.textContent.length < 400000) out.jsonld.push(script.textContent);
    } else if (!script.type || /javascript|module/i.test(script.type)) out.scripts += 1;
  }
  for (const meta of document.querySelectorAll('meta[content]')) {
    const name = meta.getAttribute('property') || meta.getAttribute('name') || meta.getAttribute('http-equiv');
    if (name && out.meta.length < 200) out.meta.push([name, meta.content.slice(0, MAX_TEXT)]);
  }
  out.busy = pending();
  // What says by itself that content is still coming: in words for people, '' when nothing does.
  function pending() {
    const seen = (el) => el.checkVisibility ? el.checkVisibility() : true;
    for (const el of document.querySelectorAll('[aria-busy="true"],[role="progressbar"]:not([aria-valuenow])')) {
      if (seen(el)) return el.hasAttribute('aria-busy') ? 'aria-busy' : 'a progress bar';
    }
    for (const el of document.querySelectorAll('[class*="skeleton" i],[class*="shimmer" i],[class*="placeholder-glow"],[class*="spinner" i],[class*="loading" i],[class*="loader" i]')) {
      if (seen(el) && el !== document.body && el.getBoundingClientRect().height > 0 && line(el.textContent).length < 40) return 'a placeholder for content';
    }
    if (document.readyState === 'loading') return 'the document';
    return '';
  }

  // --- selectors -----------------------------------------------------------------------------------
  const selectors = new Map();
  const plain = /^[A-Za-z_][\w-]*$/;
  function selector(el) {
    if (!el || el === document.body) return 'body';
    const known = selectors.get(el);
    if (known) return known;
    let made = '';
    if (el.id && plain.test(el.id)) made = '#' + el.id;
    else {
      for (const name of el.classList) {
        if (plain.test(name) && document.getElementsByClassName(name).length === 1) {
          made = el.localName + '.' + name;
          break;
        }
      }
    }
    if (!made) {
      let nth = 1, more = false;
      for (let s = el.previousElementSibling; s; s = s.previousElementSibling) if (s.localName === el.localName) nth += 1;
      for (let s = el.nextElementSibling; s && !more; s = s.nextElementSibling) more = s.localName === el.localName;
      const step = el.localName + (nth > 1 || more ? `:nth-of-type(${nth})` : '');
      made = el.parentElement ? selector(el.parentElement) + ' > ' + step : step;
    }
    selectors.set(el, made);
    return made;
  }

  // --- tables --------------------------------------------------------------------------------------
  // Tables of HTML and of ARIA alike: rows, cells, and the column that a cell stands in, with what spans counted in.
  const HEAD_ROLE = /^(columnheader|rowheader)$/;
  const role = (el) => el.getAttribute('role') || '';
  const ROWS = document.querySelector('[role="row"]') !== null;  // an attribute is not asked of each element for nothing
  const isRow = (el) => el.tagName === 'TR' || (ROWS && role(el) === 'row');
  const tableOf = (row) => row.tagName === 'TR' ? row.closest('table') : row.closest('[role="table"],[role="grid"],[role="treegrid"]');
  const isHead = (cell) => cell.tagName === 'TH' || HEAD_ROLE.test(role(cell));
  function cellsOf(row) {
    if (row.tagName === 'TR' && role(row) !== 'row') return [...row.cells];
    const cell = '[role="cell"],[role="gridcell"],[role="columnheader"],[role="rowheader"],td,th';
    const within = (el) => { const outer = el.parentElement.closest(cell); return outer !== null && outer !== row && row.contains(outer); };
    const found = [...row.querySelectorAll(cell)].filter((el) => !within(el));
    return found.length ? found : [...(row.cells || [])];
  }
  const span = (cell) => Math.max(1, Math.min(cell.colSpan || Number(cell.getAttribute('aria-colspan')) || 1, 100));
  const down = (cell) => Math.max(1, Math.min(cell.rowSpan || Number(cell.getAttribute('aria-rowspan')) || 1, 500));
  const grids = new Map();
  function gridOf(table) {
    const known = grids.get(table);
    if (known) return known;
    const all = table.tagName === 'TABLE' ? [...table.rows] : [...table.querySelectorAll('[role="row"]')];
    const rows = all.filter((row) => tableOf(row) === table).slice(0, 5000);
    const byRow = new Map(), open = [];  // open: column -> [cell, rows that it still covers]
    let width = 0;
    for (const row of rows) {
      const at = new Map();
      let column = 0;
      const past = () => { while (open[column] && open[column][1] > 0) { at.set(column, open[column][0]); open[column][1] -= 1; column += 1; } };
      for (const cell of cellsOf(row)) {
        const told = Number(cell.getAttribute('aria-colindex'));
        past();
        if (told) column = told - 1;
        for (let i = span(cell); i > 0; i--, column++) {
          at.set(column, cell);
          open[column] = [cell, down(cell) - 1];
        }
      }
      past();
      width = Math.max(width, column);
      byRow.set(row, at);
    }
    const heads = headRows(table, rows, byRow, width);
    const made = {rows, byRow, width, heads, names: columnNames(heads, byRow, width)};
    grids.set(table, made);
    if (!heads.length && width > 1) made.names = namesAbove(table, width);
    return made;
  }
  // The columns of a table without headers, where the table before it has nothing else: grids whose rows scroll have two.
  function namesAbove(table, width) {
    for (let n = table, up = 0; n && n !== document.body && up < 4; n = n.parentElement, up += 1) {
      let other = null;
      for (let s = n.previousElementSibling, steps = 0; s && !other && steps < 3; s = s.previousElementSibling, steps += 1) {
        other = s.tagName === 'TABLE' ? s : s.querySelector('table');
      }
      if (!other) continue;
      const head = gridOf(other), said = head.rows.filter((row) => row.textContent.trim());
      const fits = head.heads.length && said.every((row) => head.heads.includes(row)) && head.width >= width && head.width <= width + 1;
      return fits ? head.names.slice(0, width) : null;
    }
    return null;
  }
  // The rows that name the columns: those of thead, else the first ones whose cells are all header cells or all bold.
  function headRows(table, rows, byRow, width) {
    const bold = (cell) => isHead(cell) || (cell.childElementCount === 1 && /^(B|STRONG)$/.test(cell.firstElementChild.tagName) && cell.firstElementChild.textContent.trim() === cell.textContent.trim());
    const heading = (row) => {
      const cells = cellsOf(row);
      return cells.length > 1 && cells.every((c) => bold(c) || !c.textContent.trim()) && cells.filter((c) => c.textContent.trim()).length > 1;
    };
    const inHead = rows.filter((row) => row.parentElement.tagName === 'THEAD');
    if (inHead.length) return inHead.filter((row) => new Set(byRow.get(row).values()).size > 1 || width === 1);
    const found = [];
    for (const row of rows.slice(0, 3)) {
      if (!heading(row)) { if (found.length || !sectionRow(row, byRow, width)) break; continue; }
      found.push(row);
    }
    return found.length < rows.length ? found : found.slice(0, 1);
  }
  function columnNames(heads, byRow, width) {
    if (!heads.length) return null;
    const names = [];
    for (let i = 0; i < width; i++) {
      const said = [];
      for (const row of heads) {
        const cell = byRow.get(row).get(i);
        const text = cell ? line(cell.textContent).replace(/[\u25b2\u25bc\u2191\u2193\u21c5]/g, '').trim() || cell.getAttribute('aria-label') || '' : '';
        if (text && !said.includes(text)) said.push(text);
      }
      names.push(said);
    }
    return names;
  }
  // A row whose one cell spans the columns says what follows; it states nothing itself.
  function sectionRow(row, byRow, width) {
    const cells = new Set((byRow || gridOf(tableOf(row)).byRow).get(row).values());
    const full = [...cells].filter((cell) => cell.textContent.trim());
    const wide = width === undefined ? gridOf(tableOf(row)).width : width;
    return wide > 1 && full.length <= 1 && [...cells].some((cell) => span(cell) > 1 && span(cell) >= wide - 1);
  }
  function notARecord(row) {
    const table = tableOf(row);
    if (!table) return false;
    const grid = gridOf(table);
    if (!grid.byRow.has(row)) return false;
    return grid.heads.includes(row) || sectionRow(row, grid.byRow, grid.width) || (row.parentElement.tagName === 'TFOOT')
      || cellsOf(row).every(isHead);
  }

  // --- structure -----------------------------------------------------------------------------------
  const foreign = (a) => {
    const to = a.href.split('#')[0];
    return /^https?:|^file:/.test(to) && to !== here && to !== canonical && !/\.(jpe?g|png|gif|webp|avif|svg)(\?|$)/i.test(to);
  };
  const STATE = /^(first|last|odd|even|active|current|selected|is-|has-|js-)/;
  const kind = (el) => {
    if (isRow(el)) return 'row';
    if (el.tagName === 'DL') return 'dl.' + el.className;
    for (const name of el.classList) if (!STATE.test(name)) return el.localName + '.' + name;
    return el.localName;
  };
  function shape(el) {
    const seen = new Set();
    const go = (node, depth) => {
      for (let c = node.firstElementChild; c && seen.size < 60; c = c.nextElementSibling) {
        seen.add(kind(c));
        if (depth < 3) go(c, depth + 1);
      }
    };
    go(el, 1);
    return seen;
  }
  function alike(a, b) {
    if (!a.size && !b.size) return true;
    let common = 0;
    for (const key of a) if (b.has(key)) common += 1;
    return common / (a.size + b.size - common) >= 0.5;
  }
  function leaves(el) {
    let count = 0, chars = 0;
    const walker = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
    for (let t = walker.nextNode(); t && count < 12; t = walker.nextNode()) {
      const tag = t.parentElement.tagName;
      if (tag !== 'SCRIPT' && tag !== 'STYLE' && t.data.trim()) { count += 1; chars += t.data.trim().length; }
    }
    return [count, chars];
  }
  function isCard(el, size) {
    // A block about something of its own: a related product, a review, a search hit. Rows of a two-column table and
    // lines of a list of properties are none.
    if (/^(DT|DD|P|PRE|OPTION|H[1-6]|TH|TD|LABEL|BR|BUTTON|SCRIPT|STYLE|SOURCE)$/.test(el.tagName)) return false;
    if (el.querySelector('h1')) return false;
    if (isRow(el)) return cellsOf(el).filter((cell) => !isHead(cell)).length >= 3;
    if (el.tagName === 'SECTION' && el.id) return false;  // a chapter of a document
    const [count, chars] = leaves(el);
    if (count >= 12) return false;
    let linked = false, titled = false;
    for (const a of el.matches('a[href]') ? [el] : el.querySelectorAll('a[href]')) {
      if (!foreign(a)) continue;
      linked = true;
      if (a.closest('h2,h3,h4,h5,h6') || a.querySelector('h2,h3,h4,h5,h6')) { titled = true; break; }
    }
    if (titled) return true;
    if (size < 3) return false;
    if (linked && chars <= 600 && (count >= 2 || el.querySelector('img'))) return true;
    return count >= 3 && chars >= 60;
  }
  function repeats(el) {
    const byKind = new Map();
    for (let c = el.firstElementChild; c; c = c.nextElementSibling) {
      const key = kind(c);
      if (byKind.has(key)) byKind.get(key).push(c); else byKind.set(key, [c]);
    }
    const found = [];
    for (let members of byKind.values()) {
      const rows = isRow(members[0]);
      if (rows) members = members.filter((m) => !notARecord(m));
      if (members.length < 2) continue;
      const fitting = members.filter((m, i) => i > 60 || isCard(m, members.length));
      if (!fitting.length) continue;
      const first = shape(fitting[Math.min(1, fitting.length - 1)]);
      const same = rows || members[0].tagName === 'DL' ? fitting : fitting.filter((m, i) => i > 60 || alike(shape(m), first));
      if (same.length >= 2) found.push(same);
    }
    return found;
  }
  // A single teaser: the smallest block around a heading that is a link to another page.
  const teasers = new Set();
  if (!MANY) {
    let left = 300;
    for (const a of document.querySelectorAll('h2 a[href],h3 a[href],h4 a[href],h5 a[href],h6 a[href],a[href] h2,a[href] h3,a[href] h4,a[href] h5')) {
      if (!left--) break;
      const head = a.closest('h2,h3,h4,h5,h6');
      const link = a.closest('a[href]');
      if (!head || !link || !foreign(link)) continue;
      if (head.contains(link) && line(link.textContent).length < 0.8 * line(head.textContent).length) continue;
      let block = head.contains(link) ? head : link;
      while (block.parentElement && !/^(BODY|MAIN)$/.test(block.parentElement.tagName)
        && block.parentElement.querySelectorAll('h1,h2,h3,h4,h5,h6').length === 1
        && block.parentElement.textContent.length < 900) block = block.parentElement;
      teasers.add(block);
    }
  }
  const h1s = document.querySelectorAll('h1');
  // Without any h1, an element that is called the title and says a part of the document's title is the page's heading;
  // of a document without a title, the only such element.
  const titles = h1s.length ? [] : [...document.querySelectorAll('.title,#title,.page-title,.pagetitle')].slice(0, 20)
    .filter((el) => !el.closest('nav,aside,footer') && line(el.textContent).length > 2);
  const titled = document.title ? titles.find((el) => line(document.title).includes(line(el.textContent))) : titles.length === 1 ? titles[0] : null;
  // The heading that the document's title is of: what holds it is about the page's own record, whatever its id or its
  // classes are made of. They may be made of the record's name, such as `about-laundry-basket`, or of its categories.
  // A title also names the shop, the category or another product. So a page's only h1 is asked alone; on other pages
  // one heading must be named, and the title must begin with it.
  const SEPARATOR = /[|–—·•:»«/-]/;
  function placeInTitle(el) {
    const text = line(el.textContent), whole = line(document.title), at = text.length > 2 ? whole.indexOf(text) : -1;
    if (at < 0) return -1;
    const before = whole.slice(0, at).trim().slice(-1), after = whole.slice(at + text.length).trim().slice(0, 1);
    return (!before || SEPARATOR.test(before)) && (!after || SEPARATOR.test(after)) ? at : -1;
  }
  function headingOfDocument() {
    if (titled) return titled;
    if (h1s.length === 1) return placeInTitle(h1s[0]) < 0 ? null : h1s[0];
    const inTitle = [...document.querySelectorAll('h1,h2,h3')].slice(0, 50).filter((el) => placeInTitle(el) >= 0);
    const outermost = inTitle.filter((el) => !inTitle.some((other) => other !== el && other.contains(el)));
    return outermost.length === 1 && placeInTitle(outermost[0]) === 0 ? outermost[0] : null;
  }
  const ownHeading = headingOfDocument();
  const NAMES = [[/^(site-?|page-?|top-?|global-?)?(nav|navbar|navigation|menu|breadcrumbs?|pagination|pager|topbar)$/i, 'nav'],
    [/^(site-?|page-?|global-?)?footer$/i, 'footer'], [/^(site-?|page-?|global-?)?header$/i, 'header'],
    [/^(left-?|right-?)?side-?bar$/i, 'aside']];
  function region(el, inside) {
    const role = el.getAttribute('role'), tag = el.tagName;
    if (tag === 'NAV' || role === 'navigation' || role === 'menu' || role === 'search') return 'nav';
    if (tag === 'DIALOG' || role === 'dialog' || role === 'alertdialog') return 'dialog';
    if (tag === 'ASIDE' || role === 'complementary') return 'aside';
    if (inside) return '';
    const holdsTitle = () => { for (const h of h1s) if (el.contains(h)) return h1s.length === 1; return false; };
    if (tag === 'HEADER' || role === 'banner') return holdsTitle() ? '' : 'header';
    if (tag === 'FOOTER' || role === 'contentinfo') return 'footer';
    if (/^(DIV|UL|OL|TABLE|SECTION)$/.test(tag)) {
      for (const name of el.id ? [el.id, ...el.classList] : el.classList) {
        for (const [pattern, found] of NAMES) if (pattern.test(name) && !el.querySelector('h1') && !(titled && el.contains(titled))) return found;
      }
    }
    return '';
  }
  let target = null;
  if (location.hash.length > 1) {
    let id = location.hash.slice(1);
    try { id = decodeURIComponent(id); } catch { /* not encoded: the fragment is the id itself */ }
    target = document.getElementById(id);
    while (target && target !== document.body && !target.querySelector('h1,h2,h3,h4,h5,h6')) target = target.parentElement;
    if (target === document.body) target = null;
    const named = target && document.getElementById(id);
    if (named) out.anchors.push({i: id, t: line(target.textContent.slice(0, 6000)).slice(0, 3000), s: '#' + id, x: 2, o: 0});
  }

  // --- the walk ------------------------------------------------------------------------------------
  let nodes = 0, order = 0, ownLength = 0, besideLength = 0;
  const own = [], beside = [];  // joined once: a growing string would be copied again and again
  const apart = [];  // texts of blocks that may be about something else: ids and classes around them, and their parts
  let sink = out;
  const newSink = (el) => ({items: [], pairs: [], headings: [], named: [], text: '', s: selector(el)});
  const names = (el) => (el.id ? el.id + ' ' : '') + (typeof el.className === 'string' ? el.className : '');
  // Those of an element's names that may say that it is about something else. Pages that are styled by classes have
  // dozens of others on each element. A capital letter begins a word: `relatedItems`.
  const tellsApart = (said) => APART.test(said.replace(/([a-z0-9])([A-Z])/g, '$1-$2'));
  const tellingApart = (el) => { const said = names(el); return said && tellsApart(said) ? said.split(/\s+/).filter(tellsApart).join(' ') : ''; };

  function pair(how, label, value, el, ctx, parts, more) {
    label = line(label).replace(/[:：]\s*$/, '');
    value = clean(value);
    let struck = ctx.struck;
    if (!value && struckTexts.has(el)) { value = clean(struckTexts.get(el)); struck = true; }
    if (!label || !value || label.length > 60 || value.length > (MANY ? MAX_TEXT : 2000) || sink.pairs.length >= MAX_PAIRS) return;
    if (value.length > LONG && (longLeft -= value.length) < 0) return;
    const link = el.matches('a[href]') ? el : el.querySelector('a[href]');
    const picture = el.querySelector('img[src]');
    const stamp = el.querySelector('time[datetime],data[value],[aria-label]');
    sink.pairs.push({how, l: label, t: value, s: selector(el), v: ctx.hidden ? 0 : 1, r: ctx.region, o: order,
      x: ctx.target ? 1 : 0, h: link ? link.href : picture ? picture.currentSrc || picture.src : '', p: parts || [],
      z: stamp ? stamp.getAttribute('datetime') || stamp.getAttribute('value') || stamp.getAttribute('aria-label') : '',
      st: struck ? 1 : 0, ar: ctx.around, nm: ctx.names, ...more});
  }

  // Code within a sentence mentions something. What the record is called stands elsewhere. A paragraph is measured
  // once: it may hold thousands of pieces of code.
  const paragraphs = new Map();
  function mentioned(el, text) {
    const paragraph = /^(code|tt|kbd|samp|var)$/.test(el.localName) && el.closest('p');
    if (!paragraph) return false;
    if (!paragraphs.has(paragraph)) {
      const said = paragraph.textContent;
      paragraphs.set(paragraph, said.length > 4 * MAX_TEXT ? said.length : clean(said).length);
    }
    return paragraphs.get(paragraph) - text.length > MOST_BESIDE_CODE;
  }

  function named(el, text, ctx, parts, at, sized) {
    const data = [];
    let telling = Boolean(el.id || el.classList.length || ctx.prop);
    for (const a of el.attributes) {
      if (a.name.startsWith('data-') && a.value.length <= 100) { data.push([a.name.slice(5), a.value]); telling = true; }
    }
    const aria = el.getAttribute('aria-label') || '';
    const tip = el.getAttribute('title') || '';
    const rel = el.getAttribute('rel') || '';
    const prop = el.getAttribute('itemprop') || el.getAttribute('property') || '';
    const tag = el.localName;
    const exact = el.getAttribute('datetime') || el.getAttribute('content') || (tag === 'data' || tag === 'meter' ? el.getAttribute('value') : '') || '';
    const link = tag === 'a' ? el.href : tag === 'img' ? el.currentSrc || el.src : '';
    telling = telling || Boolean(aria || prop || rel || exact) || /^(time|img|address|del|s|strike)$/.test(tag)
      || (tag === 'a' && (MANY || /^(mailto|tel):/.test(link)));
    if (!telling || sink.named.length >= MAX_NAMED) return;
    if (asked && !(MANY && tag === 'a') && !/^(time|address|del|s|strike)$/.test(tag) && !/^(mailto|tel):/.test(link)
      && !asked.test(`${names(el)} ${prop} ${rel} ${tag} ${data.map((d) => d.join(' ')).join(' ')}`)) return;
    if (mentioned(el, text)) return;
    if (text.length > LONG && (longLeft -= text.length) < 0) return;
    if (!text && !aria && !exact && !data.length && !link && !tip) return;
    sink.named.push({g: tag, c: names(el), d: data, a: aria, ti: tip, rel, pr: prop, e: exact, h: link, alt: tag === 'img' ? el.alt : '',
      t: text, p: parts, s: selector(el), v: ctx.hidden ? 0 : 1, r: ctx.region, st: ctx.struck ? 1 : 0, f: sized ? parseFloat(getComputedStyle(el).fontSize) || 0 : 0, o: at,
      x: ctx.target ? 1 : 0, ar: ctx.around});
  }

  // Items and their properties, as microdata and as RDFa name them. RDFa is read where the page has types: `property`
  // alone is what social networks read of a page's head.
  const RDFA = document.querySelector('body [typeof]') !== null || document.body !== null && document.body.hasAttribute('typeof');
  const plainName = (text) => text.split(/\s+/).filter((name) => name && !/^(og|fb|twitter):/.test(name)).map((name) => name.replace(/^[A-Za-z][\w-]*:(?!\/\/)/, '')).join(' ');
  function itemOf(el, region, card, hidden) {
    // The item that begins at the element; null where none does.
    const rdfa = RDFA && el.hasAttribute('typeof');
    if (!rdfa && !el.hasAttribute('itemscope')) return null;
    const type = el.getAttribute('itemtype') || (rdfa ? el.getAttribute('typeof').replace(/(^|\s)[A-Za-z][\w-]*:(?!\/\/)/g, '$1') : '');
    return {type, props: {}, s: selector(el), r: region, card: card ? 1 : 0, v: hidden ? 0 : 1, k: el.hasAttribute('itemscope') ? 'microdata' : 'rdfa'};
  }
  const propOf = (el) => el.getAttribute('itemprop') || (RDFA && el.hasAttribute('property') ? plainName(el.getAttribute('property')) : '');

  function propValue(el, text) {
    const tag = el.tagName;
    if (el.hasAttribute('content')) return el.getAttribute('content');
    if (/^(A|AREA|LINK)$/.test(tag) && el.hasAttribute('href')) return text || el.href;
    if (/^(IMG|EMBED|SOURCE|VIDEO|AUDIO|IFRAME)$/.test(tag)) return el.currentSrc || el.src;
    if (tag === 'TIME' && el.dateTime) return el.dateTime;
    if (tag === 'DATA' || tag === 'METER') return el.getAttribute('value') || text;
    return text;
  }

  const said = (cell) => texts.get(cell) || '';
  // A badge: a short inline element behind what a cell says, on a ground or with an edge of its own. Behind a link or
  // a text in bold, smaller letters are enough: "12 kg" may be written with a smaller unit.
  const BADGE_CHARS = 40;
  const boxed = (style) => !/^(transparent|rgba\(.*, 0\))$/.test(style.backgroundColor) || parseFloat(style.borderLeftWidth) > 0;
  function isBadge(el, main) {
    if (!/^(SPAN|SMALL|LABEL|I|EM|A)$/.test(el.tagName) || el.textContent.trim().length > BADGE_CHARS || el.contains(main)) return false;
    const style = getComputedStyle(el);
    if (!style.display.startsWith('inline')) return false;
    if (boxed(style)) return true;
    return main.closest('a[href],b,strong') !== null && parseFloat(style.fontSize) < 0.9 * parseFloat(getComputedStyle(main).fontSize);
  }
  // What a cell says before the badges at its end; '' where it ends with none, or says nothing else.
  function beforeBadges(cell) {
    if (!cell.childElementCount || cell.childElementCount > 20) return '';
    const leaves = [];
    const go = (node) => {
      for (let n = node.firstChild; n; n = n.nextSibling) {
        if (n.nodeType === 3) { if (n.data.trim()) leaves.push(n); } else if (n.nodeType === 1 && !SKIP.has(n.tagName)) go(n);
      }
    };
    go(cell);
    if (leaves.length < 2) return '';
    const main = leaves[0].parentElement;
    for (let n = main; n !== cell; n = n.parentElement) if (boxed(getComputedStyle(n))) return '';  // all of it is badges
    const inBadge = (leaf) => { let n = leaf.parentElement; while (n !== cell && !isBadge(n, main)) n = n.parentElement; return n !== cell; };
    let left = leaves.length;
    while (left > 1 && inBadge(leaves[left - 1])) left -= 1;
    if (left === leaves.length) return '';
    let text = said(cell).trim();
    for (const leaf of leaves.slice(left).reverse()) {
      const shown = line(leaf.data);
      if (!text.endsWith(shown)) return '';  // it is hidden, or struck through
      text = text.slice(0, -shown.length).trim();
    }
    return /[:：]$/.test(text) ? '' : text;
  }
  // What a cell states: its text, else the value of the one control in it, else what its one picture shows.
  function cellPair(labels, cell, ctx, box, empty) {
    if (!cell) return;
    if (cell.hasAttribute('headers')) labels = [...labels, ...cell.getAttribute('headers').split(/\s+/)];
    const names = labels.filter(Boolean);
    if (!names.length) return;
    const own = said(cell);
    const control = own.trim() ? null : cell.querySelector('input,select,textarea');
    const pictures = own.trim() || control ? [] : cell.querySelectorAll('img[alt]');
    const text = pictures.length === 1 ? line(pictures[0].alt) : own;
    if (control && control.type !== 'hidden') controlPair(control, ctx, names);
    else if (text.trim() || struckTexts.has(cell)) pair('table', names[0], text, cell, ctx, [], {ls: names.slice(1), b: box, bb: clean(beforeBadges(cell))});
    else if (empty && sink.pairs.length < MAX_PAIRS) sink.pairs.push({how: 'table', l: line(names[0]), t: '', s: selector(cell), v: 1, r: ctx.region, o: order, em: 1, ls: names.slice(1), b: box});
  }
  const nothingYet = (el) => { if (out.empty.length < 30 && out.scripts) out.empty.push(el.localName + ' ' + names(el)); };
  function tableRows(table, ctx) {
    const grid = gridOf(table), box = order;
    const body = grid.rows.filter((row) => !grid.heads.includes(row));
    if (grid.heads.length && !body.length) { nothingYet(table); return; }
    if (grid.heads.length && body.length === 1 && grid.width > 1) {
      for (const [i, cell] of grid.byRow.get(body[0])) cellPair([grid.names[i].join(' '), ...grid.names[i].slice(-1)], cell, ctx, box);
      return;
    }
    for (const row of body) {
      const cells = cellsOf(row), firstHead = cells.length > 1 && isHead(cells[0]);
      if (cells.length === 2 && !isHead(cells[1]) && (firstHead || (grid.width === 2 && !grid.heads.length))) {
        cellPair([said(cells[0])], cells[1], ctx, box);
      } else if (cells.length % 2 === 0 && cells.every((cell, i) => isHead(cell) === (i % 2 === 0))) {
        for (let i = 0; i < cells.length; i += 2) cellPair([said(cells[i])], cells[i + 1], ctx, box);
      } else if (cells.length === 2 && !isHead(cells[1]) && grid.width === 2 && grid.heads.length) {
        // A two-column table with heads ("Property", "Value") still names its values by its first column.
        cellPair([said(cells[0])], cells[1], ctx, box);
      }
    }
  }
  function recordRow(row, ctx) {
    const table = tableOf(row);
    const grid = table && gridOf(table), at = grid && grid.byRow.get(row);
    if (!at) return;
    for (const [i, cell] of at) {
      const names = grid.names && grid.names[i] || [];
      if (names.length) cellPair([names[names.length - 1], ...(names.length > 1 ? [names.join(' ')] : [])], cell, ctx, order, true);
      else pair('column', String(i + 1), said(cell), cell, ctx);
    }
  }

  // --- controls ------------------------------------------------------------------------------------
  // What the fields of a form hold. Passwords and what is not filled in by people are left out.
  const NO_VALUE = /^(hidden|password|submit|button|reset|image|file|search)$/;
  const CONTROL_ROLE = /^(checkbox|switch|radio|textbox|combobox|spinbutton|slider)$/;
  const isControl = (el) => /^(INPUT|SELECT|TEXTAREA)$/.test(el.tagName) || (el.hasAttribute('contenteditable') && el.contentEditable === 'true') || CONTROL_ROLE.test(role(el));
  function controlLabels(el) {
    const outside = (node) => {
      let text = '';
      for (let n = node.firstChild; n; n = n.nextSibling) {
        if (n.nodeType === 3) text += n.data;
        else if (n.nodeType === 1 && n !== el && !n.contains(el) && !SKIP.has(n.tagName)) text += ' ' + n.textContent;
        else if (n.nodeType === 1 && n !== el && n.contains(el)) text += ' ' + outside(n);
      }
      return text;
    };
    const found = [...(el.labels || [])].map(outside);
    for (const id of (el.getAttribute('aria-labelledby') || '').split(/\s+/)) {
      const other = id && document.getElementById(id);
      if (other) found.push(other.textContent);
    }
    found.push(el.getAttribute('aria-label') || '');
    const cell = el.closest('td,dd');
    const before = cell && cell.previousElementSibling;
    if (before && /^(TH|TD|DT)$/.test(before.tagName)) found.push(before.textContent);
    if (el.type === 'radio') {
      const legend = el.closest('fieldset') && el.closest('fieldset').querySelector('legend');
      found.length = 0;
      if (legend) found.push(legend.textContent);
    }
    const name = el.getAttribute('name') || '';
    found.push(name, el.id, el.getAttribute('title') || '');
    return [...new Set(found.map((text) => line(text.replace(/[*:：]\s*$/, '').replace(/\[\]$/, ''))).filter((text) => text && text.length <= 60))];
  }
  function controlPair(el, ctx, given) {
    const tag = el.tagName, type = (el.getAttribute('type') || '').toLowerCase();
    if (sink.pairs.length >= MAX_PAIRS || (tag === 'INPUT' && NO_VALUE.test(type)) || role(el) === 'search' || el.closest('[role="search"]')) return;
    let text = '', exact = '', options = [];
    const checkable = type === 'checkbox' || /^(checkbox|switch)$/.test(role(el));
    if (tag === 'SELECT') {
      const chosen = [...el.selectedOptions].filter((o) => o.value !== '' || o.defaultSelected);
      text = chosen.map((o) => line(o.text)).join('\n');
      options = [...el.options].filter((o) => o.value !== '' && !o.disabled).slice(0, 1000).map((o) => line(o.text).slice(0, 100));
    } else if (checkable) {
      text = String(tag === 'INPUT' ? el.checked : el.getAttribute('aria-checked') === 'true');
    } else if (type === 'radio' || role(el) === 'radio') {
      if (!(tag === 'INPUT' ? el.checked : el.getAttribute('aria-checked') === 'true')) return;
      text = line((el.labels && el.labels[0] || el).textContent || '') || el.value;
    } else if (tag === 'INPUT' || tag === 'TEXTAREA') {
      text = el.value;
      exact = /^(number|date|datetime-local|month|week|time|range|color)$/.test(type) ? el.value : '';
    } else text = el.getAttribute('aria-valuetext') || el.getAttribute('aria-valuenow') || el.innerText || '';
    text = clean(text).slice(0, MAX_TEXT);
    const labels = given || controlLabels(el);
    if (!labels.length || (!text && !options.length) || (asked && !given && !asked.test(labels.join(' ')))) return;
    const form = el.closest('form');
    const beside = form ? [...form.elements].filter((e) => e.offsetParent !== null && !NO_VALUE.test(e.type) && e.tagName !== 'BUTTON').length : 0;
    sink.pairs.push({how: 'control', l: labels[0], ls: labels.slice(1), t: text, z: exact, s: selector(el), v: ctx.hidden ? 0 : 1, r: ctx.region, o: order,
      x: ctx.target ? 1 : 0, h: type === 'url' ? text : '', p: [], st: 0, ar: ctx.around, b: form ? 'form' + [...document.forms].indexOf(form) : 0,
      op: options, w: form && (beside < 2 || form.getAttribute('role') === 'search') ? 1 : 0, ck: checkable ? 1 : 0});
  }

  const texts = new Map(), struckTexts = new Map();
  // Returns the element's text (the visible part of it, unless all of it is hidden, without what is struck through,
  // unless all of it is), and its text parts.
  function walk(el, ctx, depth) {
    const at = ++order;
    let text = '', blocks = false, headed = false;
    const parts = [], ownText = ctx.apart || own;
    const members = new Set(el.childElementCount && !chosen ? repeats(el).flat() : []);
    for (let child = el.firstChild; child; child = child.nextSibling) {
      if (child.nodeType === 3) {
        const data = child.data;
        if (!data.trim()) {
          if (data) { text += ' '; ownText.push(' '); if (ctx.region || ctx.card) beside.push(' '); }
          continue;
        }
        const said = data.replace(/\s+/g, ' ');
        text += said;
        parts.push(data.trim());
        if (!ctx.hidden && !ctx.struck) {
          if (ctx.region || ctx.card) { if ((besideLength += said.length) < 20000) beside.push(said); }
          else if ((ownLength += said.length) < MAX_OWN) ownText.push(said);
        }
        continue;
      }
      if (child.nodeType !== 1) continue;
      if (child.tagName === 'BR' || child.tagName === 'HR') { text += '\n'; ownText.push('\n'); beside.push('\n'); continue; }
      if (!ctx.card && !ctx.region && isControl(child)) controlPair(child, ctx);
      if (SKIP.has(child.tagName)) continue;
      if (++nodes > MAX_NODES || depth > 200) { out.truncated = true; break; }
      if (child.localName === 'svg') {
        const label = child.getAttribute('aria-label') || (child.querySelector('title') || {}).textContent || '';
        if (label) { text += ' ' + label + ' '; if (sink.named.length < MAX_NAMED) named(child, '', ctx, [], ++order, false); }
        continue;
      }
      const style = getComputedStyle(child);
      const display = style.display;
      const hidden = ctx.hidden || display === 'none' || style.visibility !== 'visible';
      const block = !display.startsWith('inline') && display !== 'contents';
      headed = headed || (HEADING.test(child.tagName) && child.tagName !== 'H1');
      const isMember = chosen ? chosen.has(child) : members.has(child);
      const found = region(child, ctx.inside);
      const inner = {
        hidden, region: found || ctx.region, card: ctx.card || (isMember && !MANY) || teasers.has(child),
        struck: ctx.struck || (child.childElementCount < 4 && style.textDecorationLine.includes('line-through')) || /^(DEL|S|STRIKE)$/.test(child.tagName),
        inside: ctx.inside || /^(MAIN|ARTICLE)$/.test(child.tagName) || child.getAttribute('role') === 'main',
        target: ctx.target || child === target, item: ctx.item, prop: false, item_: null,
        names: child.contains(ownHeading) ? '' : tellingApart(child), around: ctx.within, within: ctx.within, apart: ctx.apart,
      };
      if (inner.names) {
        inner.within = (inner.names + ' ' + ctx.within).slice(0, MAX_AROUND);
        if (!MANY && block && !child.querySelector('h1')) apart.push([inner.within, inner.apart = []]);
      }
      if (!MANY && (inner.card || (inner.region && inner.region !== 'aside'))) {
        // Menus, footers and teasers of other things hold no fact of this page's own record, only words beside it.
        // They are the larger part of many pages, and each element that is walked costs as much as all its text.
        const said = line(child.textContent).slice(0, 4000);
        if (said && !hidden && !inner.struck && (besideLength += said.length) < 20000) beside.push('\n', said, '\n');
        if (block) { blocks = true; ownText.push('\n'); }
        if (!hidden || ctx.hidden) text += block ? '\n' + said + '\n' : said;
        continue;
      }
      inner.item_ = itemOf(child, inner.region, inner.card, hidden);
      inner.item = inner.item_ || inner.item;
      if (!child.firstChild && !hidden && !inner.region && /^(DIV|SECTION|MAIN|ARTICLE|UL|OL|DL|TABLE|TBODY|SPAN|P|H1|H2)$/.test(child.tagName)) nothingYet(child);
      const prop = propOf(child);
      if (prop) inner.prop = true;
      if (block) { ownText.push('\n'); beside.push('\n'); }
      const outer = sink;
      if (chosen && isMember && out.blocks.length < MAX_BLOCKS) { sink = newSink(child); out.blocks.push(sink); sink.i = chosen.get(child); }
      let [sub, subParts] = walk(child, inner, depth + 1);
      // A picture made of text, such as stars, says what its label says.
      if (child.getAttribute('role') === 'img' && child.getAttribute('aria-label')) { sub = child.getAttribute('aria-label'); subParts = [sub]; }
      if (sink !== outer) {
        sink.text = clean(sub).slice(0, 2000);
        if (isRow(child)) recordRow(child, inner);
        sink = outer;
      }
      if (block) { blocks = true; ownText.push('\n'); beside.push('\n'); }
      if (prop && (ctx.item || !inner.item_)) {
        const value = inner.item_ || propValue(child, clean(sub)).slice(0, MAX_TEXT);
        if (ctx.item) for (const name of prop.split(/\s+/)) (ctx.item.props[name] = ctx.item.props[name] || []).push(inner.item_ ? value : {t: value, s: selector(child), v: hidden ? 0 : 1, h: child.href || child.src || '', shown: clean(sub).slice(0, 300)});
      }
      if (inner.item_ && !(prop && ctx.item)) sink.items.push(inner.item_);
      if (hidden && !ctx.hidden) continue;
      if (inner.struck && !ctx.struck) { struckTexts.set(el, (struckTexts.get(el) || '') + ' ' + sub); continue; }
      if (struckTexts.has(child)) struckTexts.set(el, (struckTexts.get(el) || '') + ' ' + struckTexts.get(child));
      text += block ? '\n' + sub + '\n' : sub;
      if (parts.length < 12) parts.push(...subParts);
    }
    finish(el, text, parts, blocks, headed, ctx, at);
    return [text, parts.length <= 12 ? parts : []];
  }

  function finish(el, text, parts, blocks, headed, ctx, at) {
    const tag = el.tagName;
    const mine = !ctx.card && (ctx.region === '' || ctx.region === 'aside');
    if (HEADING.test(tag) || el === titled) {
      if (!ctx.card) sink.headings.push({l: el === titled ? 1 : Number(tag[1]), t: line(text), s: selector(el), v: ctx.hidden ? 0 : 1, r: ctx.region, o: at, x: ctx.target ? 1 : 0,
        h: (el.querySelector('a[href]') || el.closest('a[href]') || {}).href || '', ti: el.title || (el.querySelector('[title]') || {}).title || ''});
    }
    if (!mine && !MANY) return;
    if (text.length < MAX_TEXT) texts.set(el, text);
    // No regular expression over whole documents, again and again.
    const whole = text.length > 4 * MAX_TEXT ? '' : clean(text);
    const size = whole ? whole.length : text.trim() ? text.length : 0;
    if (el.id && (size > MAX_TEXT || el.querySelector('h1,h2,h3,h4,h5,h6')) && out.anchors.length < 300) {
      const head = el.querySelector('h1,h2,h3,h4,h5,h6');
      if (head) out.anchors.push({i: el.id, t: line(head.textContent), s: selector(el), x: ctx.target ? 1 : 0, o: at});
    }
    if (el !== document.body && size <= MAX_TEXT) {
      const few = parts.length > 1 && size <= 80 ? parts : [];
      named(el, whole, ctx, few, at, size && size <= 80);
    }
    if (tag === 'TABLE' || /^(table|grid|treegrid)$/.test(role(el))) { if (!MANY || sink !== out) tableRows(el, ctx); else if (gridOf(el).heads.length && gridOf(el).rows.length === gridOf(el).heads.length) nothingYet(el); }
    else if (tag === 'DL') {
      let label = '';
      for (const node of el.querySelectorAll('dt,dd')) {
        if (node.closest('dl') !== el) continue;
        if (node.tagName === 'DT') label = said(node);
        else pair('definition-list', label, said(node), node, ctx, [], {b: order});
      }
    } else if (size && size <= 400 && !/^(TR|TBODY|THEAD|TD|TH|DT|DD|UL|OL|SELECT)$/.test(tag) && !HEADING.test(tag)) {
      const kids = el.children.length <= 6 ? [...el.children].filter((kid) => !SKIP.has(kid.tagName) || kid.tagName === 'SELECT' || kid.tagName === 'TEXTAREA') : el.children;
      if (!INLINE.test(tag) && (kids.length === 2 || kids.length === 3) && !/^(TH|TD|DT|DD|LI|OPTION|A|BUTTON)$/.test(kids[0].tagName)) {
        const label = line(texts.get(kids[0]) || '');
        if (label && label.length <= 40) {
          let rest = '';
          for (let n = kids[0].nextSibling; n; n = n.nextSibling) rest += n.nodeType === 3 ? n.data : n.nodeType === 1 ? ' ' + (texts.get(n) || '') : '';
          let before = '';
          for (let n = el.firstChild; n && n !== kids[0]; n = n.nextSibling) if (n.nodeType === 3) before += n.data;
          if (!before.trim()) pair('label', label, rest.trim().replace(/^[:：]\s*/, ''), kids[1], ctx, [], {b: el.parentElement ? selector(el.parentElement) : 0});
        }
      }
      if (!blocks || tag === 'P' || tag === 'LI' || tag === 'DIV') {
        if (!blocks) for (const row of whole.split(/\n| [·•|] /)) {
          const hit = /^([^:：]{2,40})\s?[:：]\s+(\S.*)$/.exec(row) || /^([^:：\d]{2,40})：(\S.*)$/.exec(row);
          if (hit) pair('label', hit[1], hit[2], el, ctx);
        }
      }
    }
    if (headed) {
      let head = null, body = '', last = null;
      const close = () => { if (head && last && body.length < 2000) pair('heading', texts.get(head) || '', body, last, ctx); };
      for (const node of el.children) {
        if (HEADING.test(node.tagName)) { close(); head = node.tagName === 'H1' ? null : node; body = ''; last = null; } else if (head && !SKIP.has(node.tagName)) {
          if (/^(UL|OL)$/.test(node.tagName) && !last) {  // a list is all that the heading speaks of
            pair('heading', texts.get(head) || '', [...node.children].map((item) => line(texts.get(item) || '')).join('\n'), node, ctx);
            head = null;
            continue;
          }
          if (body.length < 2000) body += (body ? '\n' : '') + (texts.get(node) || '');
          last = last || node;
        }
      }
      close();
    }
  }

  if (document.body) {
    const start = {hidden: false, region: '', card: false, struck: false, inside: false, target: false, item: null, prop: false, item_: null, names: '', around: '', within: '', apart: null};
    start.item = itemOf(document.body, '', false, false);
    if (start.item) out.items.push(start.item);
    walk(document.body, start, 0);
  }
  out.text = clean(own.join('')).slice(0, MAX_OWN);
  out.apart = apart.map(([around, said]) => [around, clean(said.join(''))]).filter(([, said]) => said);
  out.aside = clean(beside.join('')).slice(0, 20000);
  return JSON.stringify(out);
}
