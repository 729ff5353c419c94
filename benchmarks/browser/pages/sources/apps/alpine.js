import Alpine from "alpinejs";
import { load } from "./page.js";

document.getElementById("root").innerHTML = `
  <main x-data="{ data: null, open: false }" x-init="data = await load()">
    <template x-if="data">
      <div>
        <h1 x-text="data.title"></h1>
        <button @click="open = !open">Menu</button>
        <ul x-show="open"><template x-for="text in data.hidden"><li x-text="text"></li></template></ul>
        <template x-for="item in data.items">
          <section><h2 x-text="item.name"></h2><p x-text="item.text"></p></section>
        </template>
      </div>
    </template>
  </main>`;
window.load = load;
Alpine.start();
