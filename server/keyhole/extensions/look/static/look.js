// Live updates and copy buttons. Everything else on the pages works without this script.
"use strict";

// Parts with the attribute data-live are replaced by those of the same page after each change of the log. A hidden page
// has no stream, since a browser opens only six connections to a server over HTTP/1.
let stream = null;
let replacing = false;
let again = false;

function listen() {
  const part = document.querySelector("[data-live]");
  if (!part || stream || document.hidden) return;
  stream = new EventSource(part.dataset.live);
  stream.onopen = () => showLive(true);
  stream.onerror = () => showLive(false);
  stream.addEventListener("change", replaceParts);
}

function stop() {
  if (stream) stream.close();
  stream = null;
  showLive(false);
}

function showLive(isLive) {
  const mark = document.getElementById("live");
  if (mark) mark.hidden = !isLive;
}

async function replaceParts() {
  if (replacing) {
    again = true;
    return;
  }
  replacing = true;
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!response.ok) return stop();
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const part of document.querySelectorAll("[data-live]")) replacePart(part, fresh.getElementById(part.id));
  } catch (error) {
    showLive(false); // the server stopped; the stream connects again when it is back
  } finally {
    replacing = false;
    if (again) {
      again = false;
      setTimeout(replaceParts, 500);
    }
  }
}

function replacePart(part, fresh) {
  if (!fresh) return;
  const selection = getSelection();
  if (!selection.isCollapsed && part.contains(selection.anchorNode)) {
    setTimeout(replaceParts, 3000); // keep what the person is selecting
    return;
  }
  const focused = part.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  const open = [...part.querySelectorAll("details[open][id]")].map((each) => each.id);
  part.replaceWith(document.adoptNode(fresh));
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focused) [...fresh.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
  prepare(fresh);
}

// Copy buttons: data-copy names the element whose text is copied. They are hidden without this script.
async function copy(button) {
  const text = document.getElementById(button.dataset.copy).textContent;
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch (error) {
    getSelection().selectAllChildren(document.getElementById(button.dataset.copy));
    button.textContent = "Selected: press Ctrl+C";
  }
  setTimeout(() => (button.textContent = label), 2000);
}

// Times have the exact time in UTC; the script adds this computer's.
function prepare(root) {
  for (const button of root.querySelectorAll("button[data-copy]")) button.hidden = false;
  for (const time of root.querySelectorAll("time[datetime]")) {
    const local = new Date(time.dateTime);
    if (!Number.isNaN(local.getTime()) && !time.title.includes("\n")) time.title += `\n${local.toLocaleString()} here`;
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-copy]");
  if (button) copy(button);
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return stop();
  listen(); // the stream's number is that of the page, so changes while it was hidden arrive at once
});
addEventListener("pagehide", stop);
addEventListener("pageshow", listen);
// The note on an action that was done is not shown again when the page is loaded again.
if (document.getElementById("done")) {
  const address = new URL(location.href);
  address.searchParams.delete("done");
  history.replaceState(null, "", address);
}
prepare(document);
listen();
