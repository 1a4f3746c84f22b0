// What every page of the shop does: search suggestions, cookie choice, dialogs, endless lists.
const finder = document.querySelector(".finder");
if (finder) {
  const box = finder.querySelector(".suggestions");
  let asked = 0;
  finder.q.addEventListener("input", async () => {
    const mine = ++asked;
    const typed = finder.q.value.trim();
    const found = typed.length < 2 ? [] : await (await fetch("/suggest?q=" + encodeURIComponent(typed))).json();
    if (mine !== asked) return; // a later letter was quicker
    box.replaceChildren(...found.map((product) => {
      const link = document.createElement("a");
      link.href = product.path;
      link.textContent = product.name;
      return link;
    }));
    box.hidden = found.length === 0;
  });
}

document.querySelectorAll("[data-consent]").forEach((button) => {
  button.addEventListener("click", async () => {
    const body = new URLSearchParams({ choice: button.dataset.consent });
    await fetch("/consent", { method: "POST", body, headers: { Accept: "application/json" } });
    document.querySelector(".consent").remove();
  });
});

document.querySelectorAll("form[data-confirm]").forEach((form) => {
  form.addEventListener("submit", (event) => {
    if (!confirm(form.dataset.confirm)) event.preventDefault();
  });
});

document.querySelectorAll("form[data-voucher]").forEach((form) => {
  form.addEventListener("submit", (event) => {
    const code = prompt("Your voucher code:");
    if (code) form.code.value = code;
    else event.preventDefault();
  });
});

const endless = document.querySelector(".endless");
if (endless && !endless.hidden) {
  let loading = false;
  const watcher = new IntersectionObserver(async (entries) => {
    if (loading || !entries.some((entry) => entry.isIntersecting)) return;
    loading = true;
    const query = new URLSearchParams(endless.dataset.query);
    query.set("page", String(Number(endless.dataset.page) + 1));
    const answer = await fetch(endless.dataset.more + "?" + query);
    if (answer.ok) {
      document.getElementById("tiles").insertAdjacentHTML("beforeend", await answer.text());
      endless.dataset.page = query.get("page");
    }
    endless.hidden = answer.ok && answer.headers.get("X-More") === "no";
    loading = false;
    // Observing anew reports at once if the end is still in view.
    watcher.unobserve(endless);
    if (!endless.hidden) watcher.observe(endless);
  }, { rootMargin: "100000px 0px 400px 0px" }); // also when one jumped past it to the footer
  watcher.observe(endless);
}
