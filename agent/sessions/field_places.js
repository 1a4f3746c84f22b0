// Where the elements of selectors can be seen: of each its box on the page and what it says, null where the selector
// finds none or several, or where the element is not seen in the window. And the part of the page that the window shows.
({selectors, most}) => {
  const ATTRIBUTES = ['href', 'src', 'content', 'datetime', 'value', 'alt', 'title', 'aria-label'];
  const round = (number) => Math.round(number * 10) / 10;
  const boxOf = (el) => {
    const box = el.getBoundingClientRect();
    const left = Math.max(box.left, 0), top = Math.max(box.top, 0);
    const right = Math.min(box.right, innerWidth), bottom = Math.min(box.bottom, innerHeight);
    if (right - left < 2 || bottom - top < 2) return null;
    if (!el.checkVisibility({opacityProperty: true, visibilityProperty: true})) return null;
    const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2); // else something lies over it
    if (hit === null || !(el.contains(hit) || hit.contains(el))) return null;
    return [left + scrollX, top + scrollY, right - left, bottom - top].map(round);
  };
  const place = (selector) => {
    let found;
    try {
      found = document.querySelectorAll(selector);
    } catch {
      return null; // not every source is a selector
    }
    const box = found.length === 1 ? boxOf(found[0]) : null;
    if (box === null) return null;
    const el = found[0];
    const said = (name) => (typeof el[name] === 'string' ? el[name] : el.getAttribute(name)); // addresses in full
    const attributes = ATTRIBUTES.filter((name) => el.hasAttribute(name)).map((name) => [name, said(name).slice(0, most)]);
    return {box, text: (el.innerText || '').slice(0, most), attributes};
  };
  return {shows: [scrollX, scrollY, innerWidth, innerHeight], places: selectors.map(place)};
}
