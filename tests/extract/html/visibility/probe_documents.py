"""Pages with the marker, with Chromium's verdicts."""

from __future__ import annotations

from typing import Final

HIDDEN: Final = {
    "floating span with zero height": '<span style="float:left;height:0;overflow:hidden">MARKER</span>',
    "inline block with zero height": '<span style="display:inline-block;height:0;overflow:hidden">MARKER</span>',
    "span with clip path": '<span style="clip-path:inset(100%)">MARKER</span>',
    "span off screen by margin": '<span style="margin-left:-9999px">MARKER</span>',
    "heading of size zero": '<h1 style="font-size:0">MARKER</h1>',
    "svg title": "<svg width=20 height=20><title>MARKER</title></svg>",
    "svg text hidden": '<svg width=200 height=30><text x=0 y=20 style="display:none">MARKER</text></svg>',
    "svg definitions": "<svg width=200 height=30><defs><text x=0 y=20>MARKER</text></defs></svg>",
    "hidden attribute": "<p hidden>MARKER</p>",
    "hidden attribute empty": '<p hidden="">MARKER</p>',
    "hidden attribute false": '<p hidden="false">MARKER</p>',
    "hidden until found": '<div hidden="until-found">MARKER</div>',
    "hidden rule for attribute": (
        "<style>[hidden]{display:none!important}</style><p hidden style='display:block'>MARKER</p>"
    ),
    "rule for data attribute": "<style>[data-x]{display:none}</style><p data-x>MARKER</p>",
    "popover": "<div popover>MARKER</div>",
    "dialog": "<dialog>MARKER</dialog>",
    "noscript": "<noscript>MARKER</noscript>",
    "template": "<template><p>MARKER</p></template>",
    "noembed": "<noembed>MARKER</noembed>",
    "noframes": "<noframes>MARKER</noframes>",
    "script": "<script type=text/plain>MARKER</script>",
    "title of an element": '<p title="MARKER">Words</p>',
    "comment": "<!-- MARKER -->",
    "iframe content": "<iframe>MARKER</iframe>",
    "video fallback": "<video>MARKER</video>",
    "canvas fallback": "<canvas>MARKER</canvas>",
    "audio fallback": "<audio>MARKER</audio>",
    "datalist": "<datalist><option>MARKER</datalist>",
    "hidden input": '<input type=hidden value="MARKER">',
    "meter fallback": "<meter value=1>MARKER</meter>",
    "hidden table cell": '<table><tr><td style="display:none">MARKER</td><td>One</td></tr></table>',
    "hidden table row": "<table><tr hidden><td>MARKER</td></tr><tr><td>One</td></tr></table>",
    "collapsed table row": '<table><tr style="visibility:collapse"><td>MARKER</td></tr><tr><td>One</td></tr></table>',
    "ruby parenthesis": "<ruby>One<rp>MARKER</rp><rt>Two</rt></ruby>",
    "bgcolor table": "<table bgcolor=black><tr><td>MARKER</table>",
    "bgcolor and font": '<table><tr><td bgcolor="#336699"><font color="#336699">MARKER</font></td></table>',
    "font colour white": "<font color=white>MARKER</font>",
    "own text of hidden parent": '<div style="visibility:hidden">MARKER<p style="visibility:visible">One</p></div>',
    "text after visible child": '<div style="visibility:hidden"><b style="visibility:visible">One</b>MARKER</div>',
    "child of display none": '<div style="display:none"><p style="display:block">MARKER</p></div>',
    "child of opacity zero": '<div style="opacity:0"><p style="opacity:1">MARKER</p></div>',
    "em child of font size zero": '<div style="font-size:0"><p style="font-size:2em">MARKER</p></div>',
    "bold child of font size zero": '<div style="font-size:0"><b style="font-weight:bold">MARKER</b></div>',
    "heading in font size zero": '<div style="font-size:0"><h1>MARKER</h1></div>',
    "nested opacities": '<div style="opacity:.2"><p style="opacity:.1">MARKER</p></div>',
    "inherited white": '<div style="color:#fff"><p>MARKER</p></div>',
    "anchor without address in white text": '<div style="color:#fff"><a>MARKER</a></div>',
    "inherited background": '<div style="background:#123456"><p style="color:#123456">MARKER</p></div>',
    "background of a grandparent": (
        '<div style="background:#123456"><div><p style="color:#123456">MARKER</p></div></div>'
    ),
    "half transparent background": (
        '<div style="background:#000"><div style="background:rgba(255,255,255,.5)"><p style="color:#8080'
        '80">MARKER</p></div></div>'
    ),
    "yellow mark": '<mark style="color:#ff0">MARKER</mark>',
    "button in its colour": '<button style="color:#efefef">MARKER</button>',
    "absolute child of clipped positioned parent": (
        '<div style="height:0;overflow:hidden;position:relative"><p style="position:absolute;top:0">MARK'
        "ER</p></div>"
    ),
    "flex item of zero width": '<div style="display:flex"><span style="width:0;overflow:hidden">MARKER</span></div>',
    "flex item that does not grow": (
        '<div style="display:flex"><div style="flex:none;width:0;overflow:hidden">MARKER</div></div>'
    ),
    "flex item that grows up to a limit": (
        '<div style="display:flex"><div style="flex:1;max-width:0;overflow:hidden">MARKER</div></div>'
    ),
    "flex item that grows downwards": (
        '<div style="display:flex;flex-flow:column wrap">'
        '<div style="flex:1;width:0;overflow:hidden">MARKER</div></div>'
    ),
    "flex item that grows in a box as wide as its content": (
        '<div style="display:inline-flex"><div style="flex:1 0 0;width:0;overflow:hidden">MARKER</div></div>'
    ),
    "flex item that grows in a floating box": (
        '<div style="display:flex;float:left"><div style="flex-grow:1;width:0;overflow:hidden">MARKER</div></div>'
    ),
    "flex item of a narrow box": (
        '<div style="display:flex;width:0"><div style="flex:1 0 0;width:0;overflow:hidden">MARKER</div></div>'
    ),
    "grid item of zero height": '<div style="display:grid"><span style="height:0;overflow:hidden">MARKER</span></div>',
    "text indent on a parent": '<div style="text-indent:-9999px"><p>MARKER</p></div>',
    "text indent with later lines": (
        '<p style="text-indent:-9999px;width:200px">One two three four five six seven eight nine ten one'
        " two three four five six seven eight nine ten one two three four five six seven eight nine ten "
        "MARKER</p>"
    ),
    "late sheet in the body": "<p class=x>MARKER</p><div><style>.x{display:none}</style></div>",
    "sheet in svg": "<svg width=1 height=1><style>.x{display:none}</style></svg><p class=x>MARKER</p>",
    "sheet for screen": "<style media=screen>.x{display:none}</style><p class=x>MARKER</p>",
    "sheet of type css": '<style type="text/CSS">.x{display:none}</style><p class=x>MARKER</p>',
    "linked data sheet": '<link rel=stylesheet href="data:text/css,.x{display:none}"><p class=x>MARKER</p>',
    "linked data sheet base64": (
        '<link rel=stylesheet href="data:text/css;base64,Lnh7ZGlzcGxheTpub25lfQ=="><p class=x>MARKER</p>'
    ),
    "first titled set": "<style title=a>.x{display:none}</style><p class=x>MARKER</p>",
    "rule across sheets": "<style>.q{color:red</style><style>.x{display:none}</style><p class=x>MARKER</p>",
    "important rule over inline": (
        '<style>.x{display:none!important}</style><p class=x style="display:block">MARKER</p>'
    ),
    "class name tab": '<div class="tab faq accordion" style="display:none">MARKER</div>',
    "role tabpanel without a tab": '<div role=tabpanel style="display:none">MARKER</div>',
    "child after a comment": "<style>p:first-child{display:none}</style><div><!-- c --><p>MARKER</p></div>",
    "empty with a comment": "<style>b:empty + p{display:none}</style><div><b><!-- c --></b><p>MARKER</p></div>",
    "only child": "<style>p:only-child{display:none}</style><div>Text<p>MARKER</p></div>",
    "custom element": "<style>:not(:defined){display:none}</style><my-part>MARKER</my-part>",
    "attribute without a value": "<style>p[data-off]{display:none}</style><p data-off>MARKER</p>",
    "attribute with an empty value": '<style>p[data-off=""]{display:none}</style><p data-off>MARKER</p>',
    "attribute dash": "<style>p[lang|=de]{display:none}</style><p lang=de-AT>MARKER</p>",
    "attribute word": "<style>p[data-w~=two]{display:none}</style><p data-w='one two'>MARKER</p>",
    "class with a colon": "<style>.md\\:hidden{display:none}</style><p class='md:hidden'>MARKER</p>",
    "class beginning with a digit": "<style>.\\31 23{display:none}</style><p class=123>MARKER</p>",
    "unicode letters": "<style>.größe{display:none}</style><p class=größe>MARKER</p>",
    "disabled button": "<style>:disabled{display:none}</style><button disabled>MARKER</button>",
    "checked box hides": "<style>#c:checked ~ p{display:none}</style><input type=checkbox id=c checked><p>MARKER</p>",
    "link pseudo-class": "<style>a:link{display:none}</style><a href=/>MARKER</a>",
    "open details by rule": (
        "<style>details[open] p{display:none}</style><details open><summary>S</summary><p>MARKER</p></de"
        "tails>"
    ),
    "absolute column off screen": '<div style="position:absolute;left:-9999px"><div><p>MARKER</p></div></div>',
    "zero-size parent": '<div style="width:0;height:0;overflow:hidden"><div><p>MARKER</p></div></div>',
    "sr-only": (
        "<style>.sr-only{position:absolute;width:1px;height:1px;padding:0;margin:-1px;overflow:hidden;cl"
        "ip:rect(0,0,0,0);border:0}</style><span class=sr-only>MARKER</span>"
    ),
    "visually hidden by clip-path": (
        "<style>.vh{clip-path:inset(100%);clip:rect(1px,1px,1px,1px);height:1px;overflow:hidden;position"
        ":absolute;white-space:nowrap;width:1px}</style><span class=vh>MARKER</span>"
    ),
    "six hidden paragraphs": (
        "<style>.h{display:none}</style><p class=h>Hidden paragraph 0 with many words that nobody reads."
        "</p><p class=h>Hidden paragraph 1 with many words that nobody reads.</p><p class=h>Hidden parag"
        "raph 2 with many words that nobody reads.</p><p class=h>Hidden paragraph 3 with many words that"
        " nobody reads.</p><p class=h>Hidden paragraph 4 with many words that nobody reads.</p><p class="
        "h>MARKER</p>"
    ),
}  # fmt: skip
VISIBLE: Final = {
    "flex item that grows": (
        '<div style="display:flex"><div style="flex:1 0 0;width:1px;overflow:hidden">MARKER</div></div>'
    ),
    "flex item that grows by a basis alone": (
        '<div style="display:flex"><p style="flex:0px;width:0;overflow:hidden">MARKER</p></div>'
    ),
    "flex item that grows in a box between both edges": (
        '<div style="display:flex;position:absolute;left:0;right:0">'
        '<div style="-webkit-flex-grow:1;width:1px;overflow:hidden">MARKER</div></div>'
    ),
    "span with zero height": '<span style="height:0;overflow:hidden">MARKER</span>',
    "span scaled to zero": '<span style="transform:scale(0)">MARKER</span>',
    "span with content-visibility": '<span style="content-visibility:hidden">MARKER</span>',
    "svg text": "<svg width=200 height=30><text x=0 y=20>MARKER</text></svg>",
    "hidden shown by a style": '<p hidden style="display:block">MARKER</p>',
    "hidden shown by a rule": "<style>p{display:block}</style><p hidden>MARKER</p>",
    "aria hidden": '<p aria-hidden="true">MARKER</p>',
    "inert": "<p inert>MARKER</p>",
    "popover shown by a style": '<div popover style="display:block">MARKER</div>',
    "dialog open": "<dialog open>MARKER</dialog>",
    "role dialog": '<div role="dialog">MARKER</div>',
    "object fallback": "<object>MARKER</object>",
    "textarea": "<textarea>MARKER</textarea>",
    "select option": "<select><option>MARKER</select>",
    "select second option": "<select><option>One<option>MARKER</select>",
    "selected option": "<select><option>One<option selected>MARKER</select>",
    "button": "<button>MARKER</button>",
    "input value": '<input value="MARKER">',
    "submit value": '<input type=submit value="MARKER">',
    "legend": "<fieldset><legend>MARKER</legend></fieldset>",
    "summary": "<details><summary>MARKER</summary>Words</details>",
    "open details": "<details open><summary>One</summary>MARKER</details>",
    "table cell": "<table><tr><td>MARKER</td></tr></table>",
    "table cell of zero width": '<table><tr><td style="width:0;overflow:hidden">MARKER</td></tr></table>',
    "table cell of zero height": '<table><tr><td style="height:0;overflow:hidden">MARKER</td></tr></table>',
    "caption": "<table><caption>MARKER</caption><tr><td>One</table>",
    "ruby text": "<ruby>One<rt>MARKER</rt></ruby>",
    "font colour red": "<font color=red>MARKER</font>",
    "font colour overridden": "<style>font{color:black}</style><font color=white>MARKER</font>",
    "visible child of hidden": '<div style="visibility:hidden">One<p style="visibility:visible">MARKER</p></div>',
    "child of font size zero": '<div style="font-size:0"><p style="font-size:16px">MARKER</p></div>',
    "rem child of font size zero": '<div style="font-size:0"><p style="font-size:1rem">MARKER</p></div>',
    "nested opacities visible": '<div style="opacity:.7"><p style="opacity:.7">MARKER</p></div>',
    "link in white text": '<div style="color:#fff"><a href=/>MARKER</a></div>',
    "different background between": (
        '<div style="background:#123456"><div style="background:#fff"><p style="color:#123456">MARKER</p'
        "></div></div>"
    ),
    "white text on a dark parent": '<div style="background:#111"><p style="color:#fff">MARKER</p></div>',
    "white text over an image": (
        '<div style="position:relative;background:#fff"><div style="position:absolute;inset:0;background'
        ':#000"></div><p style="color:#fff;position:relative">MARKER</p></div>'
    ),
    "mark": "<mark>MARKER</mark>",
    "absolute child of clipped static parent": (
        '<div style="height:0;overflow:hidden"><p style="position:absolute">MARKER</p></div>'
    ),
    "fixed child off screen parent": (
        '<div style="position:absolute;left:-9999px"><p style="position:fixed;top:50px;left:50px">MARKER'
        "</p></div>"
    ),
    "negative z-index without a background": '<div><p style="position:relative;z-index:-1">MARKER</p></div>',
    "text indent undone": '<div style="text-indent:-9999px"><p style="text-indent:0">MARKER</p></div>',
    "sheet in a template": "<template><style>.x{display:none}</style></template><p class=x>MARKER</p>",
    "sheet in noscript": "<noscript><style>.x{display:none}</style></noscript><p class=x>MARKER</p>",
    "sheet for print": "<style media=print>.x{display:none}</style><p class=x>MARKER</p>",
    "sheet for a narrow window": '<style media="(max-width:400px)">.x{display:none}</style><p class=x>MARKER</p>',
    "sheet of another type": "<style type=text/less>.x{display:none}</style><p class=x>MARKER</p>",
    "linked data sheet for print": (
        '<link rel=stylesheet media=print href="data:text/css,.x{display:none}"><p class=x>MARKER</p>'
    ),
    "alternate data sheet": (
        '<link rel="alternate stylesheet" title=q href="data:text/css,.x{display:none}"><p class=x>MARKE'
        "R</p>"
    ),
    "disabled data sheet": '<link rel=stylesheet disabled href="data:text/css,.x{display:none}"><p class=x>MARKER</p>',
    "second titled set": (
        "<style title=a>.q{color:red}</style><style title=b>.x{display:none}</style><p class=x>MARKER</p"
        ">"
    ),
    "preloaded sheet": '<link rel=preload as=style href="data:text/css,.x{display:none}"><p class=x>MARKER</p>',
    "two sheets": "<style>.x{display:none}</style><style>.x{display:block}</style><p class=x>MARKER</p>",
    "inline over a rule": '<style>.x{display:none}</style><p class=x style="display:block">MARKER</p>',
    "important inline over important rule": (
        '<style>.x{display:none!important}</style><p class=x style="display:block!important">MARKER</p>'
    ),
    "third child": "<style>div:nth-child(3){display:none}</style><div>One</div><div class=x>MARKER</div>",
    "child after a script": "<style>p:first-child{display:none}</style><div><script></script><p>MARKER</p></div>",
    "empty with white space": "<style>b:empty + p{display:none}</style><div><b> </b><p>MARKER</p></div>",
    "unknown element": "<foo>MARKER</foo>",
    "class in another case in standards mode": "<style>.Note{display:none}</style><p class=note>MARKER</p>",
    "target": "<style>p:target{display:none}</style><p id=q>MARKER</p>",
    "sibling of hidden": '<p style="display:none">One</p><p>MARKER</p>',
    "text after hidden element": '<div><b style="display:none">One</b>MARKER</div>',
    "marquee": "<marquee>MARKER</marquee>",
    "pre": "<pre>MARKER</pre>",
    "list item": "<ul><li>MARKER</ul>",
    "blink": "<blink>MARKER</blink>",
    "center": "<center>MARKER</center>",
    "plain": "MARKER",
    "label": "<label>MARKER</label>",
    "output": "<output>MARKER</output>",
    "slot": "<slot>MARKER</slot>",
    "math": "<math><mtext>MARKER</mtext></math>",
    "animation that repeats": (
        "<style>@keyframes k{from{opacity:1}50%{opacity:0}to{opacity:1}} p{animation:k 1s infinite}</sty"
        "le><p>MARKER</p>"
    ),
}  # fmt: skip
