"""Formulas are written once: as TeX, by their description, or in one line."""

from __future__ import annotations

import pytest

from keyhole.extract.html.converter import to_markdown
from keyhole.extract.html.link_resolver import LinkResolver
from keyhole.extract.html.tree import parse_html

URL = "https://example.org/docs/page.html"


def markdown(html: str) -> str:
    return to_markdown(parse_html(html), LinkResolver(URL))


FORMULAS = {
    '<math><semantics><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation></semantics></math>': "$x^2$",
    '<span class="katex"><span class="katex-mathml"><math display="block"><semantics><mi>x</mi>'
    '<annotation encoding="application/x-tex">\\frac{a}{b}</annotation></semantics></math></span></span>': (
        "$$\\frac{a}{b}$$"
    ),
    '<math alttext="{\\displaystyle E=mc^{2}}"><mi>E</mi></math>': "$E=mc^{2}$",
    '<img class="mwe-math-fallback-image-inline" src="/m.svg" alt="{\\displaystyle x}">': "$x$",
    '<div class="math"><p><img src="/m.png" alt="a_1"></p></div>': "$$a_1$$",
    '<script type="math/tex">a_1</script>': "$a_1$",
    '<script type="math/tex; mode=display">a_1</script>': "$$a_1$$",
    '<span class="math notranslate">\\(a*b\\)</span>': "$a*b$",
    "<math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac></math>": "$(a + b)/2$",
    "<math><msup><mi>x</mi><mn>10</mn></msup><mo>=</mo><msqrt><mi>y</mi></msqrt></math>": "$x^{10} = √y$",
    "<math><munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><msub><mi>a</mi><mi>i</mi></msub></math>": (
        "$∑_i^n a_i$"
    ),
}


MATHML = "<math><msup><mi>x</mi><mn>2</mn></msup></math>"
QUOTED = MATHML.replace("<", "&lt;")
SCRIPT = '<script type="math/tex">x^2</script>'
GLYPHS = '<span class="math"><span>x</span><span>2</span></span>'
RENDERINGS = {
    f'<span class="MathJax_Preview">[x]</span><span class="MathJax">{GLYPHS}</span>{SCRIPT}': "$x^2$",
    f'<span class="MathJax_Preview"></span><div class="MathJax_Display"><span class="MathJax">{GLYPHS}</span></div>'
    '<script type="math/tex; mode=display">x^2</script>': "$$x^2$$",
    f'<span class="MathJax"><nobr>{GLYPHS}</nobr><span class="MJX_Assistive_MathML">{MATHML}</span></span>': "$x^2$",
    f'<span class="MathJax" data-mathml="{QUOTED}"><nobr>{GLYPHS}</nobr></span>': "$x^2$",
    f'<span class="MathJax">{GLYPHS}</span> and {SCRIPT}': "x2 and $x^2$",
    f"<mjx-container><mjx-math>x2</mjx-math><mjx-assistive-mml>{MATHML}</mjx-assistive-mml></mjx-container>": "$x^2$",
    '<mjx-container aria-label="x squared"><mjx-math></mjx-math></mjx-container>': "x squared",
    '<mjx-container><mjx-math><mjx-c class="mjx-c78"></mjx-c><mjx-c class="mjx-c3D"></mjx-c></mjx-math>'
    "</mjx-container>": "$x=$",
    '<span class="katex"><span class="katex-mathml"><math><mi>x</mi></math></span><span class="katex-html">x</span>'
    "</span>": "$x$",
    '<span class="katex"><span class="katex-html">x</span></span>': "x",
    f'<div class="MathJax">one {MATHML} two {MATHML}</div>': "one $x^2$ two $x^2$",
}


@pytest.mark.parametrize("html", list(RENDERINGS))
def test_a_rendered_formula_is_written_once(html: str) -> None:
    assert markdown(f"<div>{html}</div>") == f"{RENDERINGS[html]}\n"


IMAGES = {
    r'<img src="/m.png" alt="\frac{a}{b}">': r"$\frac{a}{b}$",
    '<img src="/m.png" alt="$x$">': "$x$",
    r'<img src="/m.png" alt="\[x\]">': "$$x$$",
    '<img src="/m.png" alt="x^2+y_1">': "$x^2+y_1$",
    '<img class="tex" src="/m.png" title="a_1">': "$a_1$",
    '<img src="https://latex.codecogs.com/gif.latex?x%5E2">': "$x^2$",
    '<img src="/m.png" alt="my_file_name">': "[Image: my_file_name]",
    r'<img src="/m.png" alt="C:\temp\new">': r"[Image: C:\temp\new]",
}


@pytest.mark.parametrize("html", list(IMAGES))
def test_an_image_of_a_formula_is_written_as_tex(html: str) -> None:
    assert markdown(html) == f"{IMAGES[html]}\n"


def test_words_in_mathml_are_kept_apart() -> None:
    html = "<math><mi>x</mi><mtext>if <b>big</b></mtext><mi>y</mi></math> <m:math><m:mi>z</m:mi></m:math>"
    assert markdown(html) == "$x if big y$ $z$\n"


@pytest.mark.parametrize("html", list(FORMULAS))
def test_a_formula_is_written_once_as_tex_or_as_one_line(html: str) -> None:
    assert markdown(f"<div>{html}</div>") == f"{FORMULAS[html]}\n"


def test_powers_and_indices_of_several_signs_have_braces() -> None:
    index = "<mrow><mi>i</mi><mo>+</mo><mn>1</mn></mrow>"
    html = f"<math><msub><mi>a</mi>{index}</msub><mo>=</mo><msup><mn>2</mn>{index}</msup></math>"
    assert markdown(html) == "$a_{i+1} = 2^{i+1}$\n"
