(arg) => {
  // The element at `arg.x`, `arg.y`, or at the CSS path `arg.path`, or else the one with the focus: what it is for a person
  // who acts on it, and what it holds. What a password field holds is never told. An option at a place stands for the list
  // it is in, or for what opened that: kind "choice", with the option's text.
  const ACTED = 'a[href],area[href],button,input,select,textarea,summary,option,label,[contenteditable],[onclick],[tabindex],' +
    '[role=button],[role=link],[role=option],[role=menuitem],[role=tab],[role=checkbox],[role=radio],[role=switch],[role=combobox],[role=treeitem]';
  const squash = (text) => (text || '').replace(/\s+/g, ' ').trim();
  let el = arg.path ? document.querySelector(arg.path) : 'x' in arg ? document.elementFromPoint(arg.x, arg.y) : document.activeElement;
  if (!el || el === document.body || el === document.documentElement) return null;
  if (el.tagName === 'IFRAME' || el.tagName === 'FRAME') return {kind: 'lost', why: 'it is in a frame'};
  if (el.shadowRoot && 'x' in arg) return {kind: 'lost', why: 'it is in a shadow root'};
  if ('x' in arg) el = el.closest(ACTED) || el;
  if (el.tagName === 'LABEL' && el.control) el = el.control;
  const option = 'x' in arg && el.getAttribute('role') === 'option' ? el : null, list = option && option.closest('[role=listbox]');
  if (list && list.getAttribute('aria-multiselectable') !== 'true') {
    const open = [...document.querySelectorAll('[role=combobox][aria-expanded=true],[aria-haspopup=listbox][aria-expanded=true]')];
    const names = (one) => `${one.getAttribute('aria-controls') || ''} ${one.getAttribute('aria-owns') || ''}`.split(/\s+/);
    const own = list.id && open.find((one) => names(one).includes(list.id)), free = open.filter((one) => !names(one).join(''));
    el = own || (free.length === 1 ? free[0] : list);
  }
  const steps = [];
  for (let node = el; node && node.nodeType === 1 && node !== document.documentElement; node = node.parentElement) {
    let nth = 1;
    for (let s = node.previousElementSibling; s; s = s.previousElementSibling) if (s.localName === node.localName) nth += 1;
    steps.unshift(`${CSS.escape(node.localName)}:nth-of-type(${nth})`);
  }
  const type = (el.type || '').toLowerCase();
  let kind = 'click', value = '';
  if (option) { kind = el === option ? 'click' : 'choice'; value = squash(option.getAttribute('aria-label') || option.textContent); }
  else if (el.tagName === 'INPUT' && type === 'file') return {kind: 'lost', why: 'a file is chosen'};
  else if (el.tagName === 'INPUT' && (type === 'checkbox' || type === 'radio')) kind = 'check';
  else if (el.tagName === 'INPUT' && type === 'password') kind = 'secret';
  else if (el.tagName === 'SELECT') { kind = 'select'; value = squash([...el.selectedOptions].map((one) => one.label).join(', ')); }
  else if ((el.tagName === 'INPUT' && !/^(submit|button|reset|image)$/.test(type)) || el.tagName === 'TEXTAREA') { kind = 'field'; value = el.value; }
  else if (el.isContentEditable) { kind = 'field'; value = el.innerText; }
  return {kind, path: ['html', ...steps].join(' > '), value, checked: !!el.checked, many: kind === 'select' && el.multiple, long: el.tagName === 'TEXTAREA' || el.isContentEditable,
    name: el.getAttribute('name') || el.id || ''};
}
