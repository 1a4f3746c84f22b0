document.querySelectorAll(".thumbs button").forEach((button) => {
  button.addEventListener("click", () => {
    const full = document.querySelector(".gallery .full");
    full.src = button.dataset.full;
    document.querySelectorAll(".thumbs button").forEach((other) => other.classList.toggle("on", other === button));
  });
});
document.querySelectorAll("[data-versions]").forEach((button) => {
  button.addEventListener("click", async () => {
    const list = button.parentElement.querySelector(".versions-list");
    const answer = await fetch(button.dataset.versions);
    list.innerHTML = await answer.text();
    list.hidden = false;
    button.hidden = true;
  });
});
document.querySelectorAll("[data-popup]").forEach((link) => {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    window.open(link.href, "guide", "width=560,height=480");
  });
});
document.querySelectorAll("[data-copy]").forEach((button) => {
  button.addEventListener("click", () => alert("Link copied: " + location.origin + button.dataset.copy));
});
