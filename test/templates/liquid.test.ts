import t, { type Test } from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { ApiError } from '../../src/errors/index.js'
import { silentLog } from '../../src/log/index.js'
import { openRenderer, renderTemplate, type Template } from '../../src/templates/index.js'

const renderer = openRenderer({ log: silentLog, clock: systemClock })
t.teardown(() => renderer.close())

type Variables = Record<string, unknown>
let versions = 0

function templateOf(parts: { subject?: string; html?: string; text?: string }): Template {
  return {
    accountId: 'account',
    slug: 'welcome',
    version: 1,
    versionId: `version-${++versions}`,
    subject: parts.subject ?? 'Subject',
    html: parts.html ?? '<p>',
    textBody: parts.text ?? null,
    blocks: null,
    savedAt: 0,
  }
}

const render = (parts: Parameters<typeof templateOf>[0], variables: Variables = {}) =>
  renderTemplate(renderer, templateOf(parts), { variables })

async function refusal(t: Test, work: Promise<unknown>): Promise<ApiError> {
  const error = await work.then(
    () => new Error('It was rendered'),
    (reason: unknown) => reason,
  )
  t.ok(error instanceof ApiError, String(error))
  return error as ApiError
}

t.test('what renders, renders so', async (t) => {
  const ada = { name: 'Ada' }
  const table: [liquid: string, variables: Variables, expected: string][] = [
    ['Hello {{ name }}', ada, 'Hello Ada'],
    ['{{ a.b[0].c }}', { a: { b: [{ c: 1 }] } }, '1'],
    ['[{{ none }}]', { none: null }, '[]'],
    ['[{{ none.deeper }}]', { none: null }, '[]'],
    ['{{ yes }} {{ zero }}', { yes: false, zero: 0 }, 'false 0'],
    ['{{ list }}', { list: ['a', ['b', 1]] }, 'ab1'],
    ['{{ name | default: "you" }}', {}, 'you'],
    ['{{ name | default: "you" }}', { name: '' }, 'you'],
    ['{{ a.b | default: "you" | upcase }}', {}, 'YOU'],
    ['{% if name %}{{ name }}{% endif %}.', {}, '.'],
    ['{% if a.b.c %}x{% else %}y{% endif %}', {}, 'y'],
    ['{% if name == "Ada" or vip %}x{% endif %}.', {}, '.'],
    ['{% unless name %}nobody{% endunless %}', {}, 'nobody'],
    ['{% case name %}{% when "Ada" %}x{% else %}y{% endcase %}', {}, 'y'],
    ['{% if tags contains "a" %}x{% endif %}.', {}, '.'],
    ['{% if tags contains "a" %}x{% endif %}.', { tags: ['a'] }, 'x.'],
    ['{% if false %}{{ missing | append: gone }}{% endif %}.', {}, '.'],
    ['[{% if true %}{{ gone }}{% endif %}]', {}, '[]'],
    ['[{% if gone %}{% elsif true %}{{ gone.deeper | upcase }}{% endif %}]', {}, '[]'],
    ['[{% if gone %}{% else %}{{ gone }}{% endif %}]', {}, '[]'],
    ['[{% unless gone %}{{ gone }}{% else %}x{% endunless %}]', {}, '[]'],
    ['[{% unless true %}x{% else %}{{ gone }}{% endunless %}]', {}, '[]'],
    ['[{% case name %}{% when "Ada" %}{{ gone }}{% endcase %}]', ada, '[]'],
    ['[{% case gone %}{% when also %}{{ gone }}{% else %}{{ too }}{% endcase %}]', {}, '[]'],
    ['[{% if true %}{% for i in gone %}x{% endfor %}{% endif %}]', {}, '[]'],
    ['[{% if true %}{% assign a = gone %}{{ a }}{% endif %}]', {}, '[]'],
    ['[{% if true %}{{ name | append: gone }}{% endif %}]', ada, '[Ada]'],
    ['[{% for i in l %}{% if i %}{{ i.gone }}{% endif %}{% endfor %}]', { l: [{}] }, '[]'],
    ['[{% liquid if true \n echo gone \n endif %}]', {}, '[]'],
    ['{% for i in items %}{{ i }}{% else %}none{% endfor %}', { items: [] }, 'none'],
    [
      '{% for i in items %}{{ forloop.index }}{{ i.n }} {% endfor %}',
      { items: [{ n: 'a' }] },
      '1a ',
    ],
    ['{% assign n = name | upcase %}{{ n }}', ada, 'ADA'],
    ['{% capture x %}<b>{{ name }}</b>{% endcapture %}{{ x | raw }}', ada, '<b>Ada</b>'],
    ['{% liquid assign a = 1 \n echo a %}', {}, '1'],
    ['{% comment %}{{ missing }}{% endcomment %}{% # also %}.', {}, '.'],
    ['{% raw %}{{ name }}{% endraw %}', {}, '{{ name }}'],
    ['{{ when | date: "%Y-%m-%d %H:%M" }}', { when: '2026-11-21T10:30:00Z' }, '2026-11-21 10:30'],
    ['{{ ids | json }}', { ids: [1, 2] }, '[1,2]'],
    ['{{ "a-b-c" | split: "-" | join: "+" | replace: "b", "x" }}', {}, 'a+x+c'],
    ['{{ list | sort | reverse | first }}', { list: [2, 3, 1] }, '3'],
    ['{{ constructor }} {{ __proto__ }}', JSON.parse('{"constructor":1,"__proto__":2}'), '1 2'],
  ]
  for (const [liquid, variables, expected] of table) {
    t.equal((await render({ html: liquid }, variables)).html, expected, liquid)
  }
})

