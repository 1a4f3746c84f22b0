// Stands before the service worker of Playwright's trace viewer, in one file with it. That worker answers requests of
// this origin with what a site gave. Here each such answer is held back, or made unable to act with this origin's
// cookies: no file of a trace becomes a document, a frame, a script or a worker; a page's snapshot runs Playwright's
// own script alone; and no header of the site's is passed on.
(() => {
  const PASSIVE = new Set(["", "image", "font", "style", "audio", "video", "track"]);
  const DOCUMENTS = new Set(["document", "iframe", "frame"]);
  const BARE = "default-src 'none'; sandbox";
  const DRAWN =
    "default-src 'none'; script-src 'unsafe-inline'; style-src * data: blob: 'unsafe-inline'; " +
    "img-src * data: blob:; font-src * data: blob:; media-src * data: blob:; frame-src 'self' data:; form-action 'none'; frame-ancestors 'self'; sandbox allow-same-origin allow-scripts";
  const KEPT = ["Content-Type", "Content-Length", "Cache-Control", "Access-Control-Allow-Origin"];

  const within = (request) => {
    const scope = self.registration.scope;
    return request.url.startsWith(scope) ? new URL(request.url).pathname.slice(new URL(scope).pathname.length) : null;
  };

  const refused = (request) => {
    const path = within(request);
    if (DOCUMENTS.has(request.destination) || request.mode === "navigate") {
      return path !== null && path.startsWith("file/");
    }
    const asked = new URL(request.url).searchParams;
    return path !== null && path.startsWith("file/") && (asked.has("dn") || asked.has("dct"));
  };

  // What the gateway itself answered has an address, and the headers that the gateway gave it.
  const harmless = (request, answer) => {
    if (answer.url || answer.type === "error") return answer;
    const snapshot = within(request)?.startsWith("snapshot/") && DOCUMENTS.has(request.destination);
    if (!snapshot && !PASSIVE.has(request.destination)) return refusal();
    const headers = new Headers({ "X-Content-Type-Options": "nosniff", "Content-Security-Policy": BARE });
    for (const name of KEPT) if (answer.headers.has(name)) headers.set(name, answer.headers.get(name));
    if (snapshot) {
      // Playwright's own policy has the nonce of its script; both policies hold.
      headers.set("Content-Security-Policy", answer.headers.get("Content-Security-Policy") ?? BARE);
      headers.append("Content-Security-Policy", DRAWN);
    }
    const { status, statusText } = answer;
    return new Response(answer.body, { status, statusText, headers });
  };

  const refusal = () =>
    new Response("A file of a trace is no page.", {
      status: 403,
      headers: { "Content-Type": "text/plain", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": BARE },
    });

  self.addEventListener("fetch", (event) => {
    const respondWith = event.respondWith.bind(event);
    if (refused(event.request)) {
      event.stopImmediatePropagation();
      respondWith(refusal());
      return;
    }
    event.respondWith = (made) => respondWith(Promise.resolve(made).then((answer) => harmless(event.request, answer)));
  });
})();
