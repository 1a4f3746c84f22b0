(arg) => {
  // What an open page says of having nothing to list, as one JSON string: its short lines that may say so, each with
  // `beside`, whether it stands outside of the page's content or names a control, and the run of entries that the page
  // shows in its content all the same. `arg.said`: an expression for words that such lines hold.
  const LONGEST = 120, MOST = 40, ENTRIES = 3, ROWS = 2, SHORT = 80;
  const SAID = new RegExp(arg.said, 'i');
  const LANDMARKS = 'nav,aside,dialog,[role="navigation"],[role="complementary"],[role="contentinfo"],[role="banner"],[role="dialog"],[role="menu"],[role="menubar"],[role="listbox"],[role="tablist"]';
  const CONTROLS = 'a[href],button,label,summary,option,[role="button"],[role="tab"],[role="option"],[role="menuitem"]';
  const WAYS = /(^|[\s_-])(nav|navbar|navigation|menu|breadcrumbs?|pagination|paginator|pager)([\s_-]|$)/i;
  const BESIDE = /(^|[\s_-])(cart|minicart|basket|bag|wishlist|footer|sidebar|cookies?|consent)([\s_-]|$)/i;
  const line = (text) => (text || '').replace(/\s+/g, ' ').trim();
  const shown = (el) => (el.checkVisibility ? el.checkVisibility({visibilityProperty: true, opacityProperty: true}) : true) && el.getBoundingClientRect().height > 0;
  const names = (el) => `${el.getAttribute('class') || ''} ${el.id || ''}`;
  const around = (el, test) => { for (let at = el; at && at !== document.body; at = at.parentElement) if (test(at)) return true; return false; };
  // Header and footer of the document, not those of its sections.
  const ofDocument = (el) => /^(header|footer)$/.test(el.localName) && !el.parentElement.closest('main,article,section,[role="main"]');
  const way = (el) => around(el, (at) => at.matches(LANDMARKS) || ofDocument(at) || WAYS.test(names(at)));
  const beside = (el) => Boolean(el.closest(CONTROLS)) || way(el) || around(el, (at) => BESIDE.test(names(at)));

  const lines = [], blocks = [];
  for (const el of document.body ? document.body.querySelectorAll('*') : []) {
    if (lines.length >= MOST) break;
    if (![...el.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim()) || el.textContent.length > 4 * LONGEST || !SAID.test(el.textContent) || /^(script|style|noscript|template)$/.test(el.localName) || !shown(el)) continue;
    for (const text of el.innerText.split('\n').map(line)) if (text.length <= LONGEST && SAID.test(text)) { lines.push({text, beside: beside(el)}); blocks.push(el); }
  }

  // An entry of a list leads somewhere or has a number; advice for another search does neither.
  const entry = (el) => { const text = line(el.textContent); return text && (el.matches('a[href]') || el.querySelector('a[href]') || /\d/.test(text)) && shown(el); };
  const row = (el) => [...el.cells].filter((cell) => cell.localName === 'td' && line(cell.textContent)).length > 1;
  function run() {
    const mains = [...document.querySelectorAll('main,[role="main"]')].filter(shown);
    const root = mains.length === 1 && lines.every((said, n) => said.beside || mains[0].contains(blocks[n])) ? mains[0] : document.body;
    let longest = [];
    for (const parent of root ? [root, ...root.querySelectorAll('*')] : []) {
      if (parent.childElementCount < ROWS || parent.matches('select,datalist,tr,head,svg *')) continue;
      const kinds = new Map();
      for (const child of parent.children) {
        const kind = `${child.localName} ${child.getAttribute('class') || ''}`;
        if (!kinds.has(kind)) kinds.set(kind, []);
        kinds.get(kind).push(child);
      }
      for (const alike of kinds.values()) {
        const isRows = alike[0].localName === 'tr';
        if (alike.length < (isRows ? ROWS : ENTRIES) || alike.length <= longest.length) continue;
        const entries = alike.filter((el) => (isRows ? row(el) : true) && entry(el));
        if (entries.length >= (isRows ? ROWS : ENTRIES) && entries.length > longest.length && !way(parent)) longest = entries;
      }
    }
    return longest;
  }
  const entries = run();
  const headings = [...document.querySelectorAll('h1')].slice(0, 3).map((el) => line(el.textContent)).join(' ');
  return JSON.stringify({lines, entries: entries.length, first: entries.length ? line(entries[0].textContent).slice(0, SHORT) : '', about: `${document.title} ${headings}`});
}
