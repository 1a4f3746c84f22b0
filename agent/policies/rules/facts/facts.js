(arg) => {
  // Everything a page states about itself, in one walk over its document, as one JSON string (the serialiser of
  // the protocol is slower than JSON.stringify by a factor). It judges structure only; words are matched in Python.
  const MANY = Boolean(arg && arg.many);
  // Parts of the words that the schema asks for: elements whose names hold none of them are not worth sending.
  const asked = arg && arg.words && arg.words.length ? new RegExp(arg.words.join('|'), 'i') : null;
  const MAX_NODES = 25000, MAX_NAMED = 1500, MAX_PAIRS = 800, MAX_TEXT = 5000, MAX_OWN = 100000, MAX_BLOCKS = 2000, LONG = 300;
  let longLeft = 60000;  // characters of long texts that are sent in all
  const SKIP = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'IFRAME', 'OBJECT', 'CANVAS', 'VIDEO', 'AUDIO',
    'SELECT', 'OPTION', 'TEXTAREA', 'DATALIST', 'HEAD']);
  const INLINE = /^(A|ABBR|B|BUTTON|CITE|CODE|EM|I|KBD|MARK|SMALL|SPAN|STRONG|SUB|SUP|VAR)$/;
  const HEADING = /^H[1-6]$/;
  const here = location.href.split('#')[0];
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
    url: location.href, title: document.title, lang: document.documentElement.lang || '', canonical,
    ready: document.readyState, busy: false, scripts: 0, truncated: false,
    jsonld: [], meta: [], items: [], pairs: [], headings: [], named: [], anchors: [], text: '', aside: '', groups: [],
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
  out.busy = Boolean(document.querySelector('[aria-busy="true"]'));

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

  // --- structure -----------------------------------------------------------------------------------
  const foreign = (a) => {
    const to = a.href.split('#')[0];
    return /^https?:|^file:/.test(to) && to !== here && to !== canonical && !/\.(jpe?g|png|gif|webp|avif|svg)(\?|$)/i.test(to);
  };
  const STATE = /^(first|last|odd|even|active|current|selected|is-|has-|js-)/;
  const kind = (el) => {
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
    if (/^(DT|DD|P|OPTION|H[1-6]|TH|TD|LABEL|BR|BUTTON|SCRIPT|STYLE|SOURCE)$/.test(el.tagName)) return false;
    if (el.querySelector('h1')) return false;
    if (el.tagName === 'TR') return el.querySelectorAll(':scope > td').length >= 3;
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
  function isBlock(el) {
    return !/^(DT|DD|OPTION|BR|SCRIPT|STYLE|SOURCE|TH|TD|COL|COLGROUP|BUTTON)$/.test(el.tagName) && leaves(el)[0] > 0;
  }
  function repeats(el) {
    const byKind = new Map();
    for (let c = el.firstElementChild; c; c = c.nextElementSibling) {
      const key = kind(c);
      if (byKind.has(key)) byKind.get(key).push(c); else byKind.set(key, [c]);
    }
    const found = [];
    for (const members of byKind.values()) {
      const loneRow = MANY && members[0].tagName === 'TR' && members[0].querySelector('td');
      if (members.length < 2 && !loneRow) continue;
      const accept = MANY ? isBlock : (m) => isCard(m, members.length);
      const fitting = members.filter((m, i) => (i > 60 && !MANY) || accept(m));
      if (!fitting.length) continue;
      const first = shape(fitting[Math.min(1, fitting.length - 1)]);
      const same = fitting.filter((m, i) => i > 60 || alike(shape(m), first));
      if (same.length >= 2 || (loneRow && same.length)) found.push(same);
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
        for (const [pattern, found] of NAMES) if (pattern.test(name) && !el.querySelector('h1')) return found;
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
  let sink = out;
  const newSink = (el) => ({items: [], pairs: [], headings: [], named: [], text: '', s: selector(el)});
  const names = (el) => (el.id ? el.id + ' ' : '') + (typeof el.className === 'string' ? el.className : '');

  function pair(how, label, value, el, ctx, parts) {
    label = line(label).replace(/[:：]\s*$/, '');
    value = clean(value);
    let struck = ctx.struck;
    if (!value && struckTexts.has(el)) { value = clean(struckTexts.get(el)); struck = true; }
    if (!label || !value || label.length > 60 || value.length > 2000 || sink.pairs.length >= MAX_PAIRS) return;
    if (value.length > LONG && (longLeft -= value.length) < 0) return;
    const link = el.matches('a[href]') ? el : el.querySelector('a[href]');
    const picture = el.querySelector('img[src]');
    const stamp = el.querySelector('time[datetime],data[value],[aria-label]');
    sink.pairs.push({how, l: label, t: value, s: selector(el), v: ctx.hidden ? 0 : 1, r: ctx.region, o: order,
      x: ctx.target ? 1 : 0, h: link ? link.href : picture ? picture.currentSrc || picture.src : '', p: parts || [],
      z: stamp ? stamp.getAttribute('datetime') || stamp.getAttribute('value') || stamp.getAttribute('aria-label') : '',
      st: struck ? 1 : 0, ar: ctx.around});
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
    if (text.length > LONG && (longLeft -= text.length) < 0) return;
    if (!text && !aria && !exact && !data.length && !link && !tip) return;
    sink.named.push({g: tag, c: names(el), d: data, a: aria, ti: tip, rel, pr: prop, e: exact, h: link, alt: tag === 'img' ? el.alt : '',
      t: text, p: parts, s: selector(el), v: ctx.hidden ? 0 : 1, r: ctx.region, st: ctx.struck ? 1 : 0, f: sized ? parseFloat(getComputedStyle(el).fontSize) || 0 : 0, o: at,
      x: ctx.target ? 1 : 0, ar: ctx.around});
  }

  function propValue(el, text) {
    const tag = el.tagName;
    if (el.hasAttribute('content')) return el.getAttribute('content');
    if (/^(A|AREA|LINK)$/.test(tag) && el.hasAttribute('href')) return text || el.href;
    if (/^(IMG|EMBED|SOURCE|VIDEO|AUDIO|IFRAME)$/.test(tag)) return el.currentSrc || el.src;
    if (tag === 'TIME' && el.dateTime) return el.dateTime;
    if (tag === 'DATA' || tag === 'METER') return el.getAttribute('value') || text;
    return text;
  }

  function tableRows(table, texts, ctx) {
    const rows = [...table.rows].filter((row) => row.closest('table') === table);
    const cells = rows.map((row) => [...row.cells]);
    const headed = cells.length > 1 && cells[0].length > 1 && cells[0].every((c) => c.tagName === 'TH') && cells.slice(1).some((r) => r.some((c) => c.tagName === 'TD'));
    if (headed && cells.length === 2) {
      cells[1].forEach((cell, i) => cells[0][i] && pair('table', texts.get(cells[0][i]) || '', texts.get(cell) || '', cell, ctx));
      return;
    }
    const two = cells.every((r) => r.length <= 2);
    for (const row of cells) {
      if (row.length === 2 && row[1].tagName === 'TD' && (row[0].tagName === 'TH' || (two && !headed))) {
        pair('table', texts.get(row[0]) || '', texts.get(row[1]) || '', row[1], ctx);
      } else if (row.length === 4 && row[0].tagName === 'TH' && row[2].tagName === 'TH') {
        pair('table', texts.get(row[0]) || '', texts.get(row[1]) || '', row[1], ctx);
        pair('table', texts.get(row[2]) || '', texts.get(row[3]) || '', row[3], ctx);
      }
    }
  }
  function columnNames(row) {
    const table = row.closest('table');
    const head = table && (table.tHead ? table.tHead.rows[table.tHead.rows.length - 1] : table.rows[0]);
    if (!head || head === row || ![...head.cells].some((c) => c.tagName === 'TH')) return null;
    const list = [];
    for (const cell of head.cells) for (let i = 0; i < Math.min(cell.colSpan, 20); i++) list.push(line(cell.textContent));
    return list;
  }

  const texts = new Map(), struckTexts = new Map();
  // Returns the element's text (the visible part of it, unless all of it is hidden, without what is struck through,
  // unless all of it is), and its text parts.
  function walk(el, ctx, depth) {
    const at = ++order;
    let text = '', blocks = false, headed = false;
    const parts = [];
    const groups = el.childElementCount ? repeats(el) : [];
    const memberOf = new Map();
    for (const members of groups) {
      const group = MANY && out.groups.length < 200 ? {s: selector(el), k: kind(members[0]), n: members.length, r: ctx.region, blocks: []} : null;
      if (group) out.groups.push(group);
      for (const m of members) memberOf.set(m, group);
    }
    for (let child = el.firstChild; child; child = child.nextSibling) {
      if (child.nodeType === 3) {
        const data = child.data;
        if (!data.trim()) {
          if (data) { text += ' '; own.push(' '); }
          continue;
        }
        const said = data.replace(/\s+/g, ' ');
        text += said;
        parts.push(data.trim());
        if (!ctx.hidden && !ctx.struck) {
          if (ctx.region || ctx.card) { if ((besideLength += said.length) < 20000) beside.push(said); }
          else if ((ownLength += said.length) < MAX_OWN) own.push(said);
        }
        continue;
      }
      if (child.nodeType !== 1) continue;
      if (child.tagName === 'BR' || child.tagName === 'HR') { text += '\n'; own.push('\n'); continue; }
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
      const isMember = memberOf.size > 0 && memberOf.has(child);
      const found = region(child, ctx.inside);
      const inner = {
        hidden, region: found || ctx.region, card: ctx.card || (isMember && !MANY) || teasers.has(child),
        struck: ctx.struck || (child.childElementCount < 4 && style.textDecorationLine.includes('line-through')) || /^(DEL|S|STRIKE)$/.test(child.tagName),
        inside: ctx.inside || /^(MAIN|ARTICLE)$/.test(child.tagName) || child.getAttribute('role') === 'main',
        target: ctx.target || child === target, item: ctx.item, prop: false, item_: null,
        around: (names(el) + ' ' + ctx.around).slice(0, 120),
      };
      if (!MANY && (inner.card || (inner.region && inner.region !== 'aside'))) {
        // Menus, footers and teasers of other things hold no fact of this page's own record, only words beside it.
        // They are the larger part of many pages, and each element that is walked costs as much as all its text.
        const said = line(child.textContent).slice(0, 4000);
        if (said && !hidden && !inner.struck && (besideLength += said.length) < 20000) beside.push('\n', said, '\n');
        if (block) { blocks = true; own.push('\n'); }
        if (!hidden || ctx.hidden) text += block ? '\n' + said + '\n' : said;
        continue;
      }
      if (child.hasAttribute('itemscope')) {
        inner.item = {type: child.getAttribute('itemtype') || '', props: {}, s: selector(child), r: inner.region, card: inner.card ? 1 : 0, v: hidden ? 0 : 1};
        inner.item_ = inner.item;
      }
      const prop = child.getAttribute('itemprop');
      if (prop) inner.prop = true;
      if (block) { own.push('\n'); beside.push('\n'); }
      const outer = sink;
      const group = isMember ? memberOf.get(child) : null;
      if (group && group.blocks.length < MAX_BLOCKS) { sink = newSink(child); group.blocks.push(sink); }
      let [sub, subParts] = walk(child, inner, depth + 1);
      // A picture made of text, such as stars, says what its label says.
      if (child.getAttribute('role') === 'img' && child.getAttribute('aria-label')) { sub = child.getAttribute('aria-label'); subParts = [sub]; }
      if (group && sink !== outer) {
        sink.text = clean(sub).slice(0, 2000);
        if (child.tagName === 'TR') {
          const columns = columnNames(child);
          if (columns) [...child.cells].forEach((cell, i) => columns[i] && pair('table', columns[i], texts.get(cell) || '', cell, inner));
          else [...child.cells].forEach((cell, i) => pair('column', String(i + 1), texts.get(cell) || '', cell, inner));
        }
        sink = outer;
      }
      if (block) { blocks = true; own.push('\n'); beside.push('\n'); }
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
    if (HEADING.test(tag)) {
      if (!ctx.card) sink.headings.push({l: Number(tag[1]), t: line(text), s: selector(el), v: ctx.hidden ? 0 : 1, r: ctx.region, o: at, x: ctx.target ? 1 : 0,
        h: (el.querySelector('a[href]') || el.closest('a[href]') || {}).href || '', ti: el.title || (el.querySelector('[title]') || {}).title || ''});
    }
    if (!mine && !MANY) return;
    if (text.length < 4000) texts.set(el, text);
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
    if (tag === 'TABLE') tableRows(el, texts, ctx);
    else if (tag === 'DL') {
      let label = '';
      for (const node of el.querySelectorAll('dt,dd')) {
        if (node.closest('dl') !== el) continue;
        if (node.tagName === 'DT') label = texts.get(node) || '';
        else pair('definition-list', label, texts.get(node) || '', node, ctx);
      }
    } else if (size && size <= 400 && !/^(TR|TBODY|THEAD|TD|TH|DT|DD|UL|OL|SELECT)$/.test(tag) && !HEADING.test(tag)) {
      const kids = el.children;
      if (!INLINE.test(tag) && (kids.length === 2 || kids.length === 3) && !/^(TH|TD|DT|DD|LI|OPTION|A|BUTTON)$/.test(kids[0].tagName)) {
        const label = line(texts.get(kids[0]) || '');
        if (label && label.length <= 40) {
          let rest = '';
          for (let n = kids[0].nextSibling; n; n = n.nextSibling) rest += n.nodeType === 3 ? n.data : n.nodeType === 1 ? ' ' + (texts.get(n) || '') : '';
          let before = '';
          for (let n = el.firstChild; n && n !== kids[0]; n = n.nextSibling) if (n.nodeType === 3) before += n.data;
          if (!before.trim()) pair('label', label, rest.trim().replace(/^[:：]\s*/, ''), kids[1], ctx);
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
    const start = {hidden: false, region: '', card: false, struck: false, inside: false, target: false, item: null, prop: false, item_: null, around: ''};
    if (document.body.hasAttribute('itemscope')) {
      start.item = {type: document.body.getAttribute('itemtype') || '', props: {}, s: 'body', r: '', card: 0, v: 1};
      out.items.push(start.item);
    }
    walk(document.body, start, 0);
  }
  out.text = clean(own.join('')).slice(0, MAX_OWN);
  out.aside = clean(beside.join('')).slice(0, 20000);
  return JSON.stringify(out);
}
