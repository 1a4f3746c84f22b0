// Plays a recording of a session's pages. The pages are drawn by rrweb in a frame that runs no scripts.
"use strict";

(() => {
  const at = (id) => document.getElementById(`replay-${id}`);
  const main = document.querySelector("[data-events]");
  const stage = at("stage");
  const STEP_MS = 5000; // of the arrow keys
  const IDLE_MS = 3000;
  let player = null;
  let tabs = [];
  let tab = { events: [] };
  let playing = false;
  let total = 0;
  let drawn = 0; // the moment after which the first page is there: before it rrweb draws nothing

  const clock = (ms) => `${Math.floor(ms / 60000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`;
  const began = () => tab.events[0].timestamp;
  const now = () => Math.min(Math.max(player.getCurrentTime(), 0), total);

  function show(ms) {
    at("at").value = ms;
    at("at").setAttribute("aria-valuetext", `${clock(ms)} of ${clock(total)}`);
    at("clock").textContent = `${clock(ms)} of ${clock(total)}`;
    let opened = "";
    for (const event of tab.pages) if (event.timestamp - began() <= ms) opened = event.data.href;
    at("address").textContent = opened || tab.pages[0]?.data.href || "";
    let current = null;
    for (const mark of marks()) {
      mark.removeAttribute("aria-current");
      if (Number(mark.dataset.at) - began() <= ms) current = mark;
    }
    current?.setAttribute("aria-current", "step");
  }

  // How long before the first event of a recorded tab, or after its last one, something happened, in milliseconds.
  const away = (recorded, moment) =>
    Math.max(recorded.events[0].timestamp - moment, moment - recorded.events[recorded.events.length - 1].timestamp, 0);

  const marks = () => [...document.querySelectorAll("[data-at]")].filter((mark) => !mark.hidden);

  function follow() {
    if (!playing) return;
    show(now());
    requestAnimationFrame(follow);
  }

  function turn(on) {
    playing = on;
    at("play").textContent = on ? "Pause" : "Play";
    at("state").textContent = on ? "Plays" : "Paused";
    if (!on) return player.pause();
    player.play(now() >= total ? drawn : now());
    follow();
  }

  function seek(ms) {
    const to = Math.min(Math.max(ms, drawn), total);
    if (playing) player.play(to);
    else player.pause(to);
    show(to);
  }

  function fit() {
    const frame = stage.querySelector("iframe");
    const wrapper = stage.querySelector(".replayer-wrapper");
    const width = Number(frame?.getAttribute("width"));
    const height = Number(frame?.getAttribute("height"));
    if (!width || !height) return;
    const scale = Math.min(stage.clientWidth / width, 1);
    wrapper.style.transform = `scale(${scale})`;
    stage.style.height = `${Math.ceil(height * scale)}px`;
  }

  function open(chosen) {
    player?.destroy();
    stage.replaceChildren();
    playing = false;
    tab = { ...chosen, pages: chosen.events.filter((event) => event.type === 4) };
    total = tab.events[tab.events.length - 1].timestamp - began();
    drawn = tab.events.find((event) => event.type === 2).timestamp - began() + 1;
    player = new rrwebReplay.Replayer(tab.events, {
      root: stage,
      speed: Number(at("speed").value),
      skipInactive: at("skip").checked,
      inactivePeriodThreshold: IDLE_MS,
      mouseTail: false,
      triggerFocus: false,
      showWarning: false,
      UNSAFE_replayCanvas: false,
    });
    stage.querySelector(".replayer-wrapper").inert = true; // nothing in a recorded page can be reached or followed
    player.on("resize", fit);
    player.on("finish", () => {
      turn(false);
      show(total);
      at("state").textContent = "The end";
    });
    at("at").max = total;
    at("ticks").replaceChildren();
    for (const mark of document.querySelectorAll("[data-at]")) {
      // A step begins before the page that it opens: it is marked in the tab that is nearest to it.
      const distance = away(chosen, Number(mark.dataset.at));
      mark.hidden = tabs.some((other) => away(other, Number(mark.dataset.at)) < distance);
      if (mark.hidden) continue;
      const ms = Number(mark.dataset.at) - began();
      mark.querySelector(".at").textContent = clock(Math.max(ms, 0));
      const tick = document.createElement("i");
      tick.style.left = `${total ? (Math.min(Math.max(ms, 0), total) / total) * 100 : 0}%`;
      at("ticks").append(tick);
    }
    seek(0);
    fit();
    for (const id of ["play", "at"]) at(id).disabled = false;
    at("state").textContent = "Paused";
  }

  async function load() {
    const answer = await fetch(main.dataset.events, { credentials: "same-origin" });
    if (!answer.ok) throw new Error(`refused: ${answer.status}`);
    const told = await answer.json();
    for (const sentence of told.lacks) {
      at("lacks").append(Object.assign(document.createElement("li"), { textContent: `Not there: ${sentence}.` }));
      at("lacks").hidden = false;
    }
    tabs = told.tabs.filter((one) => one.events.length > 1);
    if (tabs.length === 0) {
      at("state").textContent = "No page was recorded.";
      return;
    }
    tabs.forEach((_, n) => at("tab").append(new Option(String(n + 1), String(n))));
    at("tabs").hidden = tabs.length < 2;
    at("tab").addEventListener("change", () => open(tabs[Number(at("tab").value)]));
    at("play").addEventListener("click", () => turn(!playing));
    at("at").addEventListener("input", () => seek(Number(at("at").value)));
    at("speed").addEventListener("change", () => player.setConfig({ speed: Number(at("speed").value) }));
    at("skip").addEventListener("change", () => player.setConfig({ skipInactive: at("skip").checked }));
    for (const mark of document.querySelectorAll("[data-at]")) {
      mark.querySelector("button").addEventListener("click", () => seek(Number(mark.dataset.at) - began()));
    }
    document.addEventListener("keydown", (event) => {
      if (event.target.closest("input, select, button, a, summary") || event.altKey || event.ctrlKey || event.metaKey) return;
      const steps = { ArrowLeft: -STEP_MS, ArrowRight: STEP_MS };
      if (event.key === " ") turn(!playing);
      else if (event.key in steps) seek(now() + steps[event.key]);
      else return;
      event.preventDefault();
    });
    addEventListener("resize", fit);
    open(tabs[0]);
  }

  load().catch((error) => {
    at("state").textContent = `The recording cannot be played: ${error.message}`;
  });
})();
