// Values of a loop from a file: shows its columns, and takes over what they are mapped to.
"use strict";

(() => {
  const WHOLE = "#whole";

  async function asked(file, mapping) {
    const query = mapping ? `?mapping=${encodeURIComponent(JSON.stringify(mapping))}` : "";
    const token = document.querySelector("#job-form [name=token]").value;
    const answer = await fetch(`/new/values${query}`, {
      method: "POST", body: file, credentials: "same-origin",
      headers: { "Content-Type": "application/octet-stream", "X-Shoal-Form": token },
    });
    if (answer.status === 413) return { fault: "The file is too large for one job; split it." };
    if (!answer.ok || answer.redirected) return { fault: `The file was not read: the gateway says ${answer.status}.` };
    return answer.json();
  }

  function attach(values) {
    if (values.dataset.attached !== undefined) return;
    values.dataset.attached = "";
    const picker = element("input", { type: "file", accept: ".csv,.tsv,.txt,.jsonl,.ndjson,.json", id: `file-${values.id}` });
    const area = element("div", { className: "columns-of-file" });
    area.setAttribute("aria-live", "polite");
    const label = element("label", { className: "button", htmlFor: picker.id, textContent: "Fill in from a CSV or JSON lines file" });
    picker.className = "unseen";
    values.after(element("div", { className: "upload" }, picker, label), area);

    picker.addEventListener("change", async () => {
      const file = picker.files[0];
      picker.value = "";
      if (!file) return;
      show(file, await asked(file));
    });

    function show(file, told) {
      area.replaceChildren();
      if (told.fault) {
        area.append(element("p", { className: "fault", textContent: `${file.name}: ${told.fault}` }));
        return;
      }
      const choices = told.columns.map((column, place) => choice(column, told.sample.map((row) => row[place]), told.columns.length));
      const use = element("button", { type: "button", textContent: `Use ${told.rows.toLocaleString("en")} rows` });
      use.addEventListener("click", async () => {
        const chosen = choices.filter((one) => one.name() !== null);
        const answer = await asked(file, Object.fromEntries(chosen.map((one) => [one.column, one.name()])));
        if (answer.fault) {
          area.querySelector(".fault")?.remove();
          area.append(element("p", { className: "fault", textContent: answer.fault }));
          return;
        }
        values.value = answer.values;
        area.replaceChildren(element("p", { className: "soft small", textContent: `${answer.rows.toLocaleString("en")} values of ${file.name}.` }));
        values.dispatchEvent(new Event("input", { bubbles: true }));
      });
      const head = element("tr", {}, ...["column", "first rows", "use it as"].map((title) => element("th", { textContent: title })));
      area.append(
        element("p", { className: "small" }, element("b", { textContent: file.name }), ` has ${told.rows.toLocaleString("en")} rows.`),
        element("div", { className: "scroll" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...choices.map((one) => one.row)))),
        use,
      );
    }

    // One column with what becomes of it: nothing, the value itself, or one of an item's details under a name.
    function choice(column, sample, columns) {
      const select = element("select", { ariaLabel: `Use of ${column}` },
        element("option", { value: "", textContent: "not used" }),
        element("option", { value: WHOLE, textContent: "the value itself", selected: columns === 1 }),
        element("option", { value: "detail", textContent: "a detail named", selected: columns > 1 }));
      const name = element("input", { value: column, ariaLabel: `Name of ${column}`, autocomplete: "off", hidden: columns === 1 });
      select.addEventListener("change", () => { name.hidden = select.value !== "detail"; });
      const shown = sample.slice(0, 3).map((value) => (typeof value === "string" ? value : JSON.stringify(value ?? null))).join(" · ");
      const row = element("tr", {},
        element("td", {}, element("b", { textContent: column })),
        element("td", { className: "cell soft", textContent: shown, title: shown }),
        element("td", {}, select, name));
      return { column, row, name: () => ({ "": null, [WHOLE]: "" })[select.value] ?? (select.value === "detail" ? name.value.trim() : null) };
    }
    for (const event of ["input", "change"]) area.addEventListener(event, (one) => one.stopPropagation());
    picker.addEventListener("change", (one) => one.stopPropagation());
  }

  const all = () => document.querySelectorAll("textarea[data-editor=values]").forEach(attach);
  document.addEventListener("shoal:fields", all);
  all();
})();
