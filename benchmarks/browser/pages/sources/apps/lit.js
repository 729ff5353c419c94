import { LitElement, css, html } from "lit";
import { load, name } from "./page.js";

class Loaded extends LitElement {
  static properties = { data: { state: true }, open: { state: true } };
  constructor() {
    super();
    this.open = 0;
    load().then((found) => { this.data = found; });
  }
}

customElements.define("lit-section", class extends LitElement {
  static properties = { heading: {} };
  render() { return html`<section><h2>${this.heading}</h2><slot></slot></section>`; }
});

customElements.define("lit-article", class extends Loaded {
  static styles = css`aside { display: none; }`;
  render() {
    return this.data && html`<article>
      <h1>${this.data.title}</h1>
      <p>${this.data.intro}</p>
      ${this.data.sections.map((section) => html`
        <lit-section heading=${section.heading}>
          <p>${section.text}</p>
          <p slot="unassigned">${this.data.hidden[0]}</p>
        </lit-section>`)}
      <aside>${this.data.hidden.join(" ")}</aside>
    </article>`;
  }
});

customElements.define("lit-price", class extends LitElement {
  static properties = { value: {} };
  render() { return html`<b>${this.value}</b>`; }
});

customElements.define("lit-product", class extends LitElement {
  static properties = { item: { attribute: false } };
  render() {
    return html`<h2>${this.item.name}</h2><p>${this.item.text}</p><lit-price value=${this.item.price}></lit-price>`;
  }
});

customElements.define("lit-shop", class extends Loaded {
  static styles = css`.badge { opacity: 0; }`;
  render() {
    return this.data && html`<main>
      <h1>${this.data.title}</h1>
      ${this.data.items.map((item) => html`<lit-product .item=${item}></lit-product>`)}
      <div class="badge">${this.data.hidden.join(" ")}</div>
    </main>`;
  }
});

customElements.define("lit-panel", class extends LitElement {
  static properties = { open: { type: Boolean, reflect: true } };
  static styles = css`:host { display: none; } :host([open]) { display: block; }`;
  render() { return html`<slot></slot>`; }
});

customElements.define("lit-tabs", class extends Loaded {
  render() {
    return this.data && html`<main>
      <h1>${this.data.title}</h1>
      ${this.data.tabs.map((tab, index) => html`<button @click=${() => { this.open = index; }}>${tab}</button>`)}
      ${[this.data.panel, ...this.data.hidden].map((text, index) => html`
        <lit-panel ?open=${index === this.open}><p>${text}</p></lit-panel>`)}
    </main>`;
  }
});

const elements = { "lit-article": "lit-article", "lit-shop": "lit-shop", "lit-tabs": "lit-tabs" };
document.getElementById("root").append(document.createElement(elements[name]));
