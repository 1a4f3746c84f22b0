// The nodes of this document in their order, as [place of the parent, type, name, text, attributes, id]: attributes as
// names and values in turn, with what fields hold now; 0 for what the walker has given no id. What cannot be seen has a
// negative one.
(() => {
  const roots = new Map(shoalWalker.places().filter(root => root !== document).map(root => [root.host, root]));
  const nodes = [];
  const attributesOf = element => {
    const held = new Map([...element.attributes].map(({ name, value }) => [name, value]));
    if (element.value !== undefined && element.type !== 'password') held.set('value', String(element.value));
    if (element.checked === true) held.set('checked', '');
    if (element.checked === false) held.delete('checked');
    return [...held].flat();
  };
  const isSeen = element => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || getComputedStyle(element).display === 'contents';
  const idOf = element => isSeen(element) ? shoalWalker.known(element) : -shoalWalker.idOf(element);
  const add = (node, parent) => {
    const at = nodes.length, element = node.nodeType === Node.ELEMENT_NODE;
    const text = node.nodeType === Node.TEXT_NODE ? node.nodeValue : '';
    nodes.push([parent, node.nodeType, node.nodeName, text, element ? attributesOf(node) : [], element ? idOf(node) : 0]);
    const root = element ? roots.get(node) : null;
    if (root) add(root, at);
    for (const child of node.childNodes) if (child.nodeType !== Node.COMMENT_NODE) add(child, at);
  };
  add(document, -1);
  return nodes;
})()
