// The quote form: regions that follow the country, and the checks of its second page.
const country = document.getElementById("country");
if (country) {
  const region = document.getElementById("region");
  let asked = 0;
  country.addEventListener("change", async () => {
    const mine = ++asked;
    region.disabled = true;
    region.replaceChildren(new Option("Loading…", ""));
    const names = await (await fetch("/quote/regions?country=" + encodeURIComponent(country.value))).json();
    if (mine !== asked) return; // another country was chosen meanwhile
    region.replaceChildren(new Option(names.length ? "Please choose" : "Choose a country first", ""));
    names.forEach((name) => region.add(new Option(name, name)));
    region.disabled = names.length === 0;
  });
}

const project = document.getElementById("quote-project");
if (project) {
  const show = (field, text) => {
    const error = document.getElementById(field.name + "-error");
    error.textContent = text;
    error.hidden = text === "";
    if (text) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  };
  project.addEventListener("submit", (event) => {
    const fields = [...project.querySelectorAll("[data-missing]")];
    const wrong = fields.filter((field) => !field.checkValidity());
    fields.forEach((field) => show(field, wrong.includes(field) ? field.dataset.missing : ""));
    if (wrong.length) {
      event.preventDefault();
      wrong[0].focus();
    }
  });
}
