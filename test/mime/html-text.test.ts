import { readFileSync } from 'node:fs'
import t from 'tap'
import { neverCutChars, textOfHtml } from '../../src/mime/index.js'

const textOf = (html: string) => textOfHtml(html).text

/** HTML and the text that it has to be. */
function says(name: string, cases: readonly (readonly [html: string, text: string])[]) {
  t.test(name, async (t) => {
    for (const [html, text] of cases) t.equal(textOf(html), text, html)
  })
}

const row = (...cells: string[]) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`

says('rows stand on lines, and cells are set apart', [
  [`<table>${row('2', '15.00', '30.00')}${row('1', '9', '9')}</table>`, '2  15.00  30.00\n1  9  9'],
  ['<table><tr><td>2<td>15.00<tr><td>1<td>9.50</table>', '2  15.00\n1  9.50'],
  ['<table><tr><td>Only one</td></tr></table>', 'Only one'],
  ['<table><tr><th>Qty<th>Item<tbody><tr><td>2<td>Pens', 'Qty  Item\n2  Pens'],
  [`<table>${row('<p>Qty</p>', '<p>2</p>')}${row('<div>A</div>', 'B')}</table>`, 'Qty  2\n\nA  B'],
  [`<table>${row('A', '', '&nbsp;', 'B')}${row('', 'C')}</table>`, 'A  B\nC'],
  [
    `<table>${row('<b>Delivery</b><br>1 Long Street<br>Town', '<b>Payment</b><br>Card')}</table>after`,
    'Delivery\n1 Long Street\nTown\n\nPayment\nCard\n\nafter',
  ],
  [
    `<table>${row('A', `<table>${row('', 'B')}${row('C', '')}</table>`)}${row('D')}</table>`,
    'A  B\nC\n\nD',
  ],
  ['<table><caption>Your order</caption><tr><td>2<td>Cups</table>', 'Your order\n2  Cups'],
  ['<dl><dt>Name<dd>Ann<dt>Town<dd>Lagos</dl>', 'Name\n  Ann\nTown\n  Lagos'],
  ['<div>a</div><div>b</div>c<section>d</section>', 'a\nb\nc\nd'],
  ['<p>a<p>b', 'a\n\nb'],
  ['a<span style="display:block">b</span>c', 'a\nb\nc'],
])

says('words, codes and URLs are as written, headings between empty lines', [
  [
    '<p>Your code:</p><h1>aB3xK9-qz</h1><p>Type it in.</p>',
    'Your code:\n\naB3xK9-qz\n\nType it in.',
  ],
  ['<div>x</div><h2>Maße</h2><div>y</div>', 'x\n\nMaße\n\ny'],
  ['<h1>https://example.org/CaSe/aB</h1>', 'https://example.org/CaSe/aB'],
  ['a <b>b</b>c<i>d</i>\n e', 'a bcd e'],
  ['m<sup>2</sup> H<sub>2</sub>O', 'm2 H2O'],
  [
    'AT&amp;T &lt;b&gt; 5&nbsp;EUR &#8364; &#146; &copy &notit; a&b',
    'AT&T <b> 5 EUR € ’ © ¬it; a&b',
  ],
  ['1 < 2 and 3 > 2 <3', '1 < 2 and 3 > 2 <3'],
  ['<TABLE><TR><TD>A</TD><TD>B</TD></TR></TABLE>', 'A  B'],
  ['<div title="a > b" data-x=\'<p>\'>c</div>', 'c'],
  ['می‌خواهم <b>👨‍👩‍👧</b>', 'می‌خواهم 👨‍👩‍👧'],
  ['<p dir="rtl">שלום <b>עולם</b> 123</p><p>&rlm;אבג</p>', 'שלום עולם 123\n\n‏אבג'],
  ['Hello<!-- --> <!-- -->Ann<!-- -->, hi', 'Hello Ann, hi'],
])

says('a link is its words and its target, once and whole', [
  ['Read <a href="https://x.test/a">this</a>.', 'Read this [https://x.test/a].'],
  [
    '<h3>Open <a href="https://app.test/r/aBcD?T=x&amp;y=1">my page</a></h3>',
    'Open my page [https://app.test/r/aBcD?T=x&y=1]',
  ],
  ['<a href="https://x.test/aB?c=1">https://x.test/aB?c=1</a>', 'https://x.test/aB?c=1'],
  [
    'See <a href="https://x.test/">x.test</a>, or <a href="http://Y.test">y.test/</a>',
    'See https://x.test/, or http://Y.test',
  ],
  ['<a href="https://x.test/?u=1">x.test</a>', 'x.test [https://x.test/?u=1]'],
  ['<a href="https://x.test/AB">https://x.test/ab</a>', 'https://x.test/ab [https://x.test/AB]'],
  [
    '<a href="https://a.test/1">A</a><a href="https://b.test/2">B</a>',
    'A [https://a.test/1]\nB [https://b.test/2]',
  ],
  [
    '<a href="https://a.test/1">A</a> | <a href="https://b.test/2">B</a>',
    'A [https://a.test/1] | B [https://b.test/2]',
  ],
  ['<a href="https://a.test/1">foo</a>bar', 'foo [https://a.test/1] bar'],
  [
    '<a href="mailto:help@x.test?subject=Hi%20there">Write to us</a> <a href="mailto:a@x.test">a@x.test</a>',
    'Write to us [help@x.test] a@x.test',
  ],
  [
    '<a href="tel:+15551234">+1 555 1234</a> <a href="tel:+15551234">Call</a>',
    '+1 555 1234 Call [+15551234]',
  ],
  [
    '<a>a</a> <a href="">b</a> <a href="#top">c</a> <a name="d">d</a> <a href="javascript:x()">e</a>',
    'a b c d e',
  ],
  ['<a href=" https://x.test/a\n b ">x</a>', 'x [https://x.test/a%20b]'],
  [
    '<a href="https://x.test"><div>Card</div><div>More</div></a>after',
    'Card\nMore [https://x.test]\nafter',
  ],
  [
    '<a href="https://a.test">one<a href="https://b.test">two</a>',
    'one [https://a.test]\ntwo [https://b.test]',
  ],
  ['<a href="https://a.test"></a>x', 'x'],
])

says('pictures are what they say', [
  ['<img src="a.png" alt="Big picture">', 'Big picture'],
  [
    '<a href="https://a.test/s"><img alt="A" src=a.png></a><a href="https://b.test/s"><img alt="B" src=b.png></a>',
    'A [https://a.test/s]\nB [https://b.test/s]',
  ],
  [
    `<table>${row('<a href="https://a.test"><img alt="A"></a>', '<a href="https://b.test"><img alt="B"></a>')}</table>`,
    'A [https://a.test]  B [https://b.test]',
  ],
  ['a<img src="x.png">b<img alt="" src=x.png>c<img alt=" ">d', 'abcd'],
  [
    '<img src="p.gif" width="1" height="1" alt="pixel of ours"><img alt="line" height=2><img alt="logo.png"><img alt=spacer>x',
    'x',
  ],
  ['<img style="width:1px;height:1px" alt="count">x', 'x'],
  ['Hello<img alt="👋"><img alt="Ann &amp; Bob">', 'Hello 👋 Ann & Bob'],
  ['<img alt="Shop" style="display:block">Sale', 'Shop\nSale'],
  ['<td style="font-size:0px"><img alt="Logo"></td>', 'Logo'],
  ['<a href="https://x.test/s"><img src="a.png"></a>', '[https://x.test/s]'],
  ['<a href="https://x.test/s"><img src="a.gif" width=1 height=1></a>x', 'x'],
  [
    '<img usemap="#m" alt=""><map name=m><area href="https://x.test/a" alt="Left"><area href="https://x.test/b" alt="Right"></map>',
    'Left [https://x.test/a]\nRight [https://x.test/b]',
  ],
])

says('a picture without words and the words beside it are one link', [
  [
    `<table>${row('<a href="https://x.test/s"><img alt="" src=f></a>', '<a href="https://x.test/s">Share it</a>')}</table>`,
    'Share it [https://x.test/s]',
  ],
  [
    '<p>First</p><a href="https://x.test/s"><img></a><h2><a href="https://x.test/s">Title</a></h2>',
    'First\n\nTitle [https://x.test/s]',
  ],
  [
    '<a href=x.test><img></a> a <a href=x.test><img></a><h2><a href=x.test>Title</a></h2>',
    '[x.test] a\n\nTitle [x.test]',
  ],
  ['<a href=x.test><img></a><a href=x.test><img></a><a href=y.test>b</a>', '[x.test] b [y.test]'],
])

says('addresses are as people use them', [
  ['Call <a href="tel:+49 30 12">+49 30 12</a>', 'Call +49 30 12'],
  ['<a href="tel:+49%2030-12">us</a>', 'us [+4930-12]'],
  ['<a href="mailto:a%40x.test?subject=%20">a@x.test</a>', 'a@x.test'],
  ['<a href="mailto:a%zz%00@x.test">a</a>', 'a [a%zz%00@x.test]'],
])

says('a number above a number is not part of it', [
  ['<b>$19<sup>99</sup></b>, $20<sup><a name=n>1</a></sup>', '$19^99, $20^1'],
  ['10<sup>6</sup> m<sup>2</sup> 1<sup>st</sup> 5 <sup>2</sup>', '10^6 m2 1st 5 2'],
  ['1<sup></sup> 2 3<sup><br>4</sup>', '1 2 3\n4'],
])

const wraps = 'style="white-space:pre-wrap"'
const long = 'word '.repeat(20).trim()
says('white space is kept where the style says so', [
  [`<pre ${wraps}>if x:\n    y  z\n</pre>`, 'if x:\n    y  z'],
  [`<pre><code ${wraps}><b>a</b>\n  <b>b</b>  c</code></pre>`, 'a\n  b  c'],
  [`<div ${wraps}>Hi,\n\n    a  b\n- <b>c</b>  d</div>e`, 'Hi,\n\n    a  b\n- c  d\ne'],
  [
    `<div ${wraps}>  ${long}\nx</div>`,
    `  ${'word '.repeat(15).trim()}\n${'word '.repeat(5).trim()}\nx`,
  ],
  [`<div ${wraps}>\n  <p>a</p>\n  \n  \n  <p>b</p>\n</div>`, 'a\n\nb'],
  ['<div style="white-space:pre-line">a  b\n  c</div>', 'a b\nc'],
])

const hidden = [
  'style="display:none"',
  'style="DISPLAY : NONE !important"',
  "style='color:red;display:none'",
  'style=display:none',
  'style="visibility:hidden"',
  'style="mso-hide:all"',
  'style="opacity:0"',
  'style="max-height:0;overflow:hidden"',
  'style="max-height:0px;max-width:0px;overflow:hidden"',
  'style="overflow:hidden;height:0.0em"',
  'style="font-size:0"',
  'style="line-height:0px;overflow:hidden"',
  'hidden',
  'hidden=""',
  'data-skip-in-text="true"',
]

t.test('what is hidden is not told', async (t) => {
  for (const how of hidden) {
    t.match(textOf(`a <div ${how}>no <p>no</p><div>no</div> no</div>b`), /^a\s+b$/, how)
    t.equal(textOf(`<span ${how}>no <span>no</span> no</span>b`), 'b', how)
    t.equal(textOf(`<table><tr ${how}><td>no<tr><td>b</table>`), 'b', how)
    t.equal(textOf(`<table><tr><td ${how}>no<td>b</table>c`), 'b\nc', how)
    t.equal(textOf(`<ul><li ${how}>no<li>b</ul>`), '- b', how)
    t.equal(textOf(`<p ${how}>no<p>b`), 'b', how)
  }
})

says('what else is none of the text', [
  [
    '<title>no</title><style>p{}</style><script>if (a<b) no</script><template><p>no</p></template>x',
    'x',
  ],
  ['<!-- <p>no</p> -->x<!--><b>y</b><!--->z<!-- no --!>!', 'xyz!'],
  [
    '<!--[if mso]><p>no</p><![endif]-->x<!--[if !mso]><!--> y<!--<![endif]--> <![if !mso]>z<![endif]>',
    'x y z',
  ],
  [
    '<!--[if mso]><v:rect href="u"><center>Go</center></v:rect><![endif]--><a style="mso-hide:all" href="https://x.test">Go</a>',
    'Go [https://x.test]',
  ],
  ['<!--[if !mso]><!--><div style="mso-hide:all">seen</div><!--<![endif]-->', 'seen'],
  [
    '<style>.pre{display:none!important;font-size:0} @media (max-width:600px){.wide{display:none}}</style><span class="x pre">no</span><p class="wide">yes</p>',
    'yes',
  ],
  [
    '<style>@media only screen and (min-width:481px){.narrow{display:none!important}} #m{display:none}</style><p class=narrow>no</p><p id=m>no</p>yes',
    'yes',
  ],
  ['<style>.a{display:none}</style><p class=a style="display:block">yes</p>', 'yes'],
  ['<td style="font-size:0"><div style="font-size:13px">yes</div> no</td>', 'yes'],
  [
    '<div style="max-height:0">yes</div><div style="line-height:0">yes</div><div style="font-size:0.9em">yes</div>',
    'yes\nyes\nyes',
  ],
  [`<div style="display:none">Soon${'&#847;&zwnj;&nbsp;'.repeat(100)}</div>x`, 'x'],
  [`Soon${'&#847;&zwnj;&nbsp;&#8199;&#65279;&shy;'.repeat(100)}<p>x`, 'Soon\n\nx'],
  [
    `<div aria-hidden="true">${'&#8204; '.repeat(50)}</div><span aria-hidden=true>→</span> x`,
    '→ x',
  ],
  ['a&nbsp;&nbsp;&nbsp;b<p>&nbsp;</p><p>​</p>c', 'a b\n\nc'],
])

says('lists, quotations and what is set as it stands', [
  ['<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e', '- a\n- b\n  - c\n- d\n\ne'],
  ['<ol start=9><li>a</li><li value="20">b</li><li><p>c</p></li></ol>', '9. a\n20. b\n21. c'],
  ['<ol type="a"><li>x<li>y<ol><li>z</ol></ol>', 'a. x\nb. y\n   1. z'],
  ['<ul style="list-style:none"><li>a</li><li></li><li>b</li></ul>', 'a\nb'],
  ['<ul><li></li><li>x</li></ul>', '- x'],
  [
    '<p>He said:</p><blockquote><p>one</p><p>two</p><blockquote>three</blockquote></blockquote>me',
    'He said:\n\n> one\n>\n> two\n>\n> > three\n\nme',
  ],
  [
    '<p>x</p><pre>\n  a\n    b &lt;c\n\n\n  <b>d</b>  e\n</pre>y',
    'x\n\n  a\n    b <c\n\n\n  d  e\n\ny',
  ],
  ['<p style="white-space:pre-line">one  two\nthree</p>', 'one two\nthree'],
  ['a<br>b<br/><br>c<br><br><br><br>d', 'a\nb\n\nc\n\nd'],
  ['a<hr>b', `a\n${'-'.repeat(40)}\nb`],
  ['<p>a</p><p></p><p><br></p><div></div><p>b</p>', 'a\n\nb'],
])

t.test('lines have 76 columns, but for a word or URL that is longer', async (t) => {
  const url = `https://x.test/${'a'.repeat(100)}`
  const text = textOf(
    `<p>${'word '.repeat(40)}<a href="${url}">here</a> ${'wo<b>rd</b> '.repeat(40)}</p><blockquote>${'quoted '.repeat(40)}</blockquote>`,
  )
  const long = text.split('\n').filter((line) => line.length > 76)
  t.same(long, [`[${url}]`])
  t.equal(text.match(/\bword\b/g)?.length, 80)
  t.ok(text.split('\n').every((line) => !/ $/.test(line)))
})

