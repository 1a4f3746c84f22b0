// A table of names and values for details in JSON: writes the JSON beside it. What a table cannot hold stays JSON.
"use strict";

(() => {
  const KINDS = ["text", "number", "yes or no", "JSON"];
  const IN_TEXTS = /"(?:[^"\\]|\\.)*"/g;
  const NUMBERS = /-?\d[\d.eE+-]*/g;

  const kindOf = (value) => ({ string: "text", number: "number", boolean: "yes or no" })[typeof value] ?? "JSON";
  const textOf = (value) => (typeof value === "string" ? value : JSON.stringify(value));

  // The value that a text is of a kind; undefined where it is none.
  function valueOf(kind, text) {
    if (kind === "text") return text;
    if (kind === "yes or no") return text === "true";
    try {
      const value = exact(text) ? JSON.parse(text) : undefined;
      return kind === "number" && typeof value !== "number" ? undefined : value;
    } catch {
      return undefined;
    }
  }

  // Whether all numbers of a JSON text would be written as they stand: a long one would be rounded.
  function exact(text) {
    return (text.replaceAll(IN_TEXTS, '""').match(NUMBERS) ?? []).every((number) => String(Number(number)) === number);
  }

  function attach(source) {
    if (source.dataset.attached !== undefined) return;
    source.dataset.attached = "";
    const editor = element("div", { className: "schema" });
    const text = element("details", { className: "raw" }, element("summary", { textContent: "Details as JSON" }));
    source.before(editor, text);
    text.append(source);
    let written = null;

    function parsed() {
      try {
        const found = source.value.trim() ? JSON.parse(source.value) : {};
        return found && typeof found === "object" && !Array.isArray(found) && exact(source.value) ? found : null;
      } catch {
        return null;
      }
    }

    function write(entries) {
      written = entries.length ? JSON.stringify(Object.fromEntries(entries), null, 2) : "";
      source.value = written;
      source.dispatchEvent(new Event("input", { bubbles: true }));
    }

    // Changes one entry, or with null takes it away.
    function change(name, entry) {
      write(Object.entries(parsed() ?? {}).map((old) => (old[0] === name ? entry : old)).filter(Boolean));
    }

    function draw(fault = "") {
      const data = parsed();
      editor.replaceChildren();
      if (data === null) {
        editor.append(element("p", { className: "soft small", textContent: "The details are no table of names and values: they are written as JSON below." }));
        text.open = true;
        return;
      }
      const entries = Object.entries(data);
      if (entries.length) editor.append(table(entries));
      if (fault) editor.append(element("p", { className: "fault", role: "alert", textContent: fault }));
      const add = element("button", { type: "button", className: "add", textContent: "Add a detail" });
      add.addEventListener("click", () => {
        const now = parsed() ?? {}; // what was typed since is in it
        let name = "detail";
        for (let n = 2; Object.hasOwn(now, name); n += 1) name = `detail_${n}`;
        write([...Object.entries(now), [name, ""]]);
        draw();
        [...editor.querySelectorAll("input.field-name")].find((input) => input.value === name).select();
      });
      editor.append(add);
    }

    function table(entries) {
      const head = element("tr", {}, ...["name", "value", "kind"].map((title) => element("th", { textContent: title })), element("td"));
      const rows = entries.map(([name, value]) => row(name, value));
      return element("div", { className: "scroll" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
    }

    function row(name, value) {
      const kind = kindOf(value);
      const title = element("input", { className: "field-name", value: name, ariaLabel: "Name of the detail", autocomplete: "off" });
      title.addEventListener("change", () => rename(name, title.value.trim(), value));
      const kinds = element("select", { ariaLabel: `Kind of ${name}` }, ...KINDS.map((one) => element("option", { textContent: one, selected: one === kind })));
      kinds.addEventListener("change", () => recast(name, kinds.value, value));
      const remove = element("button", { type: "button", className: "plain", textContent: "Remove", ariaLabel: `Remove ${name}` });
      remove.addEventListener("click", () => { change(name, null); draw(); });
      return element("tr", {}, ...[title, field(name, kind, value), kinds, remove].map((input) => element("td", {}, input)));
    }

    function field(name, kind, value) {
      if (kind === "yes or no") {
        const choice = element("select", { ariaLabel: `Value of ${name}` },
          element("option", { value: "true", textContent: "yes", selected: value }),
          element("option", { value: "false", textContent: "no", selected: !value }));
        choice.addEventListener("change", () => change(name, [name, valueOf(kind, choice.value)]));
        return choice;
      }
      const lines = kind === "JSON" || textOf(value).includes("\n");
      const input = element(lines ? "textarea" : "input", { value: textOf(value), ariaLabel: `Value of ${name}`, autocomplete: "off" });
      if (kind === "text") input.addEventListener("input", () => change(name, [name, input.value]));
      else input.addEventListener("change", () => {
        const given = valueOf(kind, input.value.trim());
        if (given !== undefined) change(name, [name, given]);
        draw(given === undefined ? `${name} stays ${textOf(value)}: ${JSON.stringify(input.value)} is no ${kind}.` : "");
      });
      return input;
    }

    function rename(from, to, value) {
      const data = parsed() ?? {};
      const fault = to === from ? "" : !to ? "A detail needs a name." : Object.hasOwn(data, to) ? `There is a detail ${to} already.` : "";
      if (!fault) change(from, [to, data[from] ?? value]);
      draw(fault);
    }

    // Takes what is there for a value of another kind.
    function recast(name, kind, value) {
      const now = (parsed() ?? {})[name] ?? value;
      const text = textOf(now);
      let taken = valueOf(kind, kind === "number" ? text.trim() || "0" : text);
      if (kind === "JSON" && (taken === null || typeof taken !== "object")) taken = [now];
      if (taken !== undefined) change(name, [name, taken]);
      draw(taken === undefined ? `${name} stays a ${kindOf(now)}: ${JSON.stringify(now)} is no ${kind}.` : "");
    }

    // What happens in the table is written by it; it is not a change of the form by itself.
    editor.addEventListener("input", (event) => event.stopPropagation());
    editor.addEventListener("change", (event) => event.stopPropagation());
    source.addEventListener("input", () => { if (source.value !== written) draw(); });
    draw();
  }

  const all = () => document.querySelectorAll("textarea[data-editor=data]").forEach(attach);
  document.addEventListener("shoal:fields", all);
  all();
})();
