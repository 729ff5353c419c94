import { mount } from "svelte";
import { name } from "./page.js";
import Docs from "./Docs.svelte";
import Recipe from "./Recipe.svelte";
import Stats from "./Stats.svelte";

mount({ "svelte-recipe": Recipe, "svelte-docs": Docs, "svelte-stats": Stats }[name], {
  target: document.getElementById("root"),
});
