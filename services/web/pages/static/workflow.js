// Tries a version on the addresses in its form, and shows what each channel read. In the editor a node of the graph
// opens its form; there, elements and places are chosen on the pictures of a try.
"use strict";

// What can be set on a picture: the element of the node whose form is shown, and each field of the kinds of pages.
function chooseOn(form, pictures) {
  const node = form.querySelector("[name='n.target.role']") ? form.elements.node.value : "";
  const targets = node ? [{ label: `the element of ${node}`, kind: "elements" }] : [];
  let branches = [];
  try {
    branches = JSON.parse(form.elements.branches.value || "[]");
  } catch {
    // It is being written: its fault is told where it stands.
  }
  for (const branch of branches) {
    for (const field of branch.fields ?? []) targets.push({ label: `a place of ${branch.id}.${field.name}`, kind: "fields", branch: branch.id, field: field.name });
  }
  if (!targets.length) return;
  const set = (target, entry, way) => (target.kind === "elements" ? setElement(form, node, entry) : addPlace(form, target, way));
  new Chooser(document.querySelector("dialog.choose"), { targets, set }).open(pictures);
}

function setElement(form, node, entry) {
  const { role = "", name = "", locators } = entry.target;
  form.elements["n.target.role"].value = role;
  form.elements["n.target.name"].value = name;
  // What can be chosen on a picture is in no frame and no shadow root.
  for (const part of ["frame", "origin", "shadow"]) form.elements[`n.target.${part}`].value = "";
  const rows = () => [...form.querySelectorAll("[data-locator]")];
  while (rows().length < locators.length + 1) {
    const last = rows().at(-1);
    const more = last.cloneNode(true);
    for (const input of more.querySelectorAll("[name]")) input.name = input.name.replace(/\[\d+\]/, `[${rows().length}]`);
    last.after(more);
  }
  rows().forEach((row, number) => {
    const said = locators[number] ?? {};
    for (const part of ["family", "value", "role"]) row.querySelector(`[name$=".${part}"]`).value = said[part] ?? "";
  });
  return `The element of ${node} is ${entry.text}. Check it, or test from here.`;
}

function addPlace(form, target, way) {
  const branches = JSON.parse(form.elements.branches.value);
  const field = branches.find((one) => one.id === target.branch).fields.find((one) => one.name === target.field);
  const same = field.channels.find((one) => one.family === way.family && Object.entries(way.place).every(([key, value]) => one.place[key] === value));
  if (same) return `${target.field} has this place already.`;
  const reader = field.channels.find((one) => one.place.reader)?.place.reader;
  field.channels.push({ family: way.family, place: reader ? { ...way.place, reader } : way.place });
  form.elements.branches.value = JSON.stringify(branches, null, 2);
  return `Added to ${target.field}: ${way.family}. Check it, or test from here.`;
}

(() => {
  const form = document.querySelector("form[data-try]");
  if (!form) return;
  const tried = document.querySelector("[data-tried]");
  const button = form.querySelector("[data-try-go]");
  if (!button) return;
  const idle = button.textContent;
  let trying = null; // ends the try that runs

  function fault(text) {
    const line = document.createElement("p");
    line.className = "fault in";
    line.textContent = text;
    tried.replaceChildren(line);
  }

  if (button.type === "submit") form.addEventListener("submit", (event) => { event.preventDefault(); attempt(); });
  else button.addEventListener("click", attempt);

  async function attempt() {
    if (trying) return trying.abort();
    trying = new AbortController();
    button.textContent = "Trying: press to stop";
    tried.replaceChildren();
    const body = new URLSearchParams(new FormData(form));
    try {
      const answer = await fetch(form.dataset.try, { method: "POST", body, credentials: "same-origin", signal: trying.signal });
      if (!answer.ok || answer.redirected) throw new Error(`It was not tried: the gateway says ${answer.status}.`);
      const told = await answer.json();
      if (told.fault) throw new Error(told.fault);
      tried.innerHTML = told.html; // made by the gateway, which has escaped what pages say
      tried.querySelector("[data-choose-on]")?.addEventListener("click", () => chooseOn(form, told.pictures));
    } catch (error) {
      if (error.name !== "AbortError") fault(error instanceof TypeError ? "It was not tried: the gateway is away." : error.message);
    } finally {
      trying = null;
      button.textContent = idle;
    }
  }
})();

(() => {
  for (const link of document.querySelectorAll("form .graph a.node")) {
    link.addEventListener("click", (event) => {
      const name = decodeURIComponent(link.getAttribute("href").slice("#node-".length));
      const choose = [...document.querySelectorAll(".nodes button")].find((button) => button.value === `show:${name}`);
      if (!choose) return;
      event.preventDefault();
      choose.click();
    });
  }
})();
