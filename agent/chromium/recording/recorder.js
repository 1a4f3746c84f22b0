// Runs in an isolated world of each document, behind rrweb's recorder, of which the page sees nothing.
// HIDDEN, DOCUMENT_BYTES, MOST_ELEMENTS and NO_CLASS come before it.
(() => {
  if (window.top !== window || globalThis.shoalRecording) return; // frames of the same site are recorded from here
  const FLUSH_MS = 300;
  const FLUSH_CHARS = 200_000;
  const MASKED = '[contenteditable]:not([contenteditable="false" i])';
  const document_ = `${performance.timeOrigin}-${Math.random()}`;
  const tell = globalThis.shoalRecorded;
  let batch = [];
  let held = 0; // characters in the batch
  let said = 0; // characters of the document so far
  let flushed = performance.now();
  let stop = () => {};
  let over = "";

  const flush = () => {
    flushed = performance.now();
    if (batch.length === 0 && !over) return;
    const text = `{"document":${JSON.stringify(document_)},"over":${JSON.stringify(over)},"events":[${batch.join(",")}]}`;
    batch = [];
    held = 0;
    tell(text);
  };
  const end = (why) => {
    over = why;
    stop();
    flush();
  };

  // A page may clear all timers, those of this world included: what comes later takes the batch along.
  const emit = (event) => {
    if (over) return;
    const text = JSON.stringify(event);
    said += text.length;
    if (said > DOCUMENT_BYTES) return end("bytes");
    batch.push(text);
    held += text.length;
    const leads = event.type === 2 || event.data.source === 2; // a whole page, or a click: the page may be gone next
    if (leads || held > FLUSH_CHARS || performance.now() - flushed > FLUSH_MS) flush();
    else if (batch.length === 1) setTimeout(flush, FLUSH_MS);
  };
  const typed = (text, element) =>
    element && (element.ownerDocument.designMode === "on" || element.closest(MASKED)) ? HIDDEN : text;

  const begin = () => {
    if (location.href === "about:blank" && !document.body?.firstChild) return; // a tab before its first page
    if (document.getElementsByTagName("*").length > MOST_ELEMENTS) return end("elements");
    stop =
      rrwebRecord.record({
        emit,
        recordAfter: "DOMContentLoaded",
        blockClass: NO_CLASS,
        ignoreClass: NO_CLASS,
        maskTextClass: NO_CLASS,
        maskAllInputs: true,
        maskInputFn: (text) => (text ? HIDDEN : ""),
        maskTextSelector: "*",
        maskTextFn: typed,
        slimDOMOptions: "all",
        sampling: { mousemove: 100, scroll: 200, media: 800, input: "last" },
        errorHandler: () => true,
      }) || stop;
  };
  globalThis.shoalRecording = { flush, stop: () => end("session") };
  addEventListener("pagehide", flush, true);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin, { once: true });
  else begin();
})();
