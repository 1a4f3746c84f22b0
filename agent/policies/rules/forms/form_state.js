() => {
  // What only a live document tells of its forms. Numbers are those of the tree that was taken right before, if one was.
  const nodes = globalThis.shoalPage?.nodes ?? [], fields = {}, forms = new Map([[null, -1]]);
  const place = form => { if (!forms.has(form)) forms.set(form, nodes.indexOf(form)); return forms.get(form); };
  nodes.forEach((node, number) => {
    if (/^(input|select|textarea)$/.test(node.localName)) fields[number] = [place(node.form), node.validationMessage || ''];
  });
  // Where a click on the middle of the window would go, and whether that is out of the page's flow.
  const middle = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
  let covered = false;
  for (let node = middle; node; node = node.parentElement) covered ||= getComputedStyle(node).position === 'fixed' || node.matches('dialog,[aria-modal="true"]');
  return { fields, known: nodes.length, middle: nodes.indexOf(middle), covered, loaded: performance.timeOrigin,
    heading: document.querySelector('h1')?.textContent ?? '', busy: document.querySelector('[aria-busy="true"]') !== null };
}
