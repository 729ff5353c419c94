import { computed, createApp, ref } from "vue/dist/vue.esm-bundler.js";
import { createRouter, createWebHashHistory } from "vue-router";
import { load, name } from "./page.js";

function useData() {
  const data = ref(null);
  load().then((found) => { data.value = found; });
  return data;
}

const Product = {
  setup: () => ({ data: useData(), open: ref(false) }),
  template: `<main v-if="data">
    <h1>{{ data.title }}</h1>
    <p>{{ data.intro }}</p>
    <dl><template v-for="[term, value] in data.facts" :key="term"><dt>{{ term }}</dt><dd>{{ value }}</dd></template></dl>
    <button @click="open = !open">Shipping details</button>
    <div v-show="open"><p v-for="text in data.hidden" :key="text">{{ text }}</p></div>
  </main>`,
};

const Orders = {
  setup: () => ({ data: useData() }),
  template: `<main v-if="data">
    <h1>{{ data.title }}</h1>
    <ul><li v-for="item in data.items" :key="item.name"><b>{{ item.name }}</b> {{ item.text }}</li></ul>
    <div class="outside">{{ data.hidden.join(" ") }}</div>
  </main>`,
};
const Home = { template: `<main><h1>Choose a section</h1></main>` };

const Table = {
  setup() {
    const data = useData(), page = ref(0), size = 15;
    const shown = computed(() => [...data.value.rows, ...data.value.later].slice(page.value * size, (page.value + 1) * size));
    return { data, page, shown };
  },
  template: `<main v-if="data">
    <h1>{{ data.title }}</h1>
    <table>
      <thead><tr><th v-for="column in data.columns" :key="column">{{ column }}</th></tr></thead>
      <tbody><tr v-for="row in shown" :key="row[0]"><td v-for="cell in row" :key="cell">{{ cell }}</td></tr></tbody>
    </table>
    <button @click="page++">Next page</button>
    <p style="opacity: 0">{{ data.hidden.join(" ") }}</p>
  </main>`,
};

const German = {
  setup: () => ({ data: useData() }),
  template: `<article v-if="data">
    <h1>{{ data.title }}</h1>
    <p v-for="text in data.paragraphs" :key="text">{{ text }}</p>
    <p aria-hidden="true" class="sr-only">{{ data.hidden.join(" ") }}</p>
  </article>`,
};

const Faded = {
  setup: () => ({ data: useData() }),
  template: `<Transition name="fade"><article v-if="data">
    <h1>{{ data.title }}</h1>
    <section v-for="section in data.sections" :key="section.heading">
      <h2>{{ section.heading }}</h2><p>{{ section.text }}</p>
    </section>
    <p class="unseen">{{ data.hidden.join(" ") }}</p>
  </article></Transition>`,
};

const VIEWS = {
  "vue-product": Product, "vue-table": Table, "vue-german": German, "vue-fade": Faded,
  "vue-orders": { template: "<RouterView />" },
};
const routes = [{ path: "/", component: Home }, { path: "/orders", component: Orders }];
document.head.insertAdjacentHTML("beforeend",
  "<style>.fade-enter-active { transition: opacity 0.4s } .fade-enter-from { opacity: 0 }</style>");
createApp(VIEWS[name]).use(createRouter({ history: createWebHashHistory(), routes })).mount("#root");
