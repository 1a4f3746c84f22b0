(arg) => {
  // The region of the page that scrolls by itself and holds a list, as one JSON string; null where there is none. `arg`:
  // `places`, selectors of elements of the list's rows, or `region`, `list` and `tags` as they were told before. `rows` are
  // the rows that the document holds now, each with what tells it from all others of the list: a grid that draws only what
  // is in sight uses its elements again for other rows. `drawn`: these rows fill the region, so it draws all of them.
  const MAX_PLACES = 400, MAX_ROWS = 2000;
  const scrolls = (el) => el.scrollHeight > el.clientHeight + 4 && el.clientHeight > 0 && /^(auto|scroll|overlay)$/.test(getComputedStyle(el).overflowY);
  let list = null, region = null, tags = null;
  if (arg.region) {  // found before
    list = document.querySelector(arg.list), region = document.querySelector(arg.region), tags = new Set(arg.tags);
    if (!list || !region) return null;
  } else {
    const found = [];
    for (const place of arg.places.slice(0, MAX_PLACES)) {
      try { const el = document.querySelector(place); if (el) found.push(el); } catch { /* no CSS: a place in the page's JSON */ }
    }
    if (!found.length) return null;
    list = found[0].parentElement;
    while (list && !found.every((el) => list.contains(el))) list = list.parentElement;
    region = list;
    const whole = (el) => !el || el === document.body || el === document.documentElement;
    while (!whole(region) && !scrolls(region)) region = region.parentElement;
    if (whole(region)) return null;
    const up = (el) => { while (el.parentElement !== list) el = el.parentElement; return el.localName; };
    tags = new Set(found.map(up));
  }

  function selector(el) {
    if (el === document.body) return 'body';
    if (el.id && /^[A-Za-z_][\w-]*$/.test(el.id) && document.getElementById(el.id) === el) return '#' + el.id;
    let nth = 1;
    for (let s = el.previousElementSibling; s; s = s.previousElementSibling) if (s.localName === el.localName) nth += 1;
    return `${el.parentElement ? selector(el.parentElement) : ''} > ${el.localName}:nth-of-type(${nth})`;
  }
  const top = region.getBoundingClientRect().top - region.scrollTop;
  const key = (el) => ['aria-rowindex', 'row-index', 'row-id', 'data-index', 'aria-posinset', 'data-row-index', 'data-key'].map((name) => el.getAttribute(name)).find(Boolean)
    || String(Math.round(el.getBoundingClientRect().top - top));
  const rows = [...list.children].filter((el) => tags.has(el.localName) && el.textContent.trim()).slice(0, MAX_ROWS);
  return JSON.stringify({
    region: selector(region), list: selector(list), tags: [...tags],
    above: region.scrollTop > 1, below: region.scrollTop + region.clientHeight < region.scrollHeight - 1,
    drawn: rows.reduce((sum, el) => sum + el.offsetHeight, 0) > 0.9 * region.scrollHeight, rows: rows.map((el) => [key(el), el.textContent.replace(/\s+/g, ' ').trim().slice(0, 500)]),
  });
}
