// Keeps a page current: parts marked data-live are fetched anew and swapped in. Without this script the pages still
// work; they are then as old as their last load.
"use strict";

const LIST_EVERY_MS = 2500;
const JOB_AT_MOST_EVERY_MS = 1000;

async function refresh() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" }, credentials: "same-origin" });
  if (!answer.ok || answer.redirected) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const next = fresh.querySelector(`[data-live="${CSS.escape(part.dataset.live)}"]`);
    // What a person is doing in a part is not taken away from under their hands.
    if (!next || part.contains(document.activeElement) || next.innerHTML === part.innerHTML) continue;
    part.replaceChildren(...next.childNodes);
  }
}

function quietly(work) {
  return work().catch(() => undefined); // the gateway is away for a moment: the next turn tries again
}

function poll() {
  setInterval(() => document.hidden || quietly(refresh), LIST_EVERY_MS);
}

function follow(address) {
  let due = 0;
  const look = () => {
    if (due) return;
    due = setTimeout(async () => {
      await quietly(refresh);
      due = 0;
    }, JOB_AT_MOST_EVERY_MS);
  };
  const source = new EventSource(address);
  for (const name of ["submitted", "started", "progress", "fanned_out", "paused", "resumed", "retried", "canceled", "finished"]) {
    source.addEventListener(`job.${name}`, look);
  }
}

document.addEventListener("submit", (event) => {
  const question = event.target.dataset.ask;
  if (question && !confirm(question)) event.preventDefault();
});

const page = document.body.dataset;
if (page.follow) follow(page.follow);
else if (page.poll !== undefined) poll();
