// Shows a running session's page, and lets a person act on it. What sites give is only ever set as text or drawn.
"use strict";

const KEEP_EVERY_MS = 5000;
const TYPE_AFTER_MS = 250;
const SCROLL_EVERY_MS = 120;
const MOST_SCROLL = 2000;
const panel = document.querySelector("[data-live-of]");

function at(id) {
  return document.getElementById(id);
}

class LiveView {
  constructor() {
    this.path = `/sessions/${panel.dataset.liveOf}/live`;
    this.picture = at("live-picture");
    this.size = { width: 0, height: 0 }; // of the page's window, in CSS pixels
    this.lease = "";
    this.standing = {};
    this.queue = Promise.resolve(); // what the person does arrives in its order
    this.typed = "";
    this.drawn = 0;
    this.source = new EventSource(`${this.path}/stream`);
    this.source.addEventListener("standing", (event) => this.show(JSON.parse(event.data)));
    this.source.addEventListener("frame", (event) => this.draw(JSON.parse(event.data)));
    this.source.addEventListener("end", () => this.end("The session is over."));
    this.source.addEventListener("error", () => {
      if (this.source.readyState === EventSource.CLOSED) this.end("The view has ended: reload the page to look again.");
    });
    if ("canControl" in panel.dataset) this.listen();
  }

  end(words) {
    this.source.close();
    this.release();
    at("live-state").textContent = words;
    if (at("live-take")) at("live-take").disabled = true;
  }

  get leads() {
    return this.lease !== "" && this.standing.control === "person";
  }

  show(standing) {
    this.standing = standing;
    if (this.lease && standing.linked && standing.control === "agent" && this.asked) this.release();
    if (standing.control && standing.control !== "agent") this.asked = true;
    const holder = standing.holder || "somebody";
    let words = "Waiting for the session's worker…";
    if (standing.control === "agent") words = "The agent works";
    if (standing.control === "asked") words = this.lease ? "The agent ends its step, then the page is yours" : `${holder} waits for the page`;
    if (standing.control === "person") words = this.lease ? "You have the page; the agent waits" : `${holder} has the page`;
    at("live-state").textContent = words;
    at("live-url").textContent = standing.url || "";
    panel.dataset.control = standing.control || "";
    if (standing.withheld) this.veil("The page shows a secret: no picture is given until it does not.");
    else if (!standing.linked) this.veil("No picture yet.");
    if (!at("live-take")) return;
    at("live-take").disabled = standing.control !== "agent";
    at("live-take").hidden = this.lease !== "";
    at("live-hands").hidden = !this.leads;
    this.picture.tabIndex = this.leads ? 0 : -1;
    this.ask(standing.dialog);
  }

  veil(words) {
    at("live-veil").textContent = words;
    at("live-veil").hidden = false;
    this.picture.getContext("2d").clearRect(0, 0, this.picture.width, this.picture.height);
    delete this.picture.dataset.drawn;
  }

