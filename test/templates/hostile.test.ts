import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { ApiError } from '../../src/errors/index.js'
import { silentLog } from '../../src/log/index.js'
import { openRenderer, renderTemplate, type Template } from '../../src/templates/index.js'

/*
 * Each of these would without limits hold a thread for seconds to years, or end the process with
 * one huge allocation. CPU is that of the whole process, compiler and garbage collector included;
 * the limit of 100 ms is the thread's own, so the bound here is loose.
 */
const maxProcessCpuMs = 1_000
const list = '{% assign a = "" | split: "" %}'
const pushed = `${list}{% for i in (1..1900) %}{% assign a = a | push: b %}{% endfor %}`
const doubled = `${list}{% assign a = a | push: b %}{% for i in (1..40) %}{% assign c = "" | split: "" | push: a | push: a %}{% assign a = c %}{% endfor %}`
const big = 'x'.repeat(200_000)
const worstSearch = { text: 'a'.repeat(120_000), pattern: `b${'a'.repeat(60_000)}` }

const table: Record<string, [html: string, variables?: Record<string, unknown>]> = {
  'a huge range': ['{% for i in (1..1000000000) %}x{% endfor %}'],
  'a range up to a word, which must not switch the limit off': [
    '{% for i in (1..x) %}{% endfor %}{% for i in (1..90000000) %}{% endfor %}ok',
    { x: 'abc' },
  ],
  'nested loops': [
    '{% for i in (1..2000) %}{% for j in (1..2000) %}{% for k in (1..2000) %}{% endfor %}{% endfor %}{% endfor %}',
  ],
  'many ranges': ['{% for k in (1..100) %}{% assign x = (1..900000) %}{% endfor %}'],
  'a sorted range': ['{{ (1..4000000) | sort | reverse | first }}'],
  '64 KB of tags': ['{{a}}'.repeat(13_000), { a: 1 }],
  'a condition of 64 KB': [`{% if a${' or a'.repeat(60_000)} %}x{% endif %}`, { a: false }],
  'deep nesting, not closed': ['{% if a %}'.repeat(990), { a: 1 }],
  'deeper nesting': ['{% if a %}'.repeat(5_000) + '{% endif %}'.repeat(5_000), { a: 1 }],
  'a doubling string': [
    '{% assign s = "ab" %}{% for i in (1..60) %}{% assign s = s | append: s %}{% endfor %}{{ s }}',
  ],
  'a doubling capture': [
    '{% assign s = "ab" %}{% for i in (1..60) %}{% capture s %}{{ s | raw }}{{ s | raw }}{% endcapture %}{% endfor %}{{ s }}',
  ],
  'half a gigabyte of static text, then made one piece': [
    `{% capture s %}{% for i in (1..8000) %}${'x'.repeat(60_000)}{% endfor %}{% endcapture %}{{ s | url_encode }}`,
  ],
  'an array of one long string, printed': [`${pushed}{{ a | raw }}`, { b: big }],
  'the same, joined inside another': [
    `${pushed}${'{{ "" | split: "" | push: a | join }}'}`,
    { b: big },
  ],
  'the same, taken as a number': [`${pushed}{{ a | plus: 1 }}`, { b: big }],
  'the same, compared': [`${pushed}{% if a < 1 %}x{% endif %}`, { b: big }],
  'an array that is twice in itself': [`${doubled}{{ a }}`, { b: 'xx' }],
  'the same, joined': [`${doubled}{{ a | join: "," }}`, { b: 'xx' }],
  'a string encoded again and again': [
    `{{ a${' | url_encode'.repeat(60)} }}`,
    { a: '日'.repeat(80_000) },
  ],
  'a string quoted again and again': [`{{ a${' | json'.repeat(60)} }}`, { a: '"'.repeat(80_000) }],
  'the worst search': [
    '{% for i in (1..99) %}{{ text | replace: pattern, "" }}{% endfor %}',
    worstSearch,
  ],
  'the worst contains': [
    '{% for i in (1..99) %}{% if text contains pattern %}{% endif %}{% endfor %}',
    worstSearch,
  ],
  'a padded date': ['{{ "now" | date: "%900000000Y" }}'],
  'expressions parsed for every item': [
    '{% for i in (1..999) %}{% assign x = list | where_exp: "i", e %}{% endfor %}',
    { list: Array(10_000).fill(1), e: `i${' or i'.repeat(20_000)}` },
  ],
  'more than 256 KiB of variables': ['{{ a }}', { a: 'x'.repeat(256 * 1024) }],
  'variables nested 100,000 deep': [
    '{{ a | json }}',
    JSON.parse(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
  ],
  'more than 2 MiB of HTML': [
    `{% for i in (1..30) %}{{ a | raw }}{% endfor %}`,
    { a: 'x'.repeat(80_000) },
  ],
}

const templateOf = (html: string, accountId = 'hostile'): Template => ({
  accountId,
  slug: 'hostile',
  version: 1,
  versionId: html.slice(0, 1_000),
  subject: 'Subject',
  html,
  textBody: null,
  blocks: null,
  savedAt: 0,
})

t.test('every hostile template ends in a 422, soon, and the next one renders', async (t) => {
  const renderer = openRenderer({ log: silentLog, clock: systemClock })
  t.teardown(() => renderer.close())
  const innocent = templateOf('Hello {{ name }}', 'innocent')
  await renderTemplate(renderer, innocent, { variables: { name: 'Ada' } })
  for (const [name, [html, variables = {}]] of Object.entries(table)) {
    const before = process.cpuUsage()
    const error = await renderTemplate(renderer, templateOf(html), { variables }).catch(
      (reason: unknown) => reason,
    )
    const { user, system } = process.cpuUsage(before)
    t.ok(error instanceof ApiError && error.status === 422, `${name}: ${error}`)
    const cpuMs = (user + system) / 1_000
    t.ok(cpuMs < maxProcessCpuMs, `${name}: ${cpuMs} ms of CPU`)
    const after = await renderTemplate(renderer, innocent, { variables: { name: 'Ada' } })
    t.equal(after.html, 'Hello Ada')
  }
})

t.test('what is merely large renders', async (t) => {
  const renderer = openRenderer({ log: silentLog, clock: systemClock })
  t.teardown(() => renderer.close())
  const items = Array.from({ length: 300 }, (_, n) => ({ name: `Item <${n}>`, price: n }))
  const row = '<tr><td>{{ i.name }}</td><td>{{ i.price | times: 2 }}</td></tr>'
  const html = `${'<p>Some text</p>'.repeat(6_000)}{% for i in items %}${row}{% endfor %}`
  const rendered = await renderTemplate(renderer, templateOf(html), { variables: { items } })
  t.ok(rendered.html.endsWith('<tr><td>Item &lt;299&gt;</td><td>598</td></tr>'))
  const [text] = [
    (await renderTemplate(renderer, templateOf('{{ a }}'), { variables: { a: big } })).html,
  ]
  t.equal(text, big)
})

t.test('while a template takes its time the main thread goes on', async (t) => {
  const renderer = openRenderer({ log: silentLog, clock: systemClock })
  t.teardown(() => renderer.close())
  const variables = { name: 'Ada' }
  await renderTemplate(renderer, templateOf('{{ name }}'), { variables })
  const [loops = ''] = table['nested loops'] ?? []
  const order: string[] = []
  const hostile = renderTemplate(renderer, templateOf(loops), { variables }).catch(() => {})
  await Promise.all([
    hostile.then(() => order.push('outcome')),
    new Promise<void>((resolve) => setTimeout(resolve, 1)).then(() => order.push('timer')),
  ])
  t.same(order, ['timer', 'outcome'])
})
