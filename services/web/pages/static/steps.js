// The page of a step: one picture over the other with a slider between them, and the arrow keys from step to step.
"use strict";

(() => {
  const pictures = document.querySelector("[data-slider]");
  if (pictures && pictures.querySelectorAll("figure").length === 2) {
    const range = Object.assign(document.createElement("input"), { type: "range", min: "0", max: "100", value: "50", ariaLabel: "From before to after" });
    const edge = Object.assign(document.createElement("span"), { className: "edge" });
    range.addEventListener("input", () => pictures.style.setProperty("--at", `${range.value}%`));
    pictures.append(edge, range);
    pictures.classList.add("both");
  }
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input, textarea, select, summary, [tabindex]") || event.altKey || event.ctrlKey || event.metaKey) return;
    const link = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
    const to = link && document.querySelector(`link[rel=${link}]`);
    if (to) location.assign(to.href);
  });
  document.querySelector(".timeline [aria-current]")?.scrollIntoView({ block: "nearest" });
})();
