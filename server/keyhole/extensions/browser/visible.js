// Returns the visible part of a document as HTML. Runs in a world of its own, where a page cannot replace functions.
//
// Computed style decides what is visible: an element is left out if nobody sees it at any scroll position. Open shadow
// roots are read in place of their host's children. `frames` is a list of alternating iframe elements and the HTML of
// their documents. The result has no styles and no scripts but metadata, and at most `limit` characters.
function readVisible(limit, ...frames) {
  const DROPPED = new Set(["script", "style", "template", "noscript", "link", "meta", "base", "title", "datalist"]);
  const CHILDLESS = new Set(["canvas", "audio", "video", "object", "embed", "iframe", "progress", "meter"]);
  const VOID = new Set(["area", "br", "col", "hr", "img", "input", "source", "track", "wbr", "embed"]);
  // Attributes that hide an element or set its style, which computed style has decided already.
  const STYLING = new Set([
    "style", "hidden", "popover", "inert", "bgcolor", "color", "background", "text", "face", "srcset", "sizes", "nonce",
    "integrity", "width", "height",
  ]);
  const FORMULA = ".katex-mathml, mjx-assistive-mml, .MJX_Assistive_MathML, .mwe-math-mathml-a11y";
  const EVERYWHERE = [-Infinity, -Infinity, Infinity, Infinity];
  // Where an element may be seen: where it, its absolute and its fixed descendants are not clipped, and on what colour.
  const START = { clip: EVERYWHERE, outer: EVERYWHERE, fixed: EVERYWHERE, background: "rgb(255, 255, 255)" };
  const PICTURE = "img, video, canvas, svg, picture";
  const MAX_ATTRIBUTE = 2000;
  const htmlOf = new Map();
  for (let i = 0; i < frames.length; i += 2) htmlOf.set(frames[i], frames[i + 1]);
  const isTop = window === window.top;
  const parts = [];
  let size = 0;

  function write(text) {
    if (size < limit) parts.push(text);
    size += text.length;
  }

  const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const quote = (text) => escape(text).replace(/"/g, "&quot;");

  function intersect(a, b) {
    return [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])];
  }

  function box(element) {
    const r = element.getBoundingClientRect();
    return [r.left, r.top, r.right, r.bottom];
  }

  // True if a box can be seen: it is not empty, not clipped away, and neither left of the document nor above it.
  function shows(r, clip, view) {
    const [left, top, right, bottom] = intersect(r, clip);
    return right - left > 1 && bottom - top > 1 && right + view.scrollX > 0 && bottom + view.scrollY > 0;
  }

  function alpha(color) {
    const match = /[,/]\s*([\d.]+%?)\)$/.exec(color);
    return color === "transparent" ? 0 : match && color.split(/[,/]/).length > 3 ? parseFloat(match[1]) : 1;
  }

  // True if an element may lie over a picture, which has no size as it is not loaded.
  function liesOnPicture(element) {
    for (let each = element; each.parentElement && each.parentElement !== document.body; each = each.parentElement)
      if (getComputedStyle(each).position !== "static" && each.parentElement.querySelector(PICTURE)) return true;
    return false;
  }

  // True if a text has the colour of the area below it. Text on a picture or a gradient can be read.
  function isCamouflaged(color, r, element) {
    if (liesOnPicture(element)) return false;
    for (const below of element.getRootNode().elementsFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2)) {
      const style = getComputedStyle(below);
      if (below.matches(PICTURE) || style.backgroundImage !== "none") return false;
      if (alpha(style.backgroundColor) > 0) return style.backgroundColor === color;
    }
    return color === "rgb(255, 255, 255)";
  }

  function showsText(node, style, state) {
    if (style.visibility !== "visible" || state.unseen || parseFloat(style.fontSize) < 2) return false;
    const fill = style.webkitTextFillColor || style.color;
    if (alpha(fill) === 0 && style.backgroundClip !== "text" && style.webkitBackgroundClip !== "text"
        && style.textShadow === "none" && !parseFloat(style.webkitTextStrokeWidth)) return false;
    const range = document.createRange();
    range.selectNodeContents(node);
    const r = range.getBoundingClientRect();
    if (!shows([r.left, r.top, r.right, r.bottom], state.clip, node.ownerDocument.defaultView)) return false;
    return fill !== state.background || style.textShadow !== "none" || !isCamouflaged(fill, r, node.parentElement);
  }

  // Returns the state for the children of an element, or null if none of them can be seen.
  function enter(element, style, state) {
    if (style.display === "none" || style.contentVisibility === "hidden" && element.localName !== "details") return null;
    if (parseFloat(style.opacity) === 0 || /\bopacity\(0(%|\.0*)?\)/.test(style.filter)) return null;
    const view = element.ownerDocument.defaultView;
    const isRoot = element === element.ownerDocument.documentElement || element === element.ownerDocument.body;
    const isInline = style.display === "inline" || style.display === "contents";
    let clip = style.position === "fixed" ? state.fixed : style.position === "absolute" ? state.outer : state.clip;
    if (!isRoot && !isInline) {
      const own = box(element);
      const clipPath = /^inset\((\d+)%(?: (\d+)%)?/.exec(style.clipPath);
      if (clipPath && Math.max(clipPath[1], clipPath[2] || 0) >= 50 || /^circle\(0/.test(style.clipPath)) return null;
      if (style.position === "absolute" || style.position === "fixed") {
        const rect = /^rect\((.+)\)$/.exec(style.clip);
        const sides = rect && rect[1].split(/,? /).map(parseFloat);
        if (sides && (sides[1] - sides[3] <= 1 || sides[2] - sides[0] <= 1)) return null;
      }
      const x = style.overflowX, y = style.overflowY;
      const scrolls = x === "auto" || x === "scroll" || y === "auto" || y === "scroll";
      if (scrolls && shows(own, clip, view)) clip = EVERYWHERE;
      else if (x !== "visible" || y !== "visible") clip = intersect(clip, own);
    }
    const containsFixed = style.transform !== "none" || style.filter !== "none";
    const containsAbsolute = containsFixed || style.position !== "static";
    const paints = style.backgroundImage === "none" ? alpha(style.backgroundColor) > 0 : true;
    const background = !paints ? state.background : style.backgroundImage === "none" ? style.backgroundColor : "";
    return {
      clip, background, outer: containsAbsolute || isRoot ? clip : state.outer, fixed: containsFixed ? clip : state.fixed,
      pre: /^(pre|break-spaces)/.test(style.whiteSpace),
    };
  }

  function attributes(element, name) {
    let text = "";
    for (const { name: key, value } of element.attributes) {
      const isSize = name === "img" && (key === "width" || key === "height");
      const isState = name === "input" && (key === "value" || key === "checked");
      if (key.startsWith("on") || STYLING.has(key) && !isSize || isState || value.length > MAX_ATTRIBUTE) continue;
      if (/^[a-z_:][-\w:.]*$/i.test(key)) text += ` ${key}="${quote(value)}"`;
    }
    if (name !== "input") return text;
    // The present state of the field, which its attributes do not have.
    if (element.value && element.type !== "password") text += ` value="${quote(element.value.slice(0, MAX_ATTRIBUTE))}"`;
    return element.checked ? text + " checked" : text;
  }

  const BLOCK = /^(block|flex|grid|list-item|flow-root|table|table-(row|cell|caption|row-group|header-group|footer-group))$/;
  const PHRASING = /^(span|label|slot|b|i|em|strong|small|font|u|abbr|time|button)$/;

  // Returns the name under which an element is written. Blocks that are inline by their name become divisions.
  function nameOf(element, isBlock) {
    const name = element.localName;
    if (name === "body" && !(isTop && element.ownerDocument === document)) return "div";
    if (name === "xmp" || name === "plaintext" || name === "listing") return "pre";
    if (name.includes("-") || name === "slot") return isBlock ? "div" : "span";
    return isBlock && (name === "span" || name === "label") ? "div" : name;
  }

  function childrenOf(element) {
    if (element.shadowRoot) return element.shadowRoot.childNodes;
    if (element.localName === "slot") {
      const assigned = element.assignedNodes();
      if (assigned.length) return assigned;
    }
    return element.childNodes;
  }

  function frame(element, state) {
    let inner = htmlOf.get(element);
    try {
      const root = element.contentDocument && element.contentDocument.body;
      if (inner === undefined && root) {
        write("<div>");
        visit(root, START);
        return write("</div>");
      }
    } catch { /* a frame of another origin */ }
    write(inner === undefined ? `<iframe src="${quote(element.src)}"></iframe>` : `<div>${inner}</div>`);
  }

  function visit(node, state) {
    if (size >= limit) return;
    if (node.nodeType === Node.TEXT_NODE) {
      if (!node.data.trim()) return write(state.pre ? node.data : " ");
      if (showsText(node, state.style, state)) write(escape(node.data));
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE || DROPPED.has(node.localName)) return;
    const element = node;
    const style = getComputedStyle(element);
    if (element.matches(FORMULA)) return write(formula(element));
    const inside = enter(element, style, state);
    if (!inside) return;
    inside.style = style;
    if (element.namespaceURI !== "http://www.w3.org/1999/xhtml")
      return shows(box(element), inside.clip, element.ownerDocument.defaultView) ? write(formula(element)) : undefined;
    if (element.localName === "iframe") return style.visibility === "visible" ? frame(element, state) : undefined;
    const isBlock = BLOCK.test(style.display);
    const isApart = isBlock || style.display.startsWith("inline-") && parseFloat(style.paddingLeft)
      + parseFloat(style.marginLeft) + parseFloat(style.paddingRight) + parseFloat(style.marginRight) > 4;
    const name = nameOf(element, isBlock);
    const gap = isApart && !inside.pre ? "\n" : "";
    if (VOID.has(name)) {
      if (style.visibility === "visible") write(`${gap}<${name}${attributes(element, name)}>`);
      return;
    }
    const isOpened = name === "details" ? " open" : "";
    write(`${gap}<${name}${attributes(element, name)}${isOpened}>${name === "pre" ? "\n" : ""}`);
    if (name === "textarea") write(escape(element.value));
    else if (name === "select") options(element);
    else if (!CHILDLESS.has(name)) for (const child of childrenOf(element)) visit(child, inside);
    write(`</${name}>${isBlock && inside.pre ? "\n" : gap}`);
  }

  function options(select) {
    for (const option of select.options)
      write(`<option${option.selected ? " selected" : ""}>${escape(option.label)}</option>`);
  }

  // Returns a formula or a drawing without styles and scripts.
  function formula(element) {
    const copy = element.cloneNode(true);
    for (const each of [copy, ...copy.querySelectorAll("*")]) {
      if (DROPPED.has(each.localName) && each.localName !== "title") { each.remove(); continue; }
      for (const { name } of [...each.attributes])
        if (name === "style" || name === "hidden" || name.startsWith("on") || each.getAttribute(name).length > MAX_ATTRIBUTE)
          each.removeAttribute(name);
    }
    return copy.outerHTML;
  }

  function head() {
    write(`<meta charset="utf-8"><title>${escape(document.title)}</title><base href="${quote(document.baseURI)}">`);
    for (const each of document.querySelectorAll("meta[name], meta[property], meta[itemprop], link[rel]:not([rel~=stylesheet])"))
      write(`<${each.localName}${attributes(each, each.localName)}>`);
    for (const each of document.querySelectorAll('script[type="application/ld+json"]'))
      write(`<script type="application/ld+json">${each.textContent.replace(/<\/script/gi, "<\\/script")}</script>`);
  }

  const root = document.documentElement;
  const style = getComputedStyle(root);
  const inside = enter(root, style, START);
  if (isTop) {
    write(`<!DOCTYPE html><html${attributes(root, "html")}><head>`);
    head();
    write("</head>");
  }
  if (inside && document.body) visit(document.body, inside);
  if (isTop) write("</html>");
  return parts.join("");
}
