// Comes before rrweb's recorder: what a page could change of the world that it runs in.
// Elements with an id are properties of the window; an own one hides them. rrweb looks for these.
for (const name of ["Zone", "exports", "module", "define"]) {
  Object.defineProperty(globalThis, name, { value: undefined, writable: true, configurable: true });
}
// Events that a page makes up are not recorded.
{
  const add = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (type, listener, options) {
    const heard = typeof listener === "function" ? (event) => event.isTrusted && listener.call(this, event) : listener;
    return add.call(this, type, heard, options);
  };
}