  async draw(frame) {
    const bytes = Uint8Array.from(atob(frame.jpeg), (letter) => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/jpeg" }));
    if (this.standing.withheld) return;
    this.size = frame;
    if (this.picture.width !== image.width || this.picture.height !== image.height) {
      this.picture.width = image.width;
      this.picture.height = image.height;
    }
    this.picture.getContext("2d").drawImage(image, 0, 0);
    image.close();
    at("live-veil").hidden = true;
    this.drawn += 1;
    this.picture.dataset.drawn = this.drawn;
  }

  // --- taking over ---------------------------------------------------------------------------------

  async send(order) {
    const answer = await fetch(this.path, {
      method: "POST",
      credentials: "same-origin",
      headers: { "Content-Type": "application/json", "X-Form-Token": panel.dataset.token },
      body: JSON.stringify({ lease: this.lease, ...order }),
    });
    const said = await answer.json();
    if (!answer.ok) throw new Error(said.detail || `refused: ${answer.status}`);
    return said;
  }

  // One thing after another, as the person did them.
  act(order) {
    if (!this.leads) return;
    this.queue = this.queue.then(async () => {
      try {
        await this.send(order);
        at("live-fault").textContent = "";
      } catch (error) {
        at("live-fault").textContent = error.message;
      }
    });
  }

  async take() {
    at("live-take").disabled = true;
    this.asked = false;
    try {
      this.lease = (await this.send({ do: "take" })).lease;
      at("live-fault").textContent = "";
      this.keeping = setInterval(() => this.keep(), KEEP_EVERY_MS);
      this.show(this.standing);
    } catch (error) {
      at("live-fault").textContent = error.message;
      at("live-take").disabled = false;
    }
  }

  async keep() {
    try {
      await this.send({ do: "keep" });
    } catch (error) {
      at("live-fault").textContent = error.message;
      this.release();
    }
  }

  release() {
    clearInterval(this.keeping);
    this.lease = "";
    if (at("live-hands")) at("live-hands").hidden = true;
    if (at("live-take")) at("live-take").hidden = false;
  }

  // Where on the page the person points.
  point(event) {
    const box = this.picture.getBoundingClientRect();
    const along = (from, length, size) => Math.min(Math.max((from / length) * size, 0), Math.max(size - 1, 0));
    return {
      x: along(event.clientX - box.left, box.width, this.size.width),
      y: along(event.clientY - box.top, box.height, this.size.height),
    };
  }

  listen() {
    at("live-take").addEventListener("click", () => this.take());
    this.picture.addEventListener("click", (event) => {
      if (event.detail > 1) return;
      this.flush();
      this.act({ do: "click", ...this.point(event) });
    });
    this.picture.addEventListener("dblclick", (event) => this.act({ do: "click", double: true, ...this.point(event) }));
    this.picture.addEventListener("contextmenu", (event) => {
      if (!this.leads) return;
      event.preventDefault();
      this.act({ do: "click", button: "right", ...this.point(event) });
    });
    this.picture.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.picture.addEventListener("keydown", (event) => this.key(event));
    this.picture.addEventListener("paste", (event) => {
      event.preventDefault();
      this.type(event.clipboardData.getData("text/plain"));
    });
    this.form("live-type", () => {
      if (at("live-text").value) this.act({ do: "type", text: at("live-text").value });
      at("live-text").value = "";
    });
    this.form("live-open", () => this.act({ do: "open", url: at("live-address").value }));
    at("live-tab").addEventListener("click", () => this.act({ do: "key", key: "Tab" }));
    at("live-back").addEventListener("click", () => this.act({ do: "back" }));
    this.form("live-return", async () => {
      this.flush();
      this.act({ do: "hand_back", said: at("live-said").value, done: at("live-done").checked });
      await this.queue;
      at("live-said").value = "";
      at("live-done").checked = false;
      this.release();
    });
    this.form("live-dialog", (event) => this.answer(event.submitter.value === "yes"));
  }

  form(id, act) {
    at(id).addEventListener("submit", (event) => {
      event.preventDefault();
      act(event);
    });
  }

  wheel(event) {
    if (!this.leads) return;
    event.preventDefault();
    this.scroll = this.scroll || { dx: 0, dy: 0 };
    this.scroll.dx += event.deltaX;
    this.scroll.dy += event.deltaY;
    this.scroll.point = this.point(event);
    this.scrolling = this.scrolling || setTimeout(() => {
      const { dx, dy, point } = this.scroll;
      this.scroll = this.scrolling = null;
      const most = (by) => Math.min(Math.max(by, -MOST_SCROLL), MOST_SCROLL);
      this.act({ do: "scroll", dx: most(dx), dy: most(dy), ...point });
    }, SCROLL_EVERY_MS);
  }

  key(event) {
    if (!this.leads || event.isComposing) return;
    const held = event.ctrlKey || event.metaKey || event.altKey;
    if (event.key === "Tab" && !event.ctrlKey) return; // the keyboard is not held captive
    if (held && event.key.toLowerCase() === "v") return; // what is pasted comes as an event
    if (["Control", "Shift", "Alt", "Meta", "AltGraph", "CapsLock", "Dead"].includes(event.key)) return;
    event.preventDefault();
    if (event.key.length === 1 && !event.ctrlKey && !event.metaKey) {
      this.type(event.key);
      return;
    }
    this.flush();
    if (event.key === "Tab") this.act({ do: "key", key: event.shiftKey ? "Shift+Tab" : "Tab" });
    else {
      const with_ = [event.ctrlKey && "Control", event.altKey && "Alt", event.metaKey && "Meta", event.shiftKey && "Shift"];
      this.act({ do: "key", key: [...with_.filter(Boolean), event.key === " " ? "Space" : event.key].join("+") });
    }
  }

  // Letters that follow each other closely go together.
  type(text) {
    this.typed += text;
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.flush(), TYPE_AFTER_MS);
  }

  flush() {
    clearTimeout(this.typing);
    if (this.typed) this.act({ do: "type", text: this.typed });
    this.typed = "";
  }

  // --- dialogs of the page --------------------------------------------------------------------------

  ask(dialog) {
    const form = at("live-dialog");
    if (!dialog || !this.leads) {
      form.hidden = true;
      return;
    }
    if (!form.hidden) return;
    at("live-dialog-text").textContent = dialog.message;
    at("live-dialog-words").hidden = dialog.kind !== "prompt";
    at("live-dialog-input").value = dialog.default;
    form.hidden = false;
    form.querySelector(dialog.kind === "prompt" ? "input" : "button").focus();
  }

  // Beside the queue: the click that opened the dialog still waits in it.
  async answer(accept) {
    try {
      await this.send({ do: "answer", accept, text: at("live-dialog-input").value });
    } catch (error) {
      at("live-fault").textContent = error.message;
    }
  }
}

if (panel) new LiveView();
