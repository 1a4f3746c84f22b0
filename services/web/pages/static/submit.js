// The page on which people hand in jobs: asks the gateway while they write, and shows what it says. The form is the
// job; the JSON beside it is the same job, and whichever was written last counts.
"use strict";

(() => {
  const CHECK_AFTER_MS = 350;
  const form = document.getElementById("job-form");
  const fields = document.getElementById("fields");
  const json = document.getElementById("json");
  const verdict = document.getElementById("verdict");
  const list = document.getElementById("faults");
  let asked = 0;
  let timer = 0;
  let jsonCounts = false; // the JSON was written last

  form.classList.add("scripted");

  async function check() {
    const mine = ++asked;
    verdict.dataset.state = "asking";
    const body = new URLSearchParams(new FormData(form));
    if (!jsonCounts) body.delete("#json");
    let told;
    try {
      const answer = await fetch("/new/check", { method: "POST", body, credentials: "same-origin" });
      if (answer.redirected) throw new Error("You are logged out. Log in in another tab, then go on here.");
      if (answer.status === 429) throw new Error("Not checked: too many requests at the moment.");
      if (!answer.ok) throw new Error(`Not checked: the gateway says ${answer.status}.`);
      told = await answer.json();
    } catch (error) {
      if (mine === asked) say("unknown", error instanceof TypeError ? "Not checked: the gateway is away." : error.message);
      return;
    }
    if (mine !== asked) return; // something was written since
    if (told.form !== undefined && told.faults.every((fault) => fault.field !== "body")) {
      fields.innerHTML = told.form;
      document.dispatchEvent(new CustomEvent("shoal:fields"));
    }
    show(told);
  }

  function say(state, words) {
    verdict.dataset.state = state;
    verdict.textContent = words;
  }

  function show(told) {
    const faults = told.message ? [{ field: "", reason: told.message }, ...told.faults] : told.faults;
    if (told.valid) say("valid", "Valid: it can be handed in.");
    else say("invalid", faults.length === 1 ? "One thing is missing or wrong." : `${faults.length} things are missing or wrong.`);
    list.replaceChildren(...faults.map(faultLine));
    mark(told.faults);
    if (!jsonCounts && !isReplaced()) json.value = told.texts.json;
    for (const name of ["curl", "cli", "python"]) document.querySelector(`#as-${name} pre`).textContent = told.texts[name];
  }

  // Whether a person is about to write in the place of the JSON. What is written there now would join what they write.
  function isReplaced() {
    return document.activeElement === json && (json.value === "" || json.selectionStart !== json.selectionEnd);
  }

  function faultLine(fault) {
    const line = document.createElement("li");
    if (fault.field) {
      const code = document.createElement("code");
      code.textContent = fault.field;
      line.append(code, " ");
    }
    line.append(fault.reason);
    return line;
  }

  // The field of the job that a part of the form stands for: an entry of a map goes by its name.
  function jobPath(part) {
    let path = part.dataset.path;
    for (let entry = part.closest("[data-entry]"); entry; entry = entry.parentElement.closest("[data-entry]")) {
      const key = entry.querySelector("input")?.value ?? "";
      path = path.replace(entry.dataset.path, entry.dataset.path.replace(/\[[^\]]*\]$/, `.${key}`));
    }
    return path;
  }

  function mark(faults) {
    for (const old of fields.querySelectorAll(".fault")) old.remove();
    for (const input of fields.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
    if (form.dataset.touched === undefined) return; // an empty form is not full of faults
    const parts = new Map();
    for (const part of fields.querySelectorAll("[data-path]")) {
      parts.set(part.dataset.path, part);
      parts.set(jobPath(part), part);
    }
    for (const fault of faults) {
      let path = fault.field;
      while (path && !parts.has(path)) path = path.replace(/(\.[^.[]*|\[[^[]*\])$|^[^.[]*$/, "");
      const part = parts.get(path);
      if (!part) continue;
      const line = document.createElement("p");
      line.className = "fault";
      line.textContent = path === fault.field ? fault.reason : `${fault.field}: ${fault.reason}`;
      const input = part.querySelector("input:not([type=hidden]), select, textarea");
      if (part.matches(".field")) part.append(line);
      else part.querySelector(".fields").prepend(line);
      if (part.matches(".field")) input?.setAttribute("aria-invalid", "true");
    }
  }

  function soon(event) {
    form.dataset.touched = "";
    jsonCounts = event?.target === json;
    clearTimeout(timer);
    timer = setTimeout(check, CHECK_AFTER_MS);
  }

  // --- entries of maps -------------------------------------------------------------------------------

  function add(map) {
    const entries = map.querySelector("[data-entries]");
    const taken = [...entries.children].map((entry) => Number(/\[(\d+)\]$/.exec(entry.dataset.path)[1]));
    const number = taken.length ? Math.max(...taken) + 1 : 0;
    const holder = document.createElement("template");
    holder.innerHTML = map.querySelector("template").innerHTML.replaceAll("[NEW]", `[${number}]`);
    const entry = holder.content.firstElementChild;
    entries.append(entry);
    entry.querySelector("input").focus();
  }

  form.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.add !== undefined) add(button.closest("[data-map]"));
    if (button.dataset.remove !== undefined) {
      const map = button.closest("[data-map]");
      button.closest("[data-entry]").remove();
      map.querySelector("[data-add]").focus();
      soon();
    }
  });

  // --- the same job ----------------------------------------------------------------------------------

  const tabs = [...form.querySelectorAll("[role=tab]")];
  function choose(tab) {
    for (const one of tabs) {
      one.setAttribute("aria-selected", String(one === tab));
      one.tabIndex = one === tab ? 0 : -1;
      document.getElementById(one.getAttribute("aria-controls")).hidden = one !== tab;
    }
  }
  for (const tab of tabs) tab.addEventListener("click", () => choose(tab));
  form.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = tabs.indexOf(event.target);
    if (!step || at < 0) return;
    const next = tabs[(at + step + tabs.length) % tabs.length];
    choose(next);
    next.focus();
  });
  document.getElementById("copy").addEventListener("click", async (event) => {
    const shown = form.querySelector("[role=tabpanel]:not([hidden])");
    const text = shown.querySelector("textarea")?.value ?? shown.textContent;
    try {
      await navigator.clipboard.writeText(text);
      event.target.textContent = "Copied";
    } catch {
      event.target.textContent = "Not allowed";
    }
    setTimeout(() => { event.target.textContent = "Copy"; }, 1500);
  });

  // --- try first -------------------------------------------------------------------------------------

  const tryButton = document.getElementById("try");
  const tried = document.getElementById("tried");
  let trying = null; // ends the try that runs
  tryButton.hidden = document.getElementById("try-about").hidden = false;
  tryButton.addEventListener("click", async () => {
    if (trying) return trying.abort();
    trying = new AbortController();
    tryButton.textContent = "Trying: press to stop";
    tried.replaceChildren();
    const body = new URLSearchParams(new FormData(form));
    if (!jsonCounts) body.delete("#json");
    try {
      const answer = await fetch("/new/try", { method: "POST", body, credentials: "same-origin", signal: trying.signal });
      if (!answer.ok || answer.redirected) throw new Error(`It was not tried: the gateway says ${answer.status}.`);
      const told = await answer.json();
      if (told.fault) throw new Error(told.fault);
      tried.innerHTML = told.html;
      document.getElementById("use-places")?.addEventListener("click", () => usePlaces(told.places));
      document.getElementById("choose")?.addEventListener("click", () => chooseOn(told.pictures, told.missing));
    } catch (error) {
      if (error.name !== "AbortError") {
        const line = document.createElement("p");
        line.className = "fault in";
        line.textContent = error instanceof TypeError ? "It was not tried: the gateway is away." : error.message;
        tried.replaceChildren(line);
      }
    } finally {
      trying = null;
      tryButton.textContent = "Try first";
    }
  });

  // A candidate that is taken sets the place of its field.
  tried.addEventListener("click", (event) => {
    const taken = event.target.closest("[data-place]");
    if (!taken) return;
    const spec = JSON.parse(json.value);
    spec.extract ??= {};
    spec.extract.fields = { ...spec.extract.fields, [taken.dataset.field]: JSON.parse(taken.dataset.place) };
    json.value = JSON.stringify(spec, null, 2);
    json.dispatchEvent(new Event("input", { bubbles: true }));
    for (const other of tried.querySelectorAll("[data-place]")) {
      if (other.dataset.field === taken.dataset.field) other.textContent = other.dataset.place === taken.dataset.place ? "Taken" : "Take it";
    }
  });

  // A person chooses on the pictures of the sample what a field is: those that are missing come first.
  function chooseOn(pictures, missing) {
    const schema = JSON.parse(json.value).extract?.schema ?? {};
    const names = Object.keys(schema.properties ?? schema.items?.properties ?? {});
    const lacks = (name) => Object.hasOwn(missing, name);
    names.sort((first, second) => lacks(second) - lacks(first));
    const targets = names.map((name) => ({ label: lacks(name) ? `${name} (missing)` : name, kind: "fields", key: name }));
    new Chooser(document.querySelector("dialog.choose"), { targets, set: setPlace }).open(pictures);
  }

  function setPlace(target, entry, way) {
    const spec = JSON.parse(json.value);
    spec.extract.fields = { ...spec.extract.fields, [target.key]: way.place };
    if (entry.records && !("column" in way.place)) spec.extract.records ??= entry.records;
    json.value = JSON.stringify(spec, null, 2);
    json.dispatchEvent(new Event("input", { bubbles: true }));
    return `Set the place of ${target.key}. Try again to see what it gives.`;
  }

  // Writes the places that the sample found into the job, where it names none itself.
  function usePlaces(places) {
    const spec = JSON.parse(json.value);
    spec.extract ??= {};
    spec.extract.fields = { ...places.fields, ...spec.extract.fields };
    if (places.records && !spec.extract.records) spec.extract.records = places.records;
    json.value = JSON.stringify(spec, null, 2);
    json.dispatchEvent(new Event("input", { bubbles: true }));
  }

  // --- keep as a preset ------------------------------------------------------------------------------

  const keepName = document.getElementById("keep-name");
  const keepTold = document.getElementById("keep-told");
  document.getElementById("keep").hidden = false;
  keepName.addEventListener("input", (event) => event.stopPropagation()); // it is no part of the job
  keepName.addEventListener("change", (event) => event.stopPropagation());
  keepName.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // it would hand the job in
    document.getElementById("keep-button").click();
  });
  document.getElementById("keep-button").addEventListener("click", async () => {
    const body = new URLSearchParams(new FormData(form));
    if (!jsonCounts) body.delete("#json");
    body.set("#name", keepName.value);
    keepTold.hidden = true;
    try {
      const answer = await fetch("/new/presets", { method: "POST", body, credentials: "same-origin" });
      if ((!answer.ok && answer.status !== 400) || answer.redirected) throw new Error(`It was not kept: the gateway says ${answer.status}.`);
      const told = await answer.json();
      if (told.fault) throw new Error(told.fault);
      location.assign(told.address);
    } catch (error) {
      keepTold.textContent = error instanceof TypeError ? "It was not kept: the gateway is away." : error.message;
      keepTold.hidden = false;
    }
  });

  json.addEventListener("blur", () => { if (!jsonCounts) check(); });
  form.addEventListener("input", soon);
  form.addEventListener("change", (event) => { if (event.target !== json) soon(event); });
  form.addEventListener("submit", () => { json.disabled = !jsonCounts; setTimeout(() => { json.disabled = false; }); });
  if (list.children.length) form.dataset.touched = "";
  check();
})();
