import htmx from "htmx.org";
import { name } from "./page.js";

const fragment = (part) => `/fragment/${name}/${part}`;
const section = (number) => `<section class="spacer" hx-get="${fragment(`section-${number}`)}" hx-trigger="intersect once"></section>`;
const PAGES = {
  "htmx-load": `<div hx-get="${fragment("heading")}" hx-trigger="load"></div>
    <div hx-get="${fragment("sections")}" hx-trigger="load delay:200ms"></div>
    <div class="gone" hx-get="${fragment("notes")}" hx-trigger="load"></div>`,
  "htmx-lazy": `<div hx-get="${fragment("heading")}" hx-trigger="load"></div>${[0, 1, 2, 3].map(section).join("")}`,
  "htmx-poll": `<div hx-get="${fragment("poll")}" hx-trigger="load, every 400ms"></div>`,
};
const root = document.getElementById("root");
root.innerHTML = PAGES[name];
htmx.process(root);
