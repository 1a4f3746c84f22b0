() => {
  // What only a live document tells of its forms. Numbers are those of the tree that was taken right before.
  const { nodes } = globalThis.shoalPage, fields = {};
  nodes.forEach((node, number) => {
    if (/^(input|select|textarea)$/.test(node.localName)) fields[number] = [nodes.indexOf(node.form), node.validationMessage || ''];
  });
  // Where a click on the middle of the window would go.
  const middle = nodes.indexOf(document.elementFromPoint(innerWidth / 2, innerHeight / 2));
  return { fields, middle, loaded: performance.timeOrigin };
}
