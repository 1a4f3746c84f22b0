(arg) => {
  // The elements that a job's places lead to, with what they say, as one JSON string. `arg`: `fields` ({name: {kind, query,
  // attribute, all}} of the kinds select, label and column), `records` (CSS or null), `many`, `awaited` (CSS or null), `near`
  // (false: what is similar to a place that is not there is not looked for), `json`
  // (whether JSON is asked for). Only structure is judged here; Python reads the texts and decides what is ambiguous.
  const MAX_RECORDS = 5000, MAX_PLACES = 500, MAX_TEXT = 100000, MAX_ELEMENTS = 60000, MAX_SLOTS = 400000, MAX_JSON = 4000000;
  const SHORT = 80, NEAREST = 3;
  const address = location.href === 'about:blank' && document.documentElement.dataset.documentUrl || location.href;
  const out = {url: address, lang: document.documentElement.lang || '', ready: document.readyState, type: document.contentType || '',
    busy: Boolean(document.querySelector('[aria-busy="true"]')), scripts: [...document.scripts].some((s) => !s.type || /javascript|module/i.test(s.type)),
    invalid: [], awaited: true, count: null, cut: 0, records: [], near: {}, json: [], jsonCut: false, text: ''};

  // --- what an element says ------------------------------------------------------------------------
  const SILENT = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD']);
  const CONTROL = /^(INPUT|SELECT|TEXTAREA)$/;
  const shown = (el) => el.checkVisibility ? el.checkVisibility({visibilityProperty: true}) || getComputedStyle(el).display === 'contents' : el.getClientRects().length > 0;
  const squash = (text) => (text || '').replace(/\s+/g, ' ').trim();
  const fold = (text) => squash(text).toLowerCase().normalize('NFKC').replace(/^[\s▲▼↑↓⇅↕*]+|[\s:：*▲▼↑↓⇅↕]+$/g, '');
  const short = (text) => { const said = squash(text); return said.length > SHORT ? said.slice(0, SHORT) + '…' : said; };
  function textOf(el, plain) {
    // The text of the document, not of the screen (capitals by style are no text). What is hidden inside of a visible
    // element is left out; `plain` leaves out what is struck through.
    const whole = !shown(el);
    let text = '';
    const pre = (node) => /^pre/.test(getComputedStyle(node).whiteSpace);
    const go = (node, keep) => {
      for (let child = node.firstChild; child && text.length <= MAX_TEXT; child = child.nextSibling) {
        if (child.nodeType === 3) { text += keep ? child.data : child.data.replace(/\s+/g, ' '); continue; }
        if (child.nodeType !== 1 || SILENT.has(child.tagName) || CONTROL.test(child.tagName)) continue;
        if (child.tagName === 'BR') { text += '\n'; continue; }
        if (!whole && !shown(child)) continue;
        if (plain && /^(DEL|S|STRIKE)$/.test(child.tagName)) continue;
        const display = getComputedStyle(child).display;
        const block = !display.startsWith('inline') && display !== 'contents';
        if (block) text += /table-cell/.test(display) ? ' ' : '\n';
        go(child, keep || pre(child));
        if (block) text += /table-cell/.test(display) ? ' ' : '\n';
      }
    };
    go(el, pre(el));
    return text.replace(/[^\S\n]+\n|\n[^\S\n]+/g, '\n').replace(/\n{2,}/g, '\n').trim();
  }
  // Whether all that stands at the element is struck through: it is what holds no longer.
  const STRUCK = 'del,s,strike';
  function gone(el) {
    if (el.closest(STRUCK)) return true;
    for (let at = el; at && at !== document.body; at = at.parentElement) if (getComputedStyle(at).textDecorationLine.includes('line-through')) return true;
    return false;
  }
  const goneIn = (el) => gone(el) || el.querySelector(STRUCK) !== null;
  const selectors = new Map();
  function selector(el) {
    if (!el || el === document.body) return 'body';
    if (el === document.documentElement) return 'html';
    if (selectors.has(el)) return selectors.get(el);
    let made = '';
    if (el.id && /^[A-Za-z_][\w-]*$/.test(el.id) && document.getElementById(el.id) === el) made = '#' + el.id;
    else {
      let nth = 1, more = false;
      for (let s = el.previousElementSibling; s; s = s.previousElementSibling) if (s.localName === el.localName) nth += 1;
      for (let s = el.nextElementSibling; s && !more; s = s.nextElementSibling) more = s.localName === el.localName;
      made = (el.parentElement ? selector(el.parentElement) + ' > ' : '') + el.localName + (nth > 1 || more ? `:nth-of-type(${nth})` : '');
    }
    selectors.set(el, made);
    return made;
  }
  function control(el) {
    // What a form control holds now; null for other elements.
    if (el.tagName === 'INPUT') {
      const type = (el.type || 'text').toLowerCase();
      if (type === 'password') return {k: 'secret', t: ''};
      if (type === 'checkbox') return {k: 'check', c: el.checked, t: el.checked ? el.value : ''};
      if (type === 'radio') return {k: 'radio', c: el.checked, t: el.checked ? squash(el.labels && el.labels[0] ? el.labels[0].textContent : '') || el.value : '', e: el.checked ? el.value : ''};
      if (type === 'image') return {k: 'text', t: el.alt || '', h: el.src};
      return {k: 'text', t: el.value, e: type === 'text' ? '' : el.value};
    }
    if (el.tagName === 'SELECT') {
      const chosen = [...el.selectedOptions];
      if (el.multiple) return {k: 'list', t: chosen.map((o) => squash(o.label)).join('\n'), l: chosen.map((o) => squash(o.label))};
      return {k: 'choice', t: chosen.length ? squash(chosen[0].label) : '', e: chosen.length ? chosen[0].value : ''};
    }
    if (el.tagName === 'TEXTAREA') return {k: 'lines', t: el.value};
    const role = el.getAttribute('role');
    if (/^(checkbox|switch|menuitemcheckbox)$/.test(role || '') && el.hasAttribute('aria-checked')) return {k: 'check', c: el.getAttribute('aria-checked') === 'true', t: ''};
    return null;
  }
  const ADDRESSES = {A: 'href', AREA: 'href', LINK: 'href', IMG: 'src', SOURCE: 'src', IFRAME: 'src', EMBED: 'src', VIDEO: 'src', AUDIO: 'src'};
  const absolute = (text) => { try { return new URL(text, document.baseURI).href; } catch { return ''; } };
  function place(el, how, attribute) {
    const at = {s: selector(el), v: shown(el) ? 1 : 0, w: how};
    if (attribute) {
      const value = el.getAttribute(attribute);
      if (value === null) return null;
      if (attribute === 'value' && el.type === 'password') return {...at, k: 'secret', t: ''};
      const leads = /^(href|src|action|poster|formaction|cite|data-src|data-href|data-url)$/i.test(attribute);
      return {...at, s: `${at.s}[${attribute}]`, k: 'attribute', t: value.slice(0, MAX_TEXT + 1), h: leads ? absolute(value) : ''};
    }
    const held = control(el);
    if (held) return {...at, e: '', h: '', ...held, t: held.t.slice(0, MAX_TEXT + 1)};
    if (el.tagName === 'META') return {...at, k: 'data', t: el.content, h: /^(https?:)?\/\//.test(el.content) ? absolute(el.content) : ''};
    const inner = el.querySelectorAll('input:not([type=hidden]),select,textarea');
    const text = textOf(el, false);
    if (!text && inner.length === 1) return {...place(inner[0], how), s: selector(inner[0])};
    const struck = el.querySelector(STRUCK);
    const link = el.closest('a[href]') || el.querySelector('a[href]');
    const picture = el.tagName === 'IMG' ? el : el.querySelector('img[src]');
    const stamp = el.matches('time[datetime],data[value],meter[value]') ? el : el.querySelector('time[datetime],data[value]');
    const own = ADDRESSES[el.tagName] && el.getAttribute(ADDRESSES[el.tagName]);
    const parts = [];
    if (text.length <= 80 && el.childElementCount) {
      const walker = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
      for (let t = walker.nextNode(); t && parts.length < 12; t = walker.nextNode()) if (t.data.trim() && !(struck && t.parentElement.closest(STRUCK))) parts.push(t.data.trim());
    }
    return {...at, k: 'text', t: text || (el.tagName === 'IMG' ? el.alt : '') || '', u: gone(el) ? '' : struck ? textOf(el, true) : null, p: parts.length > 1 ? parts : [],
      e: stamp && squash(stamp.textContent) === squash(el.textContent) ? stamp.getAttribute('datetime') || stamp.getAttribute('value') || '' : '',
      h: own ? absolute(own) : link ? link.href : picture ? picture.currentSrc || picture.src : ''};
  }

  // --- tables --------------------------------------------------------------------------------------
  const ROWS = 'tr,[role="row"]';
  const isHead = (cell) => cell.tagName === 'TH' ? !/^(grid)?cell$/.test(cell.getAttribute('role') || '') : /^(column|row)header$/.test(cell.getAttribute('role') || '');
  const grids = new Map();
  function grid(table) {
    // The table as slots: slots[row][column] is {cell, r, c, w, h} of the cell that covers it, by colspan and rowspan.
    if (grids.has(table)) return grids.get(table);
    const html = table.tagName === 'TABLE';
    const rows = html ? [...table.rows].filter((row) => row.closest('table') === table)
      : [...table.querySelectorAll('[role="row"]')].filter((row) => row.closest('[role="table"],[role="grid"],[role="treegrid"]') === table);
    const slots = rows.map(() => []);
    let left = MAX_SLOTS;
    rows.forEach((row, r) => {
      const cells = html ? [...row.cells] : [...row.querySelectorAll('[role="cell"],[role="gridcell"],[role="columnheader"],[role="rowheader"]')].filter((cell) => cell.closest('[role="row"]') === row);
      let c = 0;
      for (const cell of cells) {
        const at = Number(cell.getAttribute('aria-colindex'));
        if (!html && at >= 1) c = at - 1;
        while (slots[r][c]) c += 1;
        const w = Math.min(1000, html ? cell.colSpan : Number(cell.getAttribute('aria-colspan')) || 1);
        let rest = 1;
        const said = html ? cell.rowSpan : Number(cell.getAttribute('aria-rowspan')) || 1;
        const most = said === 0 ? rows.length : said;
        while (rest < most && r + rest < rows.length && rows[r + rest].parentElement === row.parentElement) rest += 1;
        const slot = {cell, r, c, w, h: rest};
        for (let y = r; y < r + rest; y += 1) for (let x = c; x < c + w && left > 0; x += 1) { slots[y][x] = slots[y][x] || slot; left -= 1; }
        c += w;
      }
    });
    const distinct = (r) => [...new Set(slots[r])].filter(Boolean);
    const width = Math.max(0, ...slots.map((row) => row.length));
    let heads = 0;
    while (heads < rows.length) {
      const all = distinct(heads), full = all.filter((slot) => squash(slot.cell.textContent));
      const named = all.length && ((html && table.tHead && table.tHead.contains(rows[heads])) || (full.length > 0 && full.every((slot) => isHead(slot.cell))));
      if (!named || (all.length === 1 && width > 1 && !(html && table.tHead && table.tHead.contains(rows[heads])))) break;
      heads += 1;
    }
    if (heads === rows.length) heads = 0;
    const isData = rows.map((row, r) => {
      const all = distinct(r);
      if (r < heads || !all.length || all.every((slot) => isHead(slot.cell))) return false;
      if (html && table.tFoot && table.tFoot.contains(row)) return false;
      return !(all.length === 1 && width > 1);  // one cell over all columns: a section's title, or "nothing found"
    });
    const found = {rows, slots, heads, isData, width, index: new Map(rows.map((row, r) => [row, r]))};
    grids.set(table, found);
    return found;
  }
  const called = (cell) => [cell.textContent, cell.getAttribute('abbr'), cell.getAttribute('aria-label')].filter(Boolean).map(fold);
  const columnsOf = new Map();
  function columns(table, asked) {
    // The columns under the header `asked`, as [first, last] of each; the lowest header row that has it decides.
    const key = asked, known = columnsOf.get(table) || new Map();
    columnsOf.set(table, known);
    if (known.has(key)) return known.get(key);
    const {slots, heads} = grid(table);
    const found = [];
    const rows = heads || (slots.length > 1 ? 1 : 0);
    for (let r = rows - 1; r >= 0 && !found.length; r -= 1) {
      for (const slot of new Set(slots[r])) if (slot && called(slot.cell).includes(asked)) found.push([slot.c, slot.c + slot.w - 1]);
    }
    if (!found.length && rows > 1) {  // "Price net": the names of both header rows
      for (let c = 0; c < slots[rows - 1].length; c += 1) {
        const names = [...new Set(slots.slice(0, rows).map((row) => row[c] && row[c].cell))].filter(Boolean).map((cell) => fold(cell.textContent));
        if (fold(names.join(' ')) === asked) found.push([c, c]);
      }
    }
    known.set(key, found);
    return found;
  }
  const tableOf = (row) => row.closest(row.tagName === 'TR' ? 'table' : '[role="table"],[role="grid"],[role="treegrid"]');
  const tablesIn = (scope) => [...scope.querySelectorAll('table,[role="table"],[role="grid"],[role="treegrid"]')].filter((table) => !(table.tagName === 'TABLE' && table.closest('[role="grid"],[role="treegrid"]') && !table.rows.length));
  function cellsAt(table, r, asked) {
    const {slots} = grid(table);
    const found = new Set();
    for (const [first, last] of columns(table, asked)) {
      for (let c = first; c <= last; c += 1) {
        const slot = slots[r][c];
        if (slot && slot.c >= first && slot.c + slot.w - 1 <= last) found.add(slot.cell);  // no cell that spans other columns too
      }
    }
    return [...found];
  }
  function dataRows(table, asked) {
    const {rows, heads, isData} = grid(table);
    return rows.filter((row, r) => isData[r] && (heads || r > 0) && asked.every((name) => columns(table, name).length));
  }
  function byColumn(scope, asked) {
    const row = scope.closest(ROWS);
    if (row && row === scope) {
      const table = tableOf(row);
      return table ? cellsAt(table, grid(table).index.get(row), asked) : [];
    }
    return tablesIn(scope).flatMap((table) => dataRows(table, [asked]).flatMap((one) => cellsAt(table, grid(table).index.get(one), asked)));
  }

  // --- labels --------------------------------------------------------------------------------------
  const words = (el) => {
    // A label's text: without the controls that it holds.
    if (!el.querySelector('select,textarea,script,style')) return el.textContent;
    let text = '';
    const walker = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
    for (let t = walker.nextNode(); t; t = walker.nextNode()) if (!t.parentElement.closest('select,textarea,script,style')) text += t.data;
    return text;
  };
  const AROUND = 'nav,aside,footer,[role="navigation"],[role="complementary"],[role="contentinfo"]';
  const said = (node) => node.nodeType === 3 ? node.data : node.nodeType === 1 && !SILENT.has(node.tagName) ? node.textContent : '';
  const tells = (node) => /[\p{L}\p{N}]/u.test(said(node)) || (node.nodeType === 1 && Boolean(node.matches('input,select,textarea,img,time') || node.querySelector('input:not([type=hidden]),select,textarea,img[alt]')));
  const signature = (el) => el.localName + '.' + [...el.classList].join('.');
  function cellsBeside(cell) {
    const row = cell.closest(ROWS), table = row && tableOf(row);
    if (!table) return [];
    const {slots, heads, index, isData, rows} = grid(table);
    const slot = slots[index.get(row)] && slots[index.get(row)].find((one) => one && one.cell === cell);
    if (!slot) return [];
    const column = cell.getAttribute('scope') === 'col' || cell.getAttribute('role') === 'columnheader' || (slot.r < heads && isHead(cell));
    if (column && rows.length > heads) {
      return rows.flatMap((one, r) => isData[r] && slots[r][slot.c] && slots[r][slot.c].w <= slot.w && !isHead(slots[r][slot.c].cell) ? [slots[r][slot.c].cell] : []);
    }
    const found = [];
    for (let r = slot.r; r < slot.r + slot.h; r += 1) {
      for (let c = slot.c + slot.w; c < slots[r].length; c += 1) {
        const next = slots[r][c];
        if (!next || next === slot) continue;
        if (isHead(next.cell)) break;
        if (!found.includes(next.cell)) found.push(next.cell);
      }
    }
    return found;
  }
  function details(dt) {
    let node = dt;
    while (node.nextElementSibling && node.nextElementSibling.tagName === 'DT') node = node.nextElementSibling;
    const found = [];
    for (node = node.nextElementSibling; node && node.tagName === 'DD'; node = node.nextElementSibling) found.push(node);
    return found;
  }
  function following(el) {
    // What stands after a label that is no cell, term or <label>: the nodes up to the next label of the same kind.
    let label = el;
    for (let up = 0; up < 4; up += 1) {
      let first = label.nextSibling;
      while (first && !tells(first)) first = first.nextSibling;
      const parent = label.parentElement;
      if (first) {
        const level = /^H[1-6]$/.test(label.tagName) ? Number(label.tagName[1]) : 0, own = signature(label);
        const kin = (node) => node.nodeType === 1 && (level ? /^H[1-6]$/.test(node.tagName) && Number(node.tagName[1]) <= level : signature(node) === own);
        const nodes = [];
        let all = true;
        for (let node = label.nextSibling; node && (all = !kin(node)); node = node.nextSibling) if (tells(node)) nodes.push(node);
        const second = parent.lastElementChild;
        const pair = parent.childElementCount === 2 && parent.firstElementChild === label && !level && kin(second) && !/[:：]\s*$/.test(second.textContent);
        if (pair && !all) {
          const told = [];
          for (let node = label.nextSibling; node; node = node.nextSibling) if (tells(node)) told.push(node);
          if (told.every((node) => node === second)) return [second];
        }
        return nodes;
      }
      if (!parent || parent === document.body || fold(words(parent)) !== fold(words(el)) || /^(TD|TH|DT|DD|TR|LI)$/.test(parent.tagName)) return [];
      label = parent;
    }
    return [];
  }
  function together(nodes, el) {
    const elements = nodes.filter((node) => node.nodeType === 1);
    if (nodes.length === 1 && elements.length === 1) return place(nodes[0], 'label');
    const held = elements.filter((node) => control(node) || node.querySelector('input:not([type=hidden]),select,textarea'));
    const free = nodes.filter((node) => node.nodeType === 3).map((node) => squash(node.data)).join('');
    if (held.length === 1 && elements.length === 1 && !/[\p{L}\p{N}]/u.test(free)) return place(held[0], 'label');
    const text = nodes.map((node) => node.nodeType === 3 ? node.data : textOf(node, false)).join(elements.some((node) => !getComputedStyle(node).display.startsWith('inline')) ? '\n' : ' ');
    return {s: selector(el.parentElement), v: shown(el) ? 1 : 0, w: 'label', k: 'text', t: squash(text).replace(/^[:：]\s*/, '') ? text.trim().replace(/^[:：]\s*/, '') : '', u: elements.some(goneIn) || gone(el) ? '' : null, e: '', h: (elements.find((node) => node.matches('a[href]')) || {}).href || '', p: []};
  }
  // What every label is looked up in, made once for a scope: without it, each label goes through the whole scope anew.
  const MANY_LABELS = 20; // from so many on, the lines of all elements are read at once, and not those that a label may be in
  const labelled = Object.values(arg.fields).filter((field) => field.kind === 'label').length;
  const rowsOf = (entry) => entry.rows = entry.rows || textOf(entry.el, false).split('\n').map((row) => [row, row.search(/[:：]/)]).filter(([, at]) => at > 0)
    .map(([row, at]) => [fold(row.slice(0, at)), squash(row.slice(at + 1))]);
  let indexed = null;
  function indexOf(scope) {
    if (indexed && indexed.scope === scope) return indexed;
    const index = {scope, names: new Map(), words: new Map(), lines: []};
    const put = (map, key, entry) => { if (map.has(key)) map.get(key).push(entry); else map.set(key, [entry]); };
    let seen = 0;
    for (const el of scope.querySelectorAll('*')) {
      if (++seen > MAX_ELEMENTS) { out.cut = MAX_ELEMENTS; break; }
      if (SILENT.has(el.tagName) || el.tagName === 'OPTION') continue;
      const entry = {el, at: seen};
      if (CONTROL.test(el.tagName) || el.isContentEditable) {
        const own = [el.getAttribute('aria-label'), ...(el.getAttribute('aria-labelledby') || '').split(/\s+/).map((id) => id && (document.getElementById(id) || {}).textContent)];
        if (!/^(submit|button|reset|image)$/.test(el.type)) for (const name of new Set(own.filter(Boolean).map(fold))) put(index.names, name, entry);
        continue;
      }
      const text = el.textContent;
      if (text.length > 2000 && el.tagName !== 'LABEL') continue;
      if (text.length <= 300 || el.tagName === 'LABEL') put(index.words, fold(words(el)), entry);
      if (/[:：]/.test(text)) index.lines.push({...entry, text: text.toLowerCase()});
    }
    if (labelled >= MANY_LABELS) {
      index.keys = new Map();
      for (const entry of index.lines) for (const label of new Set(rowsOf(entry).map(([label]) => label))) put(index.keys, label, entry);
    }
    indexed = index;
    return index;
  }
  function byLabel(scope, asked) {
    // Three ranks: what markup says is a label; lines "label: value"; what only stands before a value.
    const ranks = [[], [], []], index = indexOf(scope), done = new Set();
    const named = (index.names.get(asked) || []).map((entry) => [entry, 0]);
    const worded = (index.words.get(asked) || []).map((entry) => [entry, 1]);
    const lines = (index.keys ? index.keys.get(asked) || [] : index.lines).filter((entry) => entry.text.includes(asked)).map((entry) => [entry, 2]);
    function isLabel(el) {
      // Ranks what an element labels that says just this; done with it, where its lines are not to be looked at.
      if (el.tagName === 'LABEL' && el.control) { ranks[0].push(el.control.type === 'radio' ? radios(el.control) : [el.control]); done.add(el); return; }
      if ([...el.children].some((child) => fold(words(child)) === asked)) return;
      const inLabel = el.closest('label'), cell = el.closest('th,td,[role="rowheader"],[role="columnheader"],[role="cell"],[role="gridcell"],dt,dd');
      const whole = cell && cell.tagName !== 'DD' && scope.contains(cell) && fold(words(cell)) === asked;
      if (inLabel && inLabel.control && fold(words(inLabel)) === asked) done.add(el);
      else if (el.closest('a[href],button') && el.closest(AROUND)) done.add(el);
      else if (whole && cell.tagName === 'DT') ranks[0].push(details(cell));
      else if (whole) ranks[isHead(cell) ? 0 : 1].push(cellsBeside(cell));
      else if (el.tagName === 'LEGEND') ranks[0].push(radios(el.parentElement.querySelector('input[type=radio]')));
      else if (el.tagName === 'CAPTION') done.add(el);
      else ranks[/[:：]\s*$/.test(words(el)) ? 1 : 2].push({after: el});
    }
    for (const [entry, kind] of [...named, ...worded, ...lines].sort((one, other) => one[0].at - other[0].at || one[1] - other[1])) {
      const el = entry.el;
      if (kind === 0) ranks[0].push([el]);
      else if (kind === 1) isLabel(el);
      // The innermost element with a line that begins with the label and a colon.
      else if (!done.has(el) && ![...el.children].some((child) => child.textContent.toLowerCase().includes(asked) || getComputedStyle(child).display === 'block')) {
        for (const [label, text] of rowsOf(entry)) if (label === asked && text) ranks[1].push({line: el, text});
      }
    }
    for (const rank of ranks) {
      const places = rank.flatMap((hit) => Array.isArray(hit) ? hit.filter(Boolean).map((el) => [place(el, 'label'), el])
        : hit.line ? [[{s: selector(hit.line), v: shown(hit.line) ? 1 : 0, w: 'label', k: 'text', t: hit.text, u: goneIn(hit.line) ? '' : null, e: '', h: '', p: []}, hit.line]]
          : following(hit.after).length ? [[together(following(hit.after), hit.after), hit.after]] : []).filter(([found]) => found);
      const own = places.filter(([, el]) => !el.closest(AROUND));
      if (places.length) return (own.length ? own : places).map(([found]) => found);
    }
    return [];
  }
  function radios(first) {
    if (!first) return [];
    const all = first.name ? [...(first.form || document).querySelectorAll('input[type=radio]')].filter((one) => one.name === first.name) : [first];
    return all.filter((one) => one.checked);
  }

  // --- one field in one scope ----------------------------------------------------------------------
  function bySelect(scope, field) {
    let found = [...scope.querySelectorAll(field.query)];
    if (!found.length && scope !== document && scope.matches(field.query)) found = [scope];
    if (found.length > 1 && found.every((el) => el.type === 'radio' && el.name === found[0].name)) found = found.filter((el) => el.checked);
    return found.slice(0, MAX_PLACES).map((el) => place(el, 'selector', field.attribute)).filter(Boolean);
  }
  function places(scope, field) {
    const asked = fold(field.query);
    if (field.kind === 'select') return bySelect(scope, field);
    const root = scope === document ? document.documentElement : scope;
    if (field.kind === 'column') return byColumn(root, asked).slice(0, MAX_PLACES).map((cell) => place(cell, 'column'));
    return byLabel(root, asked).slice(0, MAX_PLACES);
  }

  // --- what is nearest to a place that is not there ------------------------------------------------
  const pairs = (text) => { const t = ` ${fold(text)} `; const found = new Set(); for (let i = 0; i < t.length - 1; i += 1) found.add(t.slice(i, i + 2)); return found; };
  function likeness(one, other) {
    const a = pairs(one), b = pairs(other);
    let common = 0;
    for (const pair of a) if (b.has(pair)) common += 1;
    return 2 * common / (a.size + b.size || 1);
  }
  function top(list, least) {
    const seen = new Set();
    return list.filter(([score, shownAs]) => score >= least && !seen.has(shownAs) && seen.add(shownAs)).sort((a, b) => b[0] - a[0]).slice(0, NEAREST).map(([, shownAs]) => shownAs);
  }
  function nearSelector(query, name) {
    // By its last part, and where that says only a tag, by the parts before it.
    const steps = query.split(/[\s>+~]+/).filter(Boolean);
    const last = [...steps].reverse().find((step) => /[.#[]/.test(step)) || steps[steps.length - 1] || query;
    const tag = (/^[a-z][\w-]*/i.exec(last) || [''])[0].toLowerCase();
    const names = [...last.matchAll(/[.#]([\w-]+)/g)].map((hit) => hit[1]);
    const values = [...last.matchAll(/\[([\w-]+)[~|^$*]?=?["']?([^"'\]]*)/g)].flatMap((hit) => [hit[1], hit[2]]).filter(Boolean);
    const asked = [...names, ...values];
    const found = [];
    let seen = 0;
    for (const el of document.body ? document.body.querySelectorAll('*') : []) {
      if (++seen > 20000) break;
      if (SILENT.has(el.tagName)) continue;
      const own = [...(el.id ? ['#' + el.id] : []), ...[...el.classList].map((one) => '.' + one), ...['name', 'itemprop', 'data-testid', 'data-field'].filter((one) => el.hasAttribute(one)).map((one) => `[${one}="${el.getAttribute(one)}"]`)];
      let best = 0, by = '';
      for (const one of own) for (const want of asked.length ? asked : [name]) {
        const score = likeness(one.replace(/^[.#]|^\[[\w-]+="|"\]$/g, ''), want);
        if (score > best) { best = score; by = one; }
      }
      for (const one of own) if (likeness(one.replace(/^[.#]|^\[[\w-]+="|"\]$/g, ''), name) > Math.max(best, 0.6)) { best = 0.7; by = one; }
      if (!best) continue;
      found.push([1.2 * best + (tag && el.localName === tag ? 0.1 : 0), `${el.localName}${by} (${JSON.stringify(short(el.textContent))})`]);
    }
    for (const el of byLabel(document.documentElement, fold(name))) found.push([0.75, `${el.s} (${JSON.stringify(short(el.t))})`]);
    const looser = query.replace(/\s*>\s*/g, ' ');  // scripts like to put an element around another
    if (looser !== query) {
      const count = document.querySelectorAll(looser).length;
      if (count) found.push([2, `${looser} (${count} element${count > 1 ? 's' : ''})`]);
    }
    return top(found, 0.45);
  }
  function nearLabel(query) {
    const found = [];
    for (const el of [...document.querySelectorAll('label,th,dt,legend,b,strong,h2,h3,h4,[role="rowheader"],[role="columnheader"],td:first-child')].slice(0, 3000)) {
      const text = short(words(el)).replace(/[:：]\s*$/, '');
      if (text && text.length <= 60) found.push([likeness(text, query), JSON.stringify(text)]);
    }
    return top(found, 0.25);
  }
  function nearColumn(query) {
    const found = [];
    for (const table of tablesIn(document).slice(0, 50)) {
      const {slots, heads} = grid(table);
      for (const row of slots.slice(0, Math.max(1, heads))) for (const slot of new Set(row)) {
        const text = slot && short(slot.cell.textContent);
        if (text && text.length <= 60) found.push([likeness(text, query) + 0.3, JSON.stringify(text)]);
      }
    }
    return top(found, 0.3);
  }

  // --- the answer ----------------------------------------------------------------------------------
  const valid = (name, css) => { try { document.querySelector(css); return true; } catch { out.invalid.push(name); return false; } };
  const fields = Object.entries(arg.fields);
  if (arg.awaited && valid('wait_for', arg.awaited)) out.awaited = Boolean(document.querySelector(arg.awaited));
  for (const [name, field] of fields) if (field.kind === 'select') valid(`fields.${name}`, field.query);
  if (arg.records) valid('records', arg.records);
  if (out.invalid.length) return JSON.stringify(out);
  let scopes = [document];
  if (arg.records) scopes = [...document.querySelectorAll(arg.records)];
  else if (arg.many && fields.length) {
    const asked = fields.filter(([, field]) => field.kind === 'column').map(([, field]) => fold(field.query));
    const tables = tablesIn(document).map((table) => dataRows(table, asked)).filter((rows) => rows.length);
    out.tables = tables.length;
    scopes = tables.length === 1 ? tables[0] : [];
  }
  if (arg.many) {
    out.count = scopes.length;
    if (scopes.length > MAX_RECORDS) out.cut = MAX_RECORDS;
    scopes = scopes.slice(0, MAX_RECORDS);
  }
  for (const scope of scopes) {
    const one = {s: scope === document ? '' : selector(scope), f: {}, x: 0};
    const row = scope !== document && scope.matches(ROWS) ? tableOf(scope) : null;
    if (row && grid(row).index.has(scope)) one.x = grid(row).isData[grid(row).index.get(scope)] ? 0 : 1;  // a header's or a section's row
    for (const [name, field] of fields) one.f[name] = places(scope, field);
    out.records.push(one);
  }
  for (const [name, field] of fields) {
    if (out.records.some((one) => one.f[name].length)) continue;
    if (arg.near !== false) out.near[name] = field.kind === 'select' ? nearSelector(field.query, name) : field.kind === 'label' ? nearLabel(field.query) : nearColumn(field.query);
  }
  if (arg.many) out.text = document.body ? document.body.innerText.slice(0, 200000) : '';
  if (arg.records && !out.count) out.near.records = nearSelector(arg.records, 'record');
  if (arg.json) {
    const texts = [];
    const source = document.querySelector('pre[data-document-source]') || document.body;
    if (/[/+]json/.test(out.type)) texts.push(['document', source ? source.textContent : '']);
    [...document.querySelectorAll('script')].forEach((script) => {
      const kind = (script.type || '').toLowerCase();
      const whole = /json/.test(kind) && !/importmap|speculation/.test(kind);
      if (whole) texts.push([/ld\+json/.test(kind) ? 'json-ld' : 'script', script.textContent, selector(script)]);
      else if (!kind || /javascript/.test(kind)) if (/^\s*(?:var |let |const |window\.|self\.)?[\w$.[\]\x22\x27]{1,80}\s*=\s*[[{]/.test(script.textContent.slice(0, 400))) texts.push(['state', script.textContent, selector(script)]);
    });
    let left = MAX_JSON;
    for (const [kind, text, at] of texts) {
      if ((left -= text.length) < 0) { out.jsonCut = true; left += text.length; continue; }
      out.json.push({k: kind, t: text, s: at || ''});
    }
  }
  return JSON.stringify(out);
}
