// What a page shows of work in progress, in its main document. `last`: what is in progress now is not told again.
last => {
  const lasting = globalThis.shoalLasting ??= new WeakSet();
  const shown = element => {
    const box = element.getBoundingClientRect();
    const inView = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
    return inView && box.width >= 8 && box.height >= 8 && element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  };
  const marks = new Set(document.querySelectorAll('[aria-busy=true], [role=progressbar]:not([aria-valuenow]), progress:not([value])'));
  for (const motion of document.getAnimations()) {
    const target = motion.effect?.target;
    if (target && motion.playState === 'running' && motion.effect.getTiming().iterations === Infinity) marks.add(target);
  }
  const busy = [...marks].filter(element => !lasting.has(element) && shown(element)), body = document.body;
  const empty = !!document.scripts.length && !lasting.has(document) && !(body?.innerText || '').trim() &&
    !body?.querySelector('a, button, input, select, textarea, canvas, img, svg, video, iframe, object, [role]');
  if (last) {
    for (const element of busy) lasting.add(element);
    if (empty) lasting.add(document);
  }
  const words = element => (element.textContent || '').trim().slice(0, 40);
  const name = element => element.getAttribute('aria-label') || element.getAttribute('role') || words(element) || element.localName;
  const names = [...new Set(busy.map(name))].slice(0, 3);
  return { empty, names, count: busy.length, nodes: document.getElementsByTagName('*').length };
}
