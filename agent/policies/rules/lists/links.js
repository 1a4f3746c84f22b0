(arg) => {
  // What a page offers to loop over, and the ways to its next page, as one JSON string. `arg`: `select` and `next` (CSS or
  // words, may be null), the folded `words` of `select`, `counts` (the page's text too), `onward` (only the ways on). Links are grouped by where they stand; Python chooses among
  // the groups by words.
  const MAX_ITEMS = 20000, MAX_TEXT = 300, MAX_SAID = 200000;
  const line = (text) => (text || '').replace(/\s+/g, ' ').trim();
  // The address of a page, without the place on it; a fragment that scripts read as a path names a page itself.
  const pageOf = (url) => (/#[/!]/.test(url) ? url : url.split('#')[0]);
  const here = pageOf(location.href);
  const unread = [];  // which of the two are no CSS
  const query = (name) => { try { return arg[name] ? [...document.querySelectorAll(arg[name])] : null; } catch { unread.push(name); return null; } };
  // An element without a box of its own (display: contents) is seen where what is in it has one.
  const shown = (el) => el.checkVisibility({visibilityProperty: true}) || (getComputedStyle(el).display === 'contents' && drawn(el));
  const drawn = (el) => { const range = document.createRange(); range.selectNodeContents(el); return getComputedStyle(el).visibility === 'visible' && range.getClientRects().length > 0; };
  const isLink = (el) => (el.localName === 'a' || el.localName === 'area') && el.hasAttribute('href');
  // What a browser would open: it has read a link's address already, in whichever spelling; <link> and drawings do not say.
  const address = (a) => { if (typeof a.protocol === 'string') return a; try { return new URL(a.getAttribute('href'), document.baseURI); } catch { return {href: '', protocol: ''}; } };
  const web = (a) => /^https?:$/.test(address(a).protocol);
  const usable = (a) => web(a) && !['', '#'].includes(a.getAttribute('href').trim());
  // Links that lead off the web and are no way of saying "this page does something": they are left out, and counted.
  const strange = (a) => !web(a) && !/^(javascript|mailto|tel|sms):$/.test(address(a).protocol);
  const written = (a) => a.getAttribute('href').slice(0, MAX_TEXT);
  const label = (el) => line(el.innerText || el.textContent).slice(0, MAX_TEXT) || el.getAttribute('aria-label') || el.title || (el.querySelector('img[alt]') || {}).alt || '';

  function mainLink(el) {
    // The link that a block is about: the one of its heading, the one around it, else the first with text.
    if (isLink(el)) return usable(el) ? el : null;
    const inside = [...el.querySelectorAll('a[href]')].filter(usable);
    if (!inside.length) {
      const around = el.closest('a[href]');
      return around && usable(around) ? around : null;
    }
    return inside.find((a) => a.closest('h1,h2,h3,h4,h5,h6') || a.querySelector('h1,h2,h3,h4,h5,h6'))
      || inside.find((a) => line(a.textContent)) || inside[0];
  }
  function item(el) {
    const link = mainLink(el);
    const head = el.querySelector ? el.querySelector('h1,h2,h3,h4,h5,h6') : null;
    const text = link ? label(head && !link.contains(head) && !head.contains(link) ? head : link) : label(el);
    const off = !link && [el, ...el.querySelectorAll('a[href]')].find((a) => isLink(a) && strange(a));
    return {h: link && usable(link) ? address(link).href : '', t: text || label(el), x: off ? written(off) : ''};
  }

  const out = {url: location.href, lang: document.documentElement.lang || '', css: null, groups: [], relNext: '',
    height: document.documentElement.scrollHeight, viewport: innerHeight, ready: document.readyState, busy: Boolean(document.querySelector('[aria-busy="true"]')),
    scripts: [...document.scripts].some((s) => !s.type || /javascript|module/i.test(s.type)), cut: 0, unread, about: '', heard: [], astray: [],
    title: document.title, h1: line([...document.querySelectorAll('h1')].slice(0, 3).map((h) => h.textContent).join(' ')).slice(0, 300),
    says: arg.counts && document.body ? document.body.innerText.slice(0, MAX_SAID) : ''};

  const matched = query('select');
  if (matched) {
    out.css = matched.slice(0, MAX_ITEMS).map(item);
    if (matched.length > MAX_ITEMS) out.cut = MAX_ITEMS;
  }

  // --- groups --------------------------------------------------------------------------------------
  const STATE = /^(first|last|odd|even|active|current|selected|is-|has-|js-)/;
  const kind = (el) => {
    for (const name of el.classList) if (!STATE.test(name) && !/\d/.test(name)) return el.localName + '.' + name;
    return el.localName;
  };
  const landmark = (el) => {
    for (let n = el; n && n !== document.body; n = n.parentElement) {
      const role = n.getAttribute('role'), tag = n.tagName;
      if (tag === 'NAV' || role === 'navigation' || role === 'menu' || role === 'menubar') return 'nav';
      if (tag === 'ASIDE' || role === 'complementary') return 'aside';
      if (tag === 'DIALOG' || role === 'dialog') return 'dialog';
      if (tag === 'FOOTER' && !n.parentElement.closest('main,article,section')) return 'footer';
      if (tag === 'HEADER' && !n.parentElement.closest('main,article,section')) return 'header';
      if (role === 'contentinfo') return 'footer';
      if (role === 'banner') return 'header';
      if (tag === 'MAIN' || role === 'main') return 'main';
      for (const name of n.id ? [n.id, ...n.classList] : n.classList) {
        if (/^(site-?|page-?|top-?)?(nav|navbar|navigation|menu|breadcrumbs?|pagination|pager|topbar|toolbar|sort|sorting|filters?|facets?|tabs)$/i.test(name)) return 'nav';
        if (/^(site-?|page-?)?footer$/i.test(name)) return 'footer';
        if (/^(left-?|right-?)?side-?bar$/i.test(name)) return 'aside';
      }
    }
    return '';
  };
  function headingBefore(el) {
    // The heading of the section that the group stands in: inside an ancestor, before the group.
    for (let n = el, up = 0; n && n !== document.body && up < 8; n = n.parentElement, up += 1) {
      for (let s = n.previousElementSibling, steps = 0; s && steps < 6; s = s.previousElementSibling, steps += 1) {
        if (/^H[1-6]$/.test(s.tagName)) return line(s.textContent).slice(0, 120);
        const inner = s.querySelector && s.tagName !== 'NAV' ? s.querySelectorAll('h1,h2,h3,h4,h5,h6') : [];
        if (inner.length === 1) return line(inner[0].textContent).slice(0, 120);
      }
      const named = n.getAttribute('aria-label');
      if (named) return named.slice(0, 120);
      if (n.tagName === 'TABLE' && n.caption) return line(n.caption.textContent).slice(0, 120);
    }
    return '';
  }
  if (!arg.onward && (!out.css || !out.css.length)) {
    const byPath = new Map();
    let seen = 0;
    for (const a of document.querySelectorAll('a[href]')) {
      if (++seen > MAX_ITEMS) { out.cut = MAX_ITEMS; break; }
      const off = strange(a);
      if (!usable(a) && !off) continue;
      const path = [];
      let top = a;
      for (let n = a, up = 0; n && n !== document.body && up < 6; n = n.parentElement, up += 1) { path.push(kind(n)); top = n; }
      const key = path.join('<');
      if (!byPath.has(key)) byPath.set(key, {links: [], top, off: []});
      if (off) byPath.get(key).off.push(written(a));
      else byPath.get(key).links.push(a);
    }
    for (const [key, {links, off}] of byPath) {
      if (!links.length) { out.astray.push(...off); continue; }
      // One entry per page that is linked, with the longest text: a card links its picture and its name.
      const byPage = new Map();
      for (const a of links) {
        const found = byPage.get(address(a).href);
        if (!found || label(found).length < label(a).length) byPage.set(address(a).href, a);
      }
      const list = [...byPage.values()];
      const first = list[0];
      let words = '';
      let container = first;
      for (let n = first, up = 0; n && n !== document.body && up < 6; n = n.parentElement, up += 1) {
        words += ' ' + (typeof n.className === 'string' ? n.className : '') + ' ' + (n.id || '');
        if (list.length > 1 && !container.contains(list[1])) container = n;
      }
      const card = (() => { let n = first; while (n.parentElement && n.parentElement !== document.body && !(list.length > 1 && n.parentElement.contains(list[1]))) n = n.parentElement; return n; })();
      out.groups.push({
        k: key, n: list.length, off, w: line(words).slice(0, 300), head: headingBefore(container), mark: landmark(first),
        cap: container.closest('table') ? line([...(container.closest('table').tHead || {rows: []}).rows].map((r) => r.textContent).join(' ')).slice(0, 200) : '',
        rich: (card.querySelector('h2,h3,h4,h5,h6') || card.matches('h2,h3,h4,h5,h6') ? 1 : 0) + (card.querySelector('img,picture') ? 1 : 0) + (line(card.textContent).length > 2 * label(first).length + 5 ? 1 : 0),
        away: list.filter((a) => pageOf(address(a).href) !== here).length, texts: new Set(list.map(label)).size,
        v: list.filter((a) => shown(a)).length,
        items: list.map((a) => ({h: address(a).href, t: label(card !== a && !a.textContent.trim() ? card : a).slice(0, MAX_TEXT)})),
      });
    }
    out.groups.sort((a, b) => b.n - a.n);
    out.groups = out.groups.slice(0, 60);
    // What the page as a whole is called, and which of the words it knows at all.
    const decoded = (() => { try { return decodeURIComponent(location.href); } catch { return location.href; } })();
    out.about = line([document.title, ...[...document.querySelectorAll('h1')].slice(0, 5).map((h) => h.textContent), decoded].join(' ')).slice(0, 1000);
    if ((arg.words || []).length) {
      const text = document.documentElement.textContent.toLowerCase().normalize('NFKD').replace(/\p{M}/gu, '');
      out.heard = arg.words.filter((word) => text.includes(word));
    }
  }

  // --- onwards -------------------------------------------------------------------------------------
  const rel = document.querySelector('link[rel~="next"][href], a[rel~="next"][href]');
  if (rel && web(rel)) out.relNext = address(rel).href;
  else if (rel && strange(rel)) out.astray.push(written(rel));
  const PAGER = '[class*="paginat" i],[class*="pager" i],[class*="paging" i],[id*="paginat" i],[id*="pager" i],[aria-label*="paginat" i],.pages';
  const inPager = (el) => Boolean(el.closest(PAGER));
  const namesOf = (el) => (el.getAttribute('class') || '') + ' ' + (el.id || '');
  // A control that shows nothing but a drawing says by its names where it leads, and so does its entry of the pager.
  const drawnNext = (el) => {
    const entry = el.parentElement && el.parentElement.localName === 'li' ? el.parentElement : el;
    const names = [el, entry, ...el.querySelectorAll('*')].map(namesOf).join(' ');
    return /(^|[-_\s])(next|(chevron|angle|arrow|caret)[-_]?right)([-_\s]|$)/i.test(names) && !/prev|left|last|double/i.test(names);
  };
  const said = (el) => line(el.textContent || (el.localName === 'input' ? el.value : ''));
  // The way to an element by its place among its siblings: one of many that no name tells apart.
  const placeOf = (el) => {
    const steps = [];
    for (let n = el; n && n !== document.documentElement; n = n.parentElement) steps.unshift(`${n.localName}:nth-child(${[...n.parentElement.children].indexOf(n) + 1})`);
    return steps.join(' > ');
  };
  const control = (el) => {
    const target = el.closest('a[href],button,[role="button"],[role="link"]') || el.querySelector('a[href],button,[role="button"]') || el;
    const entry = target.parentElement && target.parentElement.localName === 'li' ? target.parentElement : target;
    const off = target.disabled || target.getAttribute('aria-disabled') === 'true' || Boolean(target.closest('.disabled,[aria-disabled="true"]'))
      || [target, entry].some((n) => /(^|[-_\s])disabled([-_\s]|$)/i.test(n.getAttribute('class') || ''));
    const link = isLink(target) && usable(target) ? address(target).href : '', text = said(target).slice(0, 80), pager = inPager(target);
    const drawn = pager && !text && !target.getAttribute('aria-label') && !target.title && drawnNext(target);
    return {h: link, t: text, a: target.getAttribute('aria-label') || '',
      ti: target.title || '', c: (typeof target.className === 'string' ? target.className : '') + ' ' + (target.id || ''), rel: drawn ? 'next' : target.getAttribute('rel') || '',
      s: pager && !link ? placeOf(target) : '',
      post: target.form && /^(submit|image)$/.test(target.type) && target.form.method === 'post' ? 1 : 0, off: off ? 1 : 0, v: shown(target) ? 1 : 0};
  };
  const nexts = query('next');
  out.nextCss = nexts && nexts.length ? nexts.slice(0, 5).map(control) : null;
  const short = [];
  const BUTTONS = 'a[href],button,[role="button"],input[type="button"]';
  // A pager may be made of any elements: those that take a click are known by the pointer that browsers show over them.
  const pressed = [...document.querySelectorAll(PAGER)].flatMap((pager) => [...pager.querySelectorAll('a:not([href]),li,span,div')])
    .filter((el) => !el.closest(BUTTONS) && !el.querySelector(BUTTONS) && !el.querySelector('a,li,span,div') && getComputedStyle(el).cursor === 'pointer');
  for (const el of new Set([...document.querySelectorAll(BUTTONS), ...pressed])) {
    const text = said(el);
    if (text.length > 40 && !el.getAttribute('aria-label')) continue;
    short.push(el);
    if (short.length > 4000) break;
  }
  out.controls = short.filter((el) => {
    const name = said(el) + (el.getAttribute('aria-label') || '') + el.title;
    return name ? arg.controls || /^\d{1,5}$/.test(said(el)) || name.length <= 60 : inPager(el);
  }).slice(-600).map(control);
  // The number of the page we are on: the one number in a pager that is not a link, or that is marked as current.
  const current = [...document.querySelectorAll('[aria-current="page"],[aria-current="true"],.active,.current,.selected')].find((el) => inPager(el) && /\d/.test(el.textContent))
    || document.querySelector('[aria-current="page"],[aria-current="true"],.pagination .active,.pagination .current,.pager .active,.pager .current');
  out.current = current ? line(current.textContent) : '';
  return JSON.stringify(out);
}
