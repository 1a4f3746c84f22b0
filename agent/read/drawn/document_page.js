(arg) => {
  // Draws what a document states as tables and lines, so that it is read as a page is. `arg`: `parts` ({head, rows}, {facts}
  // or {lines}), `url` of a document that the browser saved instead of showing it, '' for one that is shown.
  const root = document.documentElement;
  if (arg.url && location.href !== 'about:blank') return false;
  const shown = document.body ? document.body.textContent : '';
  if (!document.body) root.append(document.createElement('body'));
  document.body.replaceChildren();
  root.lang = root.lang || 'en';
  if (arg.url) root.dataset.documentUrl = arg.url;
  else {  // the text itself stays: paths of JSON are looked up in it
    const source = document.createElement('pre');
    source.dataset.documentSource = '';
    source.hidden = true;
    source.textContent = shown;
    document.body.append(source);
  }
  const made = (tag, text) => {
    const el = document.createElement(tag);
    if (/^https?:\/\/\S+$/.test(text)) {
      const link = document.createElement('a');
      link.href = text;
      link.textContent = text;
      el.append(link);
    } else el.textContent = text;
    return el;
  };
  const row = (cells, tags) => {
    const tr = document.createElement('tr');
    tr.append(...cells.map((text, i) => made(tags[Math.min(i, tags.length - 1)], text)));
    return tr;
  };
  for (const part of arg.parts) {
    if (part.lines) { document.body.append(...part.lines.map((text) => made('div', text))); continue; }
    const table = document.createElement('table');
    if (part.facts) table.append(...part.facts.map((pair) => row(pair, ['th', 'td'])));
    else {
      const head = document.createElement('thead'), body = document.createElement('tbody');
      head.append(row(part.head, ['th']));
      body.append(...part.rows.map((cells) => row(cells, ['td'])));
      table.append(head, body);
    }
    document.body.append(table);
  }
  return true;
}
