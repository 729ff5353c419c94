import { createResource, For, Show, Suspense } from "solid-js";
import { render } from "solid-js/web";
import { load } from "./page.js";

function Catalogue() {
  const [data] = createResource(() => load());
  return (
    <Suspense fallback={<p>Loading the catalogue…</p>}>
      <Show when={data()}>
        <main>
          <h1>{data().title}</h1>
          <For each={data().items}>{(item) => <div class="card"><h2>{item.name}</h2><p>{item.text}</p><b>{item.price}</b></div>}</For>
          <div style={{ "clip-path": "inset(50%)", position: "absolute" }}>{data().hidden.join(" ")}</div>
        </main>
      </Show>
    </Suspense>
  );
}

render(() => <Catalogue />, document.getElementById("root"));
