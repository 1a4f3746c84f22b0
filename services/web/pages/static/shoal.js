// Keeps a page current: parts marked data-live are fetched anew and swapped in. Without this script the pages still
// work; they are then as old as their last load.
"use strict";

const POLL_EVERY_MS = 2500;
const JOB_AT_MOST_EVERY_MS = 1000;
const page = document.body.dataset;

// A new element with some properties and what it holds; the other scripts make theirs by it too.
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// Gives whether all of it is current.
async function refresh() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" }, credentials: "same-origin" });
  if (answer.status === 429 || answer.status >= 500) throw new Error(`not now: ${answer.status}`);
  if (!answer.ok || answer.redirected) return true; // gone, or logged out: what is shown stays
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (fresh.body.dataset.follow === undefined) delete page.follow; // it is over
  if (fresh.body.dataset.poll === undefined) delete page.poll;
  let all = true;
  for (const part of document.querySelectorAll("[data-live]")) {
    const next = fresh.querySelector(`[data-live="${CSS.escape(part.dataset.live)}"]`);
    if (!next || next.innerHTML === part.innerHTML) continue;
    // What a person is doing in a part is not taken away from under their hands, nor what they have begun to write.
    if (part.contains(document.activeElement) || isWrittenIn(part)) all = false;
    else part.replaceChildren(...next.childNodes);
  }
  // What a script of its own keeps current is taken over once, when it is there.
  for (const part of document.querySelectorAll("[data-once]")) {
    const next = fresh.querySelector(`[data-once="${CSS.escape(part.dataset.once)}"]`);
    if (part.children.length || !next?.children.length) continue;
    part.replaceChildren(...next.childNodes);
    document.dispatchEvent(new Event("shoal:appeared"));
  }
  return all;
}

function isWrittenIn(part) {
  return [...part.querySelectorAll("input:not([type=hidden]), textarea")].some((field) => field.value !== field.defaultValue);
}

// A hidden page asks for nothing; the pause ends when the page is shown.
async function pause(ms) {
  await new Promise((done) => setTimeout(done, ms));
  while (document.hidden) {
    await new Promise((shown) => document.addEventListener("visibilitychange", shown, { once: true }));
  }
}

async function poll() {
  while (page.poll !== undefined) {
    await pause(POLL_EVERY_MS);
    await refresh().catch(() => undefined); // the gateway is away for a moment: the next turn tries again
  }
}

// Gives the function that is called when there is something new. Looks do not overlap, and what is told during one
// gets another: the answer on its way may have been read before it.
function watcher() {
  let told = false;
  let looking = false;
  const look = async () => {
    told = true;
    if (looking) return;
    looking = true;
    while (told) {
      await pause(JOB_AT_MOST_EVERY_MS);
      told = false;
      try {
        if (!(await refresh())) document.addEventListener("focusout", look, { once: true });
      } catch {
        told = true; // the gateway is away for a moment
      }
    }
    looking = false;
  };
  return look;
}

// A job of which nothing is told for as long as its rate looks back is looked at all the same: its rate is another now.
const QUIET_MS = 300000;
let quiet = 0;

function lookWhenQuiet(look) {
  clearTimeout(quiet);
  quiet = setTimeout(() => { look(); lookWhenQuiet(look); }, QUIET_MS);
}

function follow(look, after) {
  const source = new EventSource(`${page.follow}?after=${after}`);
  let last = after;
  lookWhenQuiet(look);
  for (const name of page.events.split(" ")) {
    source.addEventListener(name, (event) => { last = event.lastEventId; look(); lookWhenQuiet(look); });
  }
  source.addEventListener("error", async () => {
    if (source.readyState !== EventSource.CLOSED) return; // cut off: the browser comes back by itself
    await pause(POLL_EVERY_MS);
    await look(); // refused, or over: the page itself says which
    if (page.follow) follow(look, last);
  });
}

document.addEventListener("submit", (event) => {
  const question = event.target.dataset.ask;
  if (question && !confirm(question)) event.preventDefault();
});

// The mark beside "Needs you" says how much waits for a person, on every page.
const WAITING_EVERY_MS = 15000;
const NOTIFY = "shoal.notify";

function notifies() {
  return "Notification" in window && Notification.permission === "granted" && localStorage.getItem(NOTIFY) === "yes";
}

// One page of this browser tells, also of several that are open: they share a tag.
function notify(waiting) {
  if (!notifies()) return;
  const words = waiting === 1 ? "One thing waits for a person." : `${waiting} things wait for a person.`;
  const note = new Notification("Shoal needs you", { body: words, tag: "shoal-needs-you" });
  note.addEventListener("click", () => { window.focus(); location.href = "/attention"; });
}

// The switch for notifications, on the page of what waits.
function notificationSwitch(button) {
  const show = () => {
    button.hidden = !("Notification" in window);
    button.setAttribute("aria-pressed", notifies() ? "true" : "false");
    button.textContent = notifies() ? "Notifications are on" : "Notify me in this browser";
  };
  button.addEventListener("click", async () => {
    const on = !notifies() && (await Notification.requestPermission()) === "granted";
    localStorage.setItem(NOTIFY, on ? "yes" : "no");
    show();
  });
  show();
}

async function countWaiting(link, look) {
  let before = null;
  for (;;) {
    try {
      const answer = await fetch("/attention/count", { credentials: "same-origin" });
      if (answer.redirected || answer.status === 403) return; // logged out, or not for this login
      if (answer.ok) {
        const { waiting, at_most: most } = await answer.json();
        if (before !== null && waiting > before) notify(waiting);
        if (before !== null && waiting !== before) look?.();
        before = waiting;
        link.dataset.waiting = waiting >= most ? `${most}+` : waiting || "";
        link.setAttribute("aria-label", waiting ? `Needs you: ${link.dataset.waiting}` : "Needs you");
      }
    } catch {
      // the gateway is away for a moment: the next turn tries again
    }
    await pause(WAITING_EVERY_MS);
  }
}

const notifyButton = document.querySelector("[data-notify]");
if (notifyButton) notificationSwitch(notifyButton);
const waitingLink = document.querySelector("[data-waiting]");
const jobLook = page.follow ? watcher() : undefined;
if (waitingLink && document.querySelector(".who")) countWaiting(waitingLink, jobLook);
if (page.follow) follow(jobLook, page.after);
else if (page.poll !== undefined) poll();