t.test('what is missing is a 422 that names it and where it is', async (t) => {
  const table: [liquid: string, variables: Variables, missing: string, column: number][] = [
    ['{{ name }}', {}, 'name', 4],
    ['{{ user.name }}', {}, 'user', 4],
    ['{{ user.name.first }}', { user: {} }, 'user.name', 4],
    ['{{ list[3] }}', { list: [1] }, 'list.3', 4],
    ['{{ Name }}', { name: 'Ada' }, 'Name', 4],
    ['{% if a %}{% endif %}{{ a }}', {}, 'a', 25],
    ['{% if a %}{% else %}{{ a }}{% endif %}{{ b }}', {}, 'b', 42],
    ['{% for i in items %}{% endfor %}', {}, 'items', 13],
    ['{% for i in items %}{{ i.n }}{% endfor %}', { items: [{}] }, 'i.n', 24],
    ['{{ a | append: b }}', { a: 1 }, 'b', 16],
    ['{{ name | upcase | default: "x" }}', {}, 'name', 4],
    ['{% for i in (1..n) %}{% endfor %}', {}, 'n', 17],
    ['{{ constructor }}', {}, 'constructor', 4],
    ['{{ toString }}', {}, 'toString', 4],
    ['{{ __proto__ }}', {}, '__proto__', 4],
    ['{{ user.__proto__.polluted }}', { user: {} }, 'user.__proto__', 4],
    ['{{ user.hasOwnProperty }}', { user: {} }, 'user.hasOwnProperty', 4],
    ['{{ name.constructor.constructor }}', { name: 'a' }, 'name.constructor', 4],
  ]
  for (const [liquid, variables, missing, column] of table) {
    const error = await refusal(t, render({ html: `<p>\n${liquid}` }, variables))
    t.match(error, { code: 'validation_error', status: 422, fields: {} }, liquid)
    const place = `(html, line 2, column ${column})`
    const what = `the variable "${missing}" is missing`
    t.equal(error.message, `Template "welcome" cannot be rendered: ${what} ${place}`)
  }
})

t.test('each part is strict, and is named', async (t) => {
  for (const part of ['subject', 'html', 'text']) {
    const missing = await refusal(t, render({ [part]: 'a {{ gone }}' }))
    t.ok(missing.message.endsWith(`"gone" is missing (${part}, line 1, column 6)`), missing.message)
    const broken = await refusal(t, render({ [part]: '{% if a %}' }, { a: 1 }))
    t.match(
      broken.message,
      `has a syntax error: {% if a %} has no end; write {% endif %} where it ends (${part}, line 1`,
    )
    t.equal(broken.status, 422)
  }
})

