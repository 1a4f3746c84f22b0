(arg) => {
  // Puts `arg.drawn`, elements as [tag, properties, ...content], in the place of a document that is no HTML. `arg.url`:
  // address of one that the browser saved instead of showing it, '' for one that is shown. The text of the latter stays:
  // paths of JSON are looked up in it. Documents may forbid that HTML is made of texts, so that each element is made.
  const root = document.documentElement;
  if (arg.url && location.href !== 'about:blank') return false;
  const make = ([tag, properties, ...content]) => {
    const el = Object.assign(document.createElement(tag), properties);
    el.append(...content.map((part) => typeof part === 'string' ? part : make(part)));
    return el;
  };
  if (!document.body) root.append(document.createElement('body'));
  const source = make(['pre', { hidden: true }, document.body.textContent]);
  source.dataset.documentSource = '';
  document.body.replaceChildren(...(arg.url ? [] : [source]), ...arg.drawn.map((element) => make(element)));
  root.lang = root.lang || 'en';
  if (arg.url) root.dataset.documentUrl = arg.url;
  return true;
}
