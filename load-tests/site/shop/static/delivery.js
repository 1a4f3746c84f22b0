// <delivery-calculator>: everything inside lives in an open shadow root.
const DAYS = { 0: 2, 1: 2, 2: 3, 3: 1, 4: 4, 5: 2, 6: 3, 7: 1, 8: 5, 9: 2 };

class DeliveryCalculator extends HTMLElement {
  connectedCallback() {
    const root = this.attachShadow({ mode: "open" });
    root.innerHTML = `
      <style>
        form { display: flex; gap: 12px; align-items: end; background: #fff; border: 1px solid #e6dfd1; border-radius: 12px; padding: 16px 20px; max-width: 620px; }
        label { display: grid; gap: 4px; font-weight: 600; }
        input, select, button { font: inherit; padding: 9px 12px; border-radius: 8px; border: 1px solid #c9c1af; }
        button { background: #1d4b43; color: #fff; border: 0; font-weight: 600; cursor: pointer; }
        output { display: block; margin: 10px 0; font-weight: 600; color: #25704f; }
      </style>
      <form>
        <label>Postcode <input name="postcode" inputmode="numeric" required></label>
        <label>Parcel <select name="size"><option>Small</option><option>Large</option><option>Heavy goods</option></select></label>
        <button>Calculate</button>
      </form>
      <output aria-live="polite"></output>`;
    const form = root.querySelector("form");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const first = form.postcode.value.trim()[0];
      const days = (DAYS[first] ?? 6) + form.size.selectedIndex;
      root.querySelector("output").textContent = `${form.size.value} to ${form.postcode.value.trim()}: ${days} working day${days === 1 ? "" : "s"}`;
    });
  }
}
customElements.define("delivery-calculator", DeliveryCalculator);
