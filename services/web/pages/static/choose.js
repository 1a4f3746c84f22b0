// Choosing on the picture of a page: what stands there is an option of a list box that lies over the picture, so that a
// click, the arrow keys and a screen reader all choose. What pages say is only ever set as text.
"use strict";

class Chooser {
  // `targets`: {label, kind, key} of what a place can be set for; `kind` names the list of a picture that is shown.
  // `set(target, entry, way)` is called with what was chosen, and gives the words that say what was done.
  constructor(dialog, { targets, set }) {
    this.dialog = dialog;
    this.set = set;
    this.targets = targets;
    this.part = (name) => dialog.querySelector(`[data-choose="${name}"]`);
    this.list = this.part("list");
    this.options = [];
    this.at = -1;
    this.part("close").onclick = () => dialog.close();
    this.part("page").onchange = () => this.show();
    this.part("target").onchange = () => this.mark();
    this.part("set").onclick = () => this.apply();
    this.list.onkeydown = (event) => this.key(event);
    this.list.onclick = (event) => this.point(event);
  }

  open(pictures, target = 0) {
    this.pictures = pictures;
    const option = (text, value) => Object.assign(document.createElement("option"), { textContent: text, value });
    this.part("page").replaceChildren(...pictures.map((picture, number) => option(picture.url, number)));
    this.part("target").replaceChildren(...this.targets.map((one, number) => option(one.label, number)));
    this.part("target").value = String(target);
    this.dialog.showModal();
    this.show();
  }

  get picture() {
    return this.pictures[Number(this.part("page").value)];
  }

  get target() {
    return this.targets[Number(this.part("target").value)];
  }

  async show() {
    const picture = this.picture;
    this.mark();
    const bytes = Uint8Array.from(atob(picture.jpeg), (letter) => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/jpeg" }));
    if (picture !== this.picture) return image.close();
    const canvas = this.part("picture");
    canvas.width = image.width;
    canvas.height = image.height;
    canvas.getContext("2d").drawImage(image, 0, 0);
    image.close();
    this.list.dataset.drawn = "";
  }

  // The boxes of what can be chosen for the target. A list of one kind stays while its target changes.
  mark() {
    const { picture, target } = this;
    this.part("told").textContent = "";
    if (this.marked === picture && this.kind === target.kind) return this.tell();
    this.marked = picture;
    this.kind = target.kind;
    this.entries = picture[target.kind].filter((entry) => entry.box[1] < picture.height);
    this.options = this.entries.map((entry, number) => {
      const [x, y, width, height] = entry.box;
      const box = document.createElement("div");
      box.id = `choose-${number}`;
      box.setAttribute("role", "option");
      box.setAttribute("aria-selected", "false");
      box.setAttribute("aria-label", entry.text || "no text");
      box.style.left = `${(100 * x) / picture.width}%`;
      box.style.top = `${(100 * y) / picture.height}%`;
      box.style.width = `${(100 * width) / picture.width}%`;
      box.style.height = `${(100 * Math.min(height, picture.height - y)) / picture.height}%`;
      return box;
    });
    for (const old of this.list.querySelectorAll("[role=option]")) old.remove();
    this.list.append(...this.options);
    this.at = -1;
    this.list.removeAttribute("aria-activedescendant");
    this.part("none").hidden = this.entries.length > 0;
    this.tell();
  }

  // The smallest box under the pointer: what lies around it is a container.
  point(event) {
    const frame = this.list.getBoundingClientRect();
    const { picture } = this;
    const x = ((event.clientX - frame.left) / frame.width) * picture.width;
    const y = ((event.clientY - frame.top) / frame.height) * picture.height;
    let best = -1;
    this.entries.forEach(({ box: [left, top, width, height] }, number) => {
      if (x < left || y < top || x > left + width || y > top + height) return;
      if (best < 0 || width * height <= this.entries[best].box[2] * this.entries[best].box[3]) best = number;
    });
    if (best >= 0) this.choose(best);
  }

  key(event) {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, PageDown: 10, PageUp: -10 }[event.key];
    const last = this.options.length - 1;
    if (last < 0) return;
    if (step) this.choose(Math.max(0, Math.min(last, this.at + step)));
    else if (event.key === "Home") this.choose(0);
    else if (event.key === "End") this.choose(last);
    else if (event.key === "Enter" && this.at >= 0) this.apply();
    else return;
    event.preventDefault();
  }

  choose(number) {
    this.options[this.at]?.setAttribute("aria-selected", "false");
    this.at = number;
    this.options[number].setAttribute("aria-selected", "true");
    this.list.setAttribute("aria-activedescendant", this.options[number].id);
    this.options[number].scrollIntoView({ block: "nearest", inline: "nearest" });
    this.part("told").textContent = "";
    this.tell();
  }

  // What is chosen, and the ways to find it again.
  tell() {
    const entry = this.entries[this.at];
    this.part("chosen").textContent = entry ? entry.text || "no text" : "nothing yet";
    this.part("set").disabled = !entry;
    const ways = entry?.ways ?? [];
    this.part("ways").hidden = ways.length === 0;
    for (const old of this.part("ways").querySelectorAll("label")) old.remove();
    ways.forEach((way, number) => {
      const line = document.createElement("label");
      const button = Object.assign(document.createElement("input"), { type: "radio", name: "#way", value: number, checked: number === 0 });
      const [kind, query] = Object.entries(way.place)[0];
      const words = document.createElement("span");
      words.textContent = `${kind} ${query}${way.place.attribute ? ` [${way.place.attribute}]` : ""}`;
      line.append(button, words);
      this.part("ways").append(line);
    });
    const locators = entry?.target?.locators ?? [];
    this.part("locators").replaceChildren(...locators.map((one) => Object.assign(document.createElement("li"), { textContent: `${one.family} ${one.value}` })));
  }

  apply() {
    const entry = this.entries[this.at];
    if (!entry) return;
    const chosen = this.part("ways").querySelector("input:checked");
    this.part("told").textContent = this.set(this.target, entry, entry.ways?.[Number(chosen?.value ?? 0)]);
  }
}
