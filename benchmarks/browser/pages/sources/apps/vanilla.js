// Pages without a framework: frames, a stream of events, a worker, and text that comes late.
import { load, name } from "./page.js";

const root = document.getElementById("root");
const add = (tag, text, parent = root) => {
  const element = document.createElement(tag);
  element.textContent = text;
  parent.append(element);
  return element;
};
const hide = (texts, style) => { add("div", texts.join(" ")).style.cssText = style; };

const PAGES = {
  async "vanilla-frames"() {
    const data = await load();
    add("h1", data.title);
    add("p", data.intro);
    add("iframe", "").src = `/frame/${name}/sections`;
    const written = add("iframe", "");
    written.srcdoc = `<p id="note"></p><script>document.getElementById("note").textContent = parent.note</script>`;
    window.note = data.note;
    const unseen = add("iframe", "");
    unseen.style.display = "none";
    unseen.srcdoc = `<p>${data.hidden.join(" ")}</p>`;
  },
  "vanilla-stream"() {
    const source = new EventSource(`/events/${name}`);
    source.onmessage = (event) => {
      const { tag, text, style } = JSON.parse(event.data);
      add(tag, text).style.cssText = style;
    };
  },
  "vanilla-worker"() {
    const code = `onmessage = async ({ data }) => postMessage(await (await fetch(data)).json())`;
    const worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
    worker.onmessage = ({ data }) => {
      add("h1", data.title);
      for (const item of data.items) { add("h2", item.name); add("p", item.text); }
      hide(data.hidden, "transform: scale(0); position: absolute");
    };
    worker.postMessage(`${location.origin}/api/${name}`);
  },
  async "vanilla-late"() {
    const data = await load();
    add("h1", data.title);
    setTimeout(() => {
      add("p", data.intro);
      for (const section of data.sections) { add("h2", section.heading); add("p", section.text); }
      hide(data.hidden, "color: transparent; user-select: none");
    }, 600);
  },
};
PAGES[name]();
