(arg) => {
  // Selectors by which elements of the page can be found again, best first, as one JSON string. `arg`: `records`, for each
  // record a map of field names to selectors of the elements that its values stood at; `many`, whether the page is a list.
  const PLAIN = /^[A-Za-z_][\w-]*$/, MADE = /\d{3,}|^(active|selected|current|odd|even|first|last|open|hover|focus|visited)$/i;
  const KEYS = ['itemprop', 'property', 'data-testid', 'data-field', 'data-th', 'data-label', 'name'];
  const find = (selector, within) => { try { return [...within.querySelectorAll(selector)]; } catch { return []; } };
  const classes = (el) => [...el.classList].filter((name) => PLAIN.test(name) && !MADE.test(name));
  function own(el) {
    // What the element is called by itself.
    const tag = el.localName, names = [];
    for (const key of KEYS) {
      const value = el.getAttribute(key);
      if (value && value.length < 60 && !/["\\\n]/.test(value)) names.push(`${tag}[${key}="${value}"]`);
    }
    return [...names, ...classes(el).map((name) => `${tag}.${name}`)];
  }
  function step(el) {
    const kin = el.parentElement ? [...el.parentElement.children].filter((other) => other.localName === el.localName) : [el];
    return el.localName + (kin.length > 1 ? `:nth-of-type(${kin.indexOf(el) + 1})` : '');
  }
  function path(el, top) {
    const steps = [];
    for (let at = el; at && at !== top; at = at.parentElement) steps.unshift(step(at));
    return steps.join(' > ');
  }
  function within(el, scope) {
    // Selectors that find `el` alone in its scope.
    const names = own(el), found = [...names, el.localName];
    for (let up = el.parentElement, depth = 0; up && up !== scope && depth < 4; up = up.parentElement, depth += 1) {
      const held = up.id && PLAIN.test(up.id) && !MADE.test(up.id) ? ['#' + up.id] : own(up);
      for (const above of held.slice(0, 2)) found.push(...[...names, el.localName].map((name) => `${above} ${name}`), `${above} > ${path(el, up)}`);
    }
    if (scope === document) {
      if (el.id && PLAIN.test(el.id) && !MADE.test(el.id)) found.unshift('#' + el.id);
      found.push(`body > ${path(el, document.body)}`);
    } else found.push(el === scope ? ':scope' : `:scope > ${path(el, scope)}`);
    return [...new Set(found)].filter((selector) => selector === ':scope' || (([first, more]) => first === el && !more)(find(selector, scope))).slice(0, 12);
  }
  const ATTRIBUTES = {A: ['href'], IMG: ['src', 'alt'], TIME: ['datetime'], META: ['content'], LINK: ['href'], DATA: ['value']};
  function places(el, scope) {
    const found = within(el, scope).map((select) => ({select}));
    const also = (el.tagName === 'META' || el.tagName === 'LINK') ? 'front' : 'back';
    const attributes = (ATTRIBUTES[el.tagName] || []).filter((name) => el.hasAttribute(name));
    const given = found.slice(0, 4).flatMap(({select}) => attributes.map((attribute) => ({select, attribute})));
    return also === 'front' ? given : [...found, ...given];
  }
  const one = (selector) => find(selector, document)[0] || null;
  const elements = arg.records.map((record) => Object.fromEntries(Object.entries(record).map(([name, selector]) => [name, one(selector)]).filter(([, el]) => el)));
  const out = {records: [], fields: {}};
  if (!arg.many) {
    for (const [name, el] of Object.entries(elements[0] || {})) out.fields[name] = places(el, document);
    return JSON.stringify(out);
  }
  // A record's element: the largest that holds all of its values and none of another record's.
  const held = elements.map((record) => Object.values(record)).filter((all) => all.length);
  const scopes = held.map((all, i) => {
    let scope = all[0];
    while (scope && !all.every((el) => scope.contains(el))) scope = scope.parentElement;
    const others = held.filter((_, j) => j !== i);
    if (!scope || others.some((other) => other.some((el) => scope.contains(el)))) return null;
    while (scope.parentElement && scope.parentElement !== document.body && others.length && !others.some((other) => other.some((el) => scope.parentElement.contains(el)))) scope = scope.parentElement;
    return scope;
  });
  if (!scopes.length || scopes.includes(null)) return JSON.stringify(out);
  const first = scopes[0], names = [...own(first), first.localName], around = [];
  for (let up = first.parentElement, depth = 0; up && depth < 4; up = up.parentElement, depth += 1) {
    const above = up.id && PLAIN.test(up.id) && !MADE.test(up.id) ? ['#' + up.id] : own(up).slice(0, 2);
    for (const name of above) around.push(...names.map((inner) => `${name} ${up === first.parentElement ? '> ' : ''}${inner}`));
  }
  const all = new Set(scopes);
  const exact = (selector) => (found => found.length === all.size && found.every((el) => all.has(el)))(find(selector, document));
  out.records = [...new Set([...own(first), ...around, first.localName])].filter(exact).slice(0, 3);
  for (const name of new Set(elements.flatMap(Object.keys))) {
    const holders = elements.map((record, i) => [record[name], i]).filter(([el]) => el);
    const [el, i] = holders[0], scope = scopes[i];
    if (scope) out.fields[name] = places(el, scope);
  }
  return JSON.stringify(out);
}
