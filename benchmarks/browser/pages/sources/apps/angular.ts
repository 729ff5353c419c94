import "@angular/compiler";
import { APP_BASE_HREF } from "@angular/common";
import { Component, inject, signal } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";
import { ActivatedRoute, provideRouter, RouterOutlet } from "@angular/router";
import { load, name } from "./page.js";

class Loaded {
  data = signal<any>(null);
  constructor(part = "") { load(part).then((found) => this.data.set(found)); }
}

@Component({
  selector: "app-board",
  template: `@if (data(); as board) {
    <main>
      <h1>{{ board.title }}</h1>
      @for (item of board.items; track item.name) {
        <div class="card"><h2>{{ item.name }}</h2><p>{{ item.text }}</p><b>{{ item.price }}</b></div>
      }
      @for (text of board.hidden; track text) { <div class="gone">{{ text }}</div> }
    </main>
  } @else { <p>Loading the board…</p> }`,
})
class Board extends Loaded {}

@Component({
  selector: "app-chapter",
  template: `@if (data(); as chapter) {
    <article>
      <h1>{{ chapter.title }}</h1>
      @for (section of chapter.sections; track section.heading) {
        <h2>{{ section.heading }}</h2><p>{{ section.text }}</p>
      }
      <p [hidden]="true">{{ chapter.hidden.join(" ") }}</p>
    </article>
  }`,
})
class Chapter extends Loaded {
  constructor() { super(`/chapter?number=${inject(ActivatedRoute).snapshot.params["number"]}`); }
}

@Component({ selector: "app-routed", imports: [RouterOutlet], template: "<router-outlet />" })
class Routed {}

@Component({
  selector: "app-form",
  template: `@if (data(); as form) {
    <form>
      <h1>{{ form.title }}</h1>
      <p>{{ form.intro }}</p>
      @for (field of form.fields; track field; let index = $index) {
        <p><label>{{ field }} <input></label> <em class="unseen">{{ form.hidden[index % form.hidden.length] }}</em></p>
      }
      <button type="submit">Send application</button>
    </form>
  }`,
})
class Form extends Loaded {}

const root: any = { "angular-board": Board, "angular-chapter": Routed, "angular-form": Form }[name];
const host = document.createElement({ "angular-board": "app-board", "angular-form": "app-form" }[name] ?? "app-routed");
document.getElementById("root")!.append(host);
bootstrapApplication(root, {
  providers: [
    provideRouter([{ path: "chapters/:number", component: Chapter }]),
    { provide: APP_BASE_HREF, useValue: `/p/${name}/` },
  ],
});
