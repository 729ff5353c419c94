import m from "mithril";
import { name } from "./page.js";

let thread = null;
const comment = (item) => m("li", { key: item.name }, m("strong", item.name), m("p", item.text),
  item.replies?.length ? m("ul", item.replies.map(comment)) : null);

m.request(`/api/${name}`).then((data) => { thread = data; });
m.mount(document.getElementById("root"), {
  view: () => thread && m("main", m("h1", thread.title), m("ul", thread.comments.map(comment)),
    m("div", { style: "height: 0; overflow: hidden" }, thread.hidden.join(" "))),
});