t.test('what is no Liquid, or reaches for files, is a 422', async (t) => {
  const table: [liquid: string, expected: RegExp][] = [
    ['{{ a | nofilter }}', /“nofilter” in \{\{ a \| nofilter \}\} is no filter/],
    ['{{ a | constructor }}', /“constructor” in .* is no filter/],
    ['{% nothing %}', /\{% nothing %\} is no command; for a value write \{\{ nothing \}\}/],
    ['{% constructor %}', /\{% constructor %\} is no command/],
    ['{{ a', /the tag \{\{ a has no end; write \}\} after it/],
    ['{% endif %}', /\{% endif %\} ends nothing/],
    [
      '{% if %}x{% endif %}',
      /\{% if %\} has no condition; write it as in \{% if city == "Paris" %\}/,
    ],
    ...['include', 'render', 'layout'].map((tag): [string, RegExp] => [
      `{% ${tag} "/etc/passwd" %}`,
      new RegExp(`\\{% ${tag} "/etc/passwd" %\\} is no command`),
    ]),
    [`{% ${'x'.repeat(5000)} %}`, /tag "x{195}…/],
    ['{% if no %}x{% endif %}', /html.*empty when rendered|empty when rendered \(html\)/],
    ['{{ a | append: a | append: "\\u0000" }}', /NUL/],
  ]
  for (const [liquid, expected] of table) {
    const error = await refusal(t, render({ html: liquid }, { a: 1 }))
    t.match({ ...error, text: error.message }, { status: 422, text: expected }, liquid.slice(0, 40))
    t.ok(error.message.length < 400)
  }
})

t.test('HTML is escaped in the html part alone, once, and | raw opts out', async (t) => {
  const x = `<i a="1" b='2'>&`
  const escaped = '&lt;i a=&#34;1&#34; b=&#39;2&#39;&gt;&amp;'
  const table: [liquid: string, html: string, plain: string][] = [
    ['{{ x }}', escaped, x],
    ['{{ x | raw }}', x, x],
    ['{{ x | escape }}', escaped, escaped],
    ['{{ x | escape_once }}', escaped, escaped],
    [
      '{{ x | escape | upcase }}',
      escaped.toUpperCase().replaceAll('&', '&amp;'),
      escaped.toUpperCase(),
    ],
    ['{% echo x %}', escaped, x],
    ['{% cycle x, x %}', escaped, x],
    ['{% assign y = x %}{{ y }}', escaped, x],
    ['{% for i in l %}{{ i }}{% endfor %}', escaped, x],
    ['{{ l }}', escaped, x],
    ['{{ gone | default: x }}', escaped, x],
  ]
  for (const [liquid, html, plain] of table) {
    const rendered = await render({ subject: liquid, html: liquid, text: liquid }, { x, l: [x] })
    t.same(rendered, { subject: plain, html, text: plain }, liquid)
  }
})

t.test('the subject is one line of at most 998 bytes', async (t) => {
  const { subject } = await render(
    { subject: ' Hello\n{{ name }} ' },
    { name: 'Ada\r\nBcc: eve@example.test\u0000\u2028x' },
  )
  t.equal(subject, 'Hello Ada Bcc: eve@example.test x')
  t.equal((await render({ subject: '{{ s }}' }, { s: 'é'.repeat(499) })).subject.length, 499)
  const long = await refusal(t, render({ subject: '{{ s }}' }, { s: 'é'.repeat(500) }))
  t.match(long.message, 'longer than 998 bytes when rendered (subject)')
  const empty = await refusal(t, render({ subject: '{{ s }}' }, { s: ' \n ' }))
  t.match(
    empty.message,
    'the subject is empty without s; say what stands in for it: {{ s | default: "Hello" }} (subject)',
  )
  const none = await refusal(t, render({ subject: '{% if s %}x{% endif %}' }, {}))
  t.match(none.message, 'the subject is empty (subject)')
  const linked = await render(
    { html: '<a href="https://x.test/%7B%7B%20s%20%7D%7D">x</a>' },
    { s: '<' },
  )
  t.equal(linked.html, '<a href="https://x.test/&lt;">x</a>')
})

t.test('a subject of the send takes the place of the template\u2019s', async (t) => {
  const template = templateOf({ subject: 'Hello {{ gone }}' })
  const once = async (subject: string) =>
    (await renderTemplate(renderer, template, { subject, variables: { name: 'Ada' } })).subject
  t.equal(await once('Plain'), 'Plain')
  t.equal(await once('For {{ name }}'), 'For Ada')
  // It is not kept in the place of the template's own.
  const error = await refusal(t, renderTemplate(renderer, template, { variables: {} }))
  t.match(error.message, '"gone" is missing (subject')
})

t.test('a template without a text has none; two versions are never mixed up', async (t) => {
  t.equal((await render({})).text, null)
  const [first, second] = [templateOf({ html: '{{ n }}1' }), templateOf({ html: '{{ n }}2' })]
  const variables = { n: 'v' }
  for (let round = 0; round < 3; round++) {
    t.equal((await renderTemplate(renderer, first, { variables })).html, 'v1')
    t.equal((await renderTemplate(renderer, second, { variables })).html, 'v2')
  }
})

t.test('one render leaves nothing behind for the next', async (t) => {
  const counting = templateOf({
    html: '{% increment n %}{% assign left = 1 %}{% cycle "a", "b" %}',
  })
  t.equal((await renderTemplate(renderer, counting, { variables: {} })).html, '0a')
  t.equal((await renderTemplate(renderer, counting, { variables: {} })).html, '0a')
  await refusal(t, render({ html: '{{ left }}' }))
  await render({ html: '{% increment __proto__ %}{% assign __proto__ = 1 %}' }).catch(() => {})
  await refusal(t, render({ html: '{{ x.__proto__ }}' }, { x: {} }))
})

t.test('a lenient job renders what is missing as nothing', async (t) => {
  const outcome = await renderer.render({
    accountId: 'account',
    subject: { key: null, liquid: 'Hi {{ first }}' },
    html: { key: null, liquid: '[{{ a.b }}]{{ name | default: "there" }}' },
    text: null,
    variables: '{}',
    strict: false,
  })
  const rendered = { subject: 'Hi', html: '[]there', text: null }
  t.same(outcome, { kind: 'rendered', rendered })
})
