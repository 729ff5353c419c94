// A page whose clock never stops: its DOM changes ten times a second.
import { h, render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { load } from "./page.js";

function News() {
  const [data, setData] = useState(null);
  const [tick, setTick] = useState(0);
  useEffect(() => { load().then(setData); }, []);
  useEffect(() => {
    const timer = setInterval(() => setTick((before) => before + 1), 100);
    return () => clearInterval(timer);
  }, []);
  if (!data) return h("p", null, "Loading…");
  return h("main", { "data-tick": tick },
    h("h1", null, data.title),
    data.items.map((item) => h("article", { key: item.name }, h("h2", null, item.name), h("p", null, item.text))),
    h("p", { className: "gone" }, data.hidden.join(" ")));
}

render(h(News), document.getElementById("root"));
