// Waits until a document has not changed for `quiet` milliseconds, or for `quietEmpty` if it shows fewer characters than
// `emptyChars` or says that it is busy, but at most `patience` milliseconds. Finishes animations then, and returns the
// document's height in CSS pixels.
function waitQuiet(quiet, quietEmpty, emptyChars, patience) {
  const roots = [document];
  for (let i = 0; i < roots.length; i++)
    for (const each of roots[i].querySelectorAll("*")) if (each.shadowRoot) roots.push(each.shadowRoot);

  function textLength() {
    let length = document.body ? document.body.innerText.length : 0;
    for (const root of roots.slice(1)) for (const child of root.children) length += (child.innerText || "").length;
    return length;
  }

  return new Promise((resolve) => {
    const started = performance.now();
    let changed = started;
    const observer = new MutationObserver(() => { changed = performance.now(); });
    for (const root of roots)
      observer.observe(root, {
        subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["class", "hidden", "open"],
      });
    function check() {
      const still = performance.now() - changed;
      const isBusy = () => textLength() < emptyChars || document.querySelector("[aria-busy=true], [role=progressbar]");
      const isLate = performance.now() - started > patience;
      if (!isLate && (still < quiet || still < quietEmpty && isBusy())) return setTimeout(check, 25);
      observer.disconnect();
      for (const each of document.getAnimations()) try { each.finish(); } catch { /* it has no end */ }
      const root = document.scrollingElement || document.documentElement;
      resolve(root ? root.scrollHeight : 0);
    }
    setTimeout(check, quiet);
  });
}
