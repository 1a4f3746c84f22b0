// Puts the text of a chosen file into the field beside it. Without this script the text is pasted.
"use strict";

const part = document.querySelector("[data-file]");
if (part) {
  part.hidden = false;
  part.querySelector("input").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (file) part.closest("form").elements.file.value = await file.text();
  });
}
