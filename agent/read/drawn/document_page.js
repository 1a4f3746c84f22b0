(arg) => {
  // Puts `arg.html` in the place of a document that is no HTML. `arg.url`: address of one that the browser saved instead of
  // showing it, '' for one that is shown.
  const root = document.documentElement;
  if (arg.url && location.href !== 'about:blank') return false;
  if (!document.body) root.append(document.createElement('body'));
  document.body.innerHTML = arg.html;
  root.lang = root.lang || 'en';
  if (arg.url) root.dataset.documentUrl = arg.url;
  return true;
}
