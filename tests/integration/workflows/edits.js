(edits) => {
  // Where the page states each field before it is edited; what stands there afterwards is what it states.
  const rows = () => Object.fromEntries([...document.querySelectorAll('tr')].map((row) => [(row.querySelector('th') || {}).textContent, row.querySelector('td')]));
  const first = rows();
  const owners = {name: [document.querySelector('h1')], price: [document.querySelector('p.price')], available: [document.querySelector('p.stock')],
    sku: [first.SKU], weight_g: [first.Weight]};
  const all = () => [...document.body.querySelectorAll('*')].filter((el) => el.tagName !== 'SCRIPT');
  const leaves = () => all().filter((el) => el.childNodes.length === 1 && el.firstChild.nodeType === 3);
  const data = () => document.querySelector('script[type="application/ld+json"]');
  for (const [kind, a, b, n] of edits) {
    if (kind === 'data' && data()) {
      // The data for machines is gone, or says other numbers, as on a page that is changed in one of two places.
      if (n % 3 === 0) data().remove();
      else data().textContent = data().textContent.replace(/\d/g, (digit) => String((Number(digit) + n) % 10));
      continue;
    }
    const from = kind === 'swap' || kind === 'number' ? leaves() : all();
    if (from.length < 2) continue;
    const one = from[a % from.length], other = from[b % from.length];
    if (kind === 'rename') one.className = 'x' + n;
    if (kind === 'alike') one.className = other.className;
    if (kind === 'wrap') { const box = document.createElement('div'); one.replaceWith(box); box.append(one); }
    if (kind === 'move' && !one.contains(other)) other.after(one);
    if (kind === 'duplicate') one.after(one.cloneNode(true));
    if (kind === 'copy' && !one.contains(other)) other.after(one.cloneNode(true));
    if (kind === 'delete') one.remove();
    if (kind === 'swap') { const text = one.textContent; one.textContent = other.textContent; other.textContent = text; }
    if (kind === 'number') one.textContent = one.textContent.replace(/\d/g, (digit) => String((Number(digit) + 1 + n) % 10));
  }
  const now = rows();
  owners.sku.push(now.SKU); owners.weight_g.push(now.Weight);
  const said = data() ? JSON.parse(data().textContent) : {}, offer = said.offers || {};
  const stated = {name: said.name, price: offer.price, sku: said.sku, available: offer.availability};
  const told = Object.fromEntries(Object.entries(owners).map(([name, own]) => [name, own.filter((el) => el && el.isConnected).map((el) => el.textContent)]));
  // What the page shows counts; what only its data says is stated where nothing of it is shown.
  for (const [name, texts] of Object.entries(told)) if (!texts.length && stated[name]) texts.push(stated[name].replace('https://schema.org/OutOfStock', 'Out of stock').replace('https://schema.org/InStock', 'In stock'));
  return JSON.stringify(told);
}
