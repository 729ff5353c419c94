// Frames of Turbo, loaded when they become visible, and a controller of Stimulus that hides its element.
import "@hotwired/turbo";
import { Application, Controller } from "@hotwired/stimulus";
import { name } from "./page.js";

const application = Application.start();
application.register("secret", class extends Controller {
  connect() { this.element.style.visibility = "hidden"; }
});
document.getElementById("root").innerHTML = ["heading", "sections", "notes"]
  .map((part) => `<turbo-frame id="${part}" src="/fragment/${name}/${part}" loading="lazy"><p>Loading…</p></turbo-frame>`)
  .join("");
