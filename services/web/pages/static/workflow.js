// Tries a version on the addresses in its form, and shows what each channel read. In the editor a node of the graph
// opens its form.
(() => {
  const form = document.querySelector("form[data-try]");
  if (!form) return;
  const tried = document.querySelector("[data-tried]");
  const button = form.querySelector("[data-try-go]");
  if (!button) return;
  const idle = button.textContent;
  let trying = null; // ends the try that runs

  function fault(text) {
    const line = document.createElement("p");
    line.className = "fault in";
    line.textContent = text;
    tried.replaceChildren(line);
  }

  if (button.type === "submit") form.addEventListener("submit", (event) => { event.preventDefault(); attempt(); });
  else button.addEventListener("click", attempt);

  async function attempt() {
    if (trying) return trying.abort();
    trying = new AbortController();
    button.textContent = "Trying: press to stop";
    tried.replaceChildren();
    const body = new URLSearchParams(new FormData(form));
    try {
      const answer = await fetch(form.dataset.try, { method: "POST", body, credentials: "same-origin", signal: trying.signal });
      if (!answer.ok || answer.redirected) throw new Error(`It was not tried: the gateway says ${answer.status}.`);
      const told = await answer.json();
      if (told.fault) throw new Error(told.fault);
      tried.innerHTML = told.html; // made by the gateway, which has escaped what pages say
    } catch (error) {
      if (error.name !== "AbortError") fault(error instanceof TypeError ? "It was not tried: the gateway is away." : error.message);
    } finally {
      trying = null;
      button.textContent = idle;
    }
  }
})();

(() => {
  for (const link of document.querySelectorAll("form .graph a.node")) {
    link.addEventListener("click", (event) => {
      const name = decodeURIComponent(link.getAttribute("href").slice("#node-".length));
      const choose = [...document.querySelectorAll(".nodes button")].find((button) => button.value === `show:${name}`);
      if (!choose) return;
      event.preventDefault();
      choose.click();
    });
  }
})();
