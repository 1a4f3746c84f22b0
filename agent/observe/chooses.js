// Whether what a field sends is chosen from a list of the site's own. The words of a search are sent as they are typed,
// whatever is suggested: a field that says so, or the only one of a form that asks by its address.
const shoalChooses = (() => {
  const isSaid = field => field.getAttribute('role') === 'combobox' || /^(list|both)$/.test(field.getAttribute('aria-autocomplete') || '')
    || field.getAttribute('aria-haspopup') === 'listbox';
  const sendsNothing = control => /^(BUTTON|FIELDSET|OBJECT|OUTPUT)$/.test(control.tagName) || /^(submit|image|reset|button)$/.test(control.type)
    || (control.type === 'hidden' && !!control.value); // an empty one waits for what is chosen
  const isSearch = field => field.type === 'search' || field.getAttribute('role') === 'searchbox' || !!field.closest('search,[role=search]') || (field.form?.method === 'get' && !!field.name
    && [...field.form.elements].every(control => control === field || sendsNothing(control)));
  return field => field.tagName === 'INPUT' && isSaid(field) && !field.list && !isSearch(field);
})();
