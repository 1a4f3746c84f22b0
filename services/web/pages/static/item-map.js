// Draws a loop as a map of its items: a cell each, coloured by how it stands. One picture of all cells, so that
// 100,000 of them cost one drawing; a cell leads to its session.
"use strict";

(() => {
  const AGAIN_AFTER_MS = 3000;
  const NARROWEST = 4;
  const WIDEST = 22;

  function attach(canvas) {
    if (canvas.dataset.attached !== undefined) return;
    canvas.dataset.attached = "";
    const probe = document.getElementById("map-probe");
    const names = canvas.dataset.statuses.split(" ");
    const cells = document.createElement("canvas");
    let states = new Uint8Array();
    let at = -1; // the cell under the pointer or the keys
    let grid = { columns: 1, size: WIDEST, ratio: 1, gap: 0 };

    // The colours are those of the page, light or dark: read from the key beside the map.
    function colours() {
      return names.map((name) => {
        const swatch = document.querySelector(`.map-of-items .swatch.${name}`);
        const style = getComputedStyle(swatch ?? canvas);
        return { fill: style.color, alpha: Number(style.opacity) };
      });
    }

    // All cells, drawn once for each change of what they are; the mark of one is painted over a copy.
    function draw() {
      const width = canvas.parentElement.clientWidth;
      const ratio = window.devicePixelRatio || 1;
      const fitting = Math.floor(Math.sqrt((width * 300) / Math.max(1, states.length)));
      const size = Math.min(WIDEST, Math.max(NARROWEST, fitting));
      const columns = Math.max(1, Math.floor(width / size));
      const rows = Math.max(1, Math.ceil(states.length / columns));
      grid = { columns, size, ratio, gap: size > 8 ? 2 : size > 5 ? 1 : 0.5 };
      for (const one of [canvas, cells]) {
        one.width = Math.round(columns * size * ratio);
        one.height = Math.round(rows * size * ratio);
      }
      const pen = cells.getContext("2d");
      pen.scale(ratio, ratio);
      const palette = colours();
      for (let state = 0; state < names.length; state += 1) {
        pen.fillStyle = palette[state].fill;
        pen.globalAlpha = palette[state].alpha;
        for (let n = 0; n < states.length; n += 1) {
          if (states[n] === state) pen.fillRect((n % columns) * size, Math.floor(n / columns) * size, size - grid.gap, size - grid.gap);
        }
      }
      paint();
      canvas.dataset.drawn = String(states.length);
      canvas.setAttribute("aria-label", `Map of ${states.length.toLocaleString("en")} items: ${told()}`);
    }

    // How many items stand how.
    function told() {
      const counts = names.map(() => 0);
      for (const state of states) counts[state] += 1;
      return names.map((name, state) => [counts[state], name]).filter(([count]) => count)
        .map(([count, name]) => `${count.toLocaleString("en")} ${name}`).join(", ");
    }

    function paint() {
      const { columns, size, ratio, gap } = grid;
      const pen = canvas.getContext("2d");
      pen.setTransform(1, 0, 0, 1, 0, 0);
      pen.clearRect(0, 0, canvas.width, canvas.height);
      if (cells.width && cells.height) pen.drawImage(cells, 0, 0);
      if (at < 0 || at >= states.length) return;
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.strokeStyle = getComputedStyle(document.body).color;
      pen.lineWidth = 1.5;
      pen.strokeRect((at % columns) * size - 0.5, Math.floor(at / columns) * size - 0.5, size - gap + 1, size - gap + 1);
    }

    function show(cell) {
      at = cell;
      probe.textContent = cell >= 0 && cell < states.length ? `item ${(cell + 1).toLocaleString("en")}: ${names[states[cell]]}` : "";
      paint();
    }

    function cellOf(event) {
      const box = canvas.getBoundingClientRect();
      const scale = canvas.width / grid.ratio / box.width;
      const column = Math.floor(((event.clientX - box.left) * scale) / grid.size);
      const row = Math.floor(((event.clientY - box.top) * scale) / grid.size);
      const cell = row * grid.columns + column;
      return column < grid.columns && cell < states.length ? cell : -1;
    }

    const open = (cell) => { if (cell >= 0 && cell < states.length) location.assign(`/jobs/${canvas.dataset.mapOf}/map/${cell}`); };
    canvas.addEventListener("mousemove", (event) => { const cell = cellOf(event); if (cell !== at) show(cell); });
    canvas.addEventListener("mouseleave", () => show(-1));
    canvas.addEventListener("click", (event) => open(cellOf(event)));
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: grid.columns, ArrowUp: -grid.columns }[event.key];
      if (event.key === "Enter") open(at);
      if (!step) return;
      event.preventDefault();
      show(Math.min(states.length - 1, Math.max(0, at < 0 ? 0 : at + step)));
    });

    async function load() {
      try {
        const answer = await fetch(`/jobs/${canvas.dataset.mapOf}/map`, { credentials: "same-origin" });
        if (answer.ok && !answer.redirected) states = new Uint8Array(await answer.arrayBuffer());
      } catch {
        return; // the gateway is away for a moment: the next turn tries again
      }
      draw();
    }

    async function follow() {
      await load();
      while (document.body.dataset.follow !== undefined) {
        await new Promise((done) => setTimeout(done, AGAIN_AFTER_MS));
        while (document.hidden) await new Promise((shown) => document.addEventListener("visibilitychange", shown, { once: true }));
        await load();
      }
    }

    window.addEventListener("resize", draw);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    follow();
  }

  const all = () => document.querySelectorAll("[data-map-of]").forEach(attach);
  document.addEventListener("shoal:appeared", all);
  all();
})();
