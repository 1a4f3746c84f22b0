// What a page shows of work in progress, with its components and the frames of its own site.
// `last`: what is in progress now is not told again.
last => {
  const lasting = globalThis.shoalLasting ??= new WeakSet(), counted = globalThis.shoalCounted ??= new WeakMap();
  const GROWS_MS = 500; // a bar that grows does so at least as often
  const MANY = 5000; // elements: on a larger page no words are looked for
  // "Loading" alone, or what ends with dots: an order can be called "Processing", and a dock one for loading.
  const SAID = /^(?:(?:loading|please wait|wird geladen|bitte warten|chargement|cargando|caricamento|carregando)\W{0,3}|(?:now )?(?:loading|please wait|just a moment|one moment|fetching|processing|connecting|saving|wird geladen|wird gespeichert|l(?:ä|a)dt|bitte warten|chargement|enregistrement|veuillez patienter|cargando|guardando|espere|carregando|salvando|caricamento|salvataggio|laden)\b[^.…]{0,40}(?:\.\.\.|…))$/i;
  const NAMED = /(^|[^a-z])(skeleton|shimmer|spinner|loader|loading|placeholder-glow)([^a-z]|$)/i;
  const SKIP = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'OPTION', 'TEXTAREA']);
  const places = [];
  const gather = place => {
    places.push(place);
    for (const element of place.querySelectorAll('*')) {
      if (element.shadowRoot) gather(element.shadowRoot);
      else if (element.tagName === 'IFRAME' && element.contentDocument?.body && element.getClientRects().length) gather(element.contentDocument);
    }
  };
  gather(document);
  const nodes = places.reduce((sum, place) => sum + place.querySelectorAll('*').length, 0);
  const shown = (element, pseudo) => {
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false;
    const box = element.getBoundingClientRect(), view = element.ownerDocument.defaultView;
    const drawn = pseudo ? getComputedStyle(element, pseudo) : null;
    const width = Math.max(box.width, parseFloat(drawn?.width) || 0), height = Math.max(box.height, parseFloat(drawn?.height) || 0);
    const inView = box.top < view.innerHeight && box.top + height > 0 && box.left < view.innerWidth && box.left + width > 0;
    return inView && width >= 8 && height >= 8;
  };
  let grown = 0; // of all bars that tell how far they are
  const stated = new Set(), moving = new Map(); // by what the page says, and by what moves or stands for what will come
  for (const place of places) {
    for (const one of place.querySelectorAll('[aria-busy=true], [role=progressbar]:not([aria-valuenow]), progress:not([value])')) stated.add(one);
    // One that tells how far it is: it is at work while that grows.
    for (const one of place.querySelectorAll('[role=progressbar][aria-valuenow], progress[value]')) {
      const value = one.localName === 'progress' ? one.position : +one.getAttribute('aria-valuenow') / (+one.getAttribute('aria-valuemax') || 100);
      grown += value;
      const [before, since] = counted.get(one) || [];
      if (before !== value) counted.set(one, [value, performance.now()]);
      if (value < 1 && (before !== value || performance.now() - since < GROWS_MS)) moving.set(one, '');
    }
    for (const drawing of place.querySelectorAll('[repeatCount=indefinite]')) if (drawing.ownerSVGElement) moving.set(drawing.ownerSVGElement, '');
    for (const one of place.querySelectorAll('[class*=skeleton i], [class*=shimmer i], [class*=spinner i], [class*=loader i], [class*=loading i]')) {
      if (!one.textContent.trim() && NAMED.test((one.getAttribute('class') || '').replace(/([a-z])([A-Z])/g, '$1 $2'))) moving.set(one, '');
    }
    for (const motion of place.getAnimations()) {
      const { target, pseudoElement } = motion.effect || {};
      if (target && motion.playState === 'running' && motion.effect.getTiming().iterations === Infinity) moving.set(target, pseudoElement || '');
    }
    if (nodes > MANY || place.body === null) continue;
    const texts = document.createTreeWalker(place.body || place, NodeFilter.SHOW_TEXT);
    for (let text; (text = texts.nextNode());) {
      if (text.data.length < 200 && SAID.test(text.data.trim()) && !SKIP.has(text.parentNode.nodeName)) stated.add(text.parentElement);
    }
  }
  const said = [...stated].filter(element => element && !lasting.has(element) && shown(element));
  const busy = [...said, ...[...moving].filter(([element, pseudo]) => !lasting.has(element) && !stated.has(element) && shown(element, pseudo)).map(([element]) => element)];
  const body = document.body;
  // A logo alone is what many show while their scripts begin.
  const LOGOS = 2;
  const bare = !!document.scripts.length && !lasting.has(document) && (body?.querySelectorAll('img, svg').length || 0) <= LOGOS &&
    !body?.querySelector('a, button, input, select, textarea, canvas, video, iframe, object, [role]:not([role=img], [role=presentation])');
  // So is a name in a bar; a sentence is something to read.
  const NAME = /^[^.!?:;]{1,30}$/;
  const text = bare ? (body?.innerText || '').trim() : '', empty = bare && !text, titled = bare && NAME.test(text);
  // A frame of controls may be there before what it is for: scripts fill its main part.
  const main = document.scripts.length ? body?.querySelector('main, [role=main]') : null;
  const hollow = !!main && !lasting.has(main) && main.checkVisibility() && !main.innerText.trim() &&
    !main.querySelector('img, svg, a, button, input, select, textarea, canvas, video, iframe, object');
  if (last) {
    for (const element of busy) lasting.add(element);
    if (bare) lasting.add(document);
    if (hollow) lasting.add(main);
  }
  const words = element => (element.textContent || '').trim().slice(0, 40);
  const name = element => element.getAttribute('aria-label') || element.getAttribute('role') || words(element) || element.localName;
  const names = [...new Set(busy.map(name))].slice(0, 3);
  return { empty, titled, hollow, names, said: said.length, count: busy.length, scripted: !!document.scripts.length, grown, nodes };
}