t.test('what is longer than anybody reads is cut, and says so', async (t) => {
  t.equal(textOfHtml(`<p>${'word '.repeat(100_000)}</p>`).isCut, false)
  const { text, isCut } = textOfHtml('<p>some words</p>'.repeat(60_000))
  t.equal(isCut, true)
  t.match(text, /\nsome[^\n]*\n+… the rest is in the HTML part$/)
  t.ok(text.length < neverCutChars)
  const picture = `<img alt="A" src="data:image/png;base64,${'A'.repeat(neverCutChars)}">`
  t.same(textOfHtml(`${picture}<style>${'a{} '.repeat(200_000)}</style><p>end</p>`), {
    text: 'A\n\nend',
    isCut: false,
  })
  const rows = Array.from({ length: 5_000 }, (_, i) => row(`row ${i}`, 'x')).join('')
  t.match(textOf(`<table>${rows}</table>`), /row 4999 {2}x$/)
  t.match(textOf(`${'<div><table><tr><td>'.repeat(3_000)}deep`), /^deep$/)
})

for (const name of ['react-receipt', 'mjml-newsletter', 'data-receipt']) {
  t.test(`${name} is what it was`, async (t) => {
    const read = (ending: string) =>
      readFileSync(`test/fixtures/html-text/${name}.${ending}`, 'utf8')
    t.equal(`${textOf(read('html'))}\n`, read('txt'))
  })
}

t.test('HTML that is built to take long takes as long as other HTML', async (t) => {
  const pieces = [
    '<',
    '</',
    '<!--',
    '<!',
    '<a ',
    '<a b="',
    "<a b='",
    '<a b=',
    '</p>',
    '</span>',
    '<!-- -->',
    '&',
    '&#',
    '<h1>x',
    '<table><tr><td>x',
    '<ol><li>x',
    '<div>x',
    '<span hidden>',
    '<b hidden><div>',
    '<p>x</p>',
    '<blockquote>x',
    '<a href=x>x',
    '<a href=x>',
    '<pre>x\n',
    '<style>',
    '<style>a{}</style>',
    '<td>',
    '<hr>',
    '<p style="color:red">',
    '<style>.a{display:none}</style><p class="a b c">',
    '<img alt=x>',
    '<li value=7>x',
    '<div hidden><span></div>',
    '<i hidden></div></i>',
    '<style>/*',
    '<style>@media{',
    'x\u200c',
    '\u00a0',
    ' ',
  ]
  for (const piece of pieces) {
    const html = piece.repeat(Math.ceil(neverCutChars / piece.length))
    t.ok(textOf(html).length < 6 * html.length, piece)
  }
})
