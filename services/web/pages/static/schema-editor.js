// A table for the fields of a record: writes the JSON Schema beside it, and keeps what it does not show.
"use strict";

(() => {
  const TYPES = ["string", "number", "integer", "boolean", "array", "object"];
  const KEPT = "other";

  function attach(source) {
    if (source.dataset.attached !== undefined) return;
    source.dataset.attached = "";
    const editor = element("div", { className: "schema" });
    const text = element("details", { className: "raw" }, element("summary", { textContent: "JSON Schema" }));
    source.before(editor, text);
    text.append(source);
    let written = null;

    const parsed = () => {
      try {
        const found = source.value.trim() ? JSON.parse(source.value) : {};
        return found && typeof found === "object" && !Array.isArray(found) ? found : null;
      } catch {
        return null;
      }
    };

    function write(schema) {
      written = JSON.stringify(schema, null, 2);
      source.value = written;
      source.dispatchEvent(new Event("input", { bubbles: true }));
    }

    const recordOf = (schema) => (schema.type === "array" ? (schema.items ??= { type: "object" }) : schema);

    function change(work) {
      const schema = parsed() ?? {};
      if (schema.type === undefined) schema.type = "object";
      work(schema, recordOf(schema));
      write(schema);
      draw();
    }

    function draw() {
      const schema = parsed();
      editor.replaceChildren();
      if (schema === null) {
        editor.append(element("p", { className: "fault", textContent: "The JSON Schema below is no JSON object." }));
        text.open = true;
        return;
      }
      const record = recordOf(structuredClone(schema));
      const fields = record.properties && typeof record.properties === "object" ? record.properties : {};
      const many = element("input", { type: "checkbox", checked: schema.type === "array" });
      many.addEventListener("change", () => toggleMany(many.checked));
      editor.append(element("label", { className: "tick" }, many, " the page holds a list of such records"));
      if (Object.keys(fields).length) editor.append(table(fields, record.required ?? []));
      const add = element("button", { type: "button", className: "add", textContent: "Add a field to read" });
      add.addEventListener("click", () => {
        let name = "field";
        for (let n = 2; name in fields; n += 1) name = `field_${n}`;
        change((whole, one) => { (one.properties ??= {})[name] = { type: "string" }; });
        const names = editor.querySelectorAll("input.field-name");
        names[names.length - 1].select();
      });
      editor.append(add);
    }

    function toggleMany(many) {
      const schema = parsed() ?? {};
      const record = recordOf(schema);
      if (many && schema.type !== "array") write({ type: "array", items: { type: "object", ...record } });
      if (!many && schema.type === "array") write(record);
      draw();
    }

    function table(fields, required) {
      const rows = Object.entries(fields).map(([name, part]) => row(name, part && typeof part === "object" ? part : {}, required));
      const head = element("tr", {}, ...["field", "type", "required", "meaning"].map((title) => element("th", { textContent: title })), element("td"));
      return element("div", { className: "scroll" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
    }

    function row(name, part, required) {
      const title = element("input", { className: "field-name", value: name, ariaLabel: "Name of the field", autocomplete: "off" });
      title.addEventListener("change", () => change((_, one) => rename(one, name, title.value.trim())));
      const type = element("select", { ariaLabel: `Type of ${name}` });
      const known = TYPES.includes(part.type);
      for (const choice of known ? TYPES : [KEPT, ...TYPES]) type.append(element("option", { textContent: choice, selected: choice === (known ? part.type : KEPT) }));
      type.addEventListener("change", () => change((_, one) => { if (type.value !== KEPT) one.properties[name] = { ...part, type: type.value }; }));
      const needed = element("input", { type: "checkbox", checked: required.includes(name), ariaLabel: `${name} is required` });
      needed.addEventListener("change", () => change((_, one) => {
        const others = (one.required ?? []).filter((other) => other !== name);
        one.required = needed.checked ? [...others, name] : others;
        if (!one.required.length) delete one.required;
      }));
      const meaning = element("input", { value: typeof part.description === "string" ? part.description : "", ariaLabel: `Meaning of ${name}`, autocomplete: "off" });
      meaning.addEventListener("change", () => change((_, one) => {
        const field = { ...part };
        if (meaning.value.trim()) field.description = meaning.value.trim();
        else delete field.description;
        one.properties[name] = field;
      }));
      const remove = element("button", { type: "button", className: "plain", textContent: "Remove", ariaLabel: `Remove ${name}` });
      remove.addEventListener("click", () => change((_, one) => rename(one, name, "")));
      return element("tr", {}, ...[title, type, needed, meaning, remove].map((input) => element("td", {}, input)));
    }

    // Gives a field another name in its place; without a name it goes.
    function rename(record, from, to) {
      if (to !== from && to in record.properties) return;
      record.properties = Object.fromEntries(
        Object.entries(record.properties).map(([name, part]) => [name === from ? to : name, part]).filter(([name]) => name),
      );
      if (!record.required) return;
      record.required = record.required.map((name) => (name === from ? to : name)).filter(Boolean);
      if (!record.required.length) delete record.required;
    }

    // What happens in the table is written by it; it is not a change of the form by itself.
    editor.addEventListener("input", (event) => event.stopPropagation());
    editor.addEventListener("change", (event) => event.stopPropagation());
    source.addEventListener("input", () => { if (source.value !== written) draw(); });
    draw();
  }

  const all = () => document.querySelectorAll("textarea[data-editor=schema]").forEach(attach);
  document.addEventListener("shoal:fields", all);
  all();
})();
