import { cpuFileOfThread, openCpuClock } from '../../src/clock/index.js'
import { makeBudget } from '../../src/templates/budget.js'
import { makeRenderJob } from '../../src/templates/render-job.js'
import { fuzz } from './driver.js'

const seeds = [
  '<p>Hello {{ name }}, {{ order.total | times: 1.2 | round: 2 }} {{ order["id"] }}</p>',
  '{% for item in items %}{{ forloop.index }}: {{ item.title | upcase }}{% else %}none{% endfor %}',
  '{% if a and b or c == "x" %}yes{% elsif d contains "y" %}no{% else %}{{ name | default: "you" }}{% endif %}',
  '{% assign x = items | map: "title" | join: ", " %}{% capture y %}{{ x }}{{ name }}{% endcapture %}{{ y }}',
  '{% case name %}{% when "a", "b" %}1{% else %}2{% endcase %}{% comment %}x{% endcomment %}',
  '{{ "now" | date: "%Y-%m-%d" }}{{ name | split: "" | reverse | join }}{% increment i %}{% cycle "a", "b" %}',
  '{% tablerow i in (1..3) cols:2 %}{{ i }}{% endtablerow %}{% unless a %}{{- name -}}{% endunless %}',
]
const tokens = [
  '{{',
  '}}',
  '{%',
  '%}',
  '{%-',
  '-%}',
  '|',
  ':',
  ',',
  '"',
  "'",
  '[',
  ']',
  '(1..9999999)',
  '..',
  '{% for a in (1..1000) %}',
  '{% endfor %}',
  '{% if ',
  '{% endif %}',
  '{{ evil }}',
  '{{ name',
  'constructor',
  '__proto__',
  'toString',
  'prototype.constructor',
  'items.size',
  'items[0]',
  '| append: evil',
  '| replace: "a", evil',
  '| url_decode',
  '| strip_html',
  '| date: "%9999d"',
  '| slice: 0, 99',
  '| truncate: 1e9',
  '| times: 1e308',
  '| sort',
  '| where: "a"',
  '| json',
  '\0',
  '{% assign evil2 = evil %}{{ evil2 }}',
  '{% include "a" %}',
  '{% render "a" %}',
  '| repeat: 9',
  '{% liquid\necho evil\n%}',
  '{% capture a %}{{ evil }}',
  '{% endcapture %}',
  '{{ a }}',
]
const variables = {
  name: 'Ann',
  a: true,
  b: null,
  c: 'x',
  d: ['y'],
  evil: '<i>evil</i>',
  order: { id: 7, total: 9.99 },
  items: [{ title: 'One' }, { title: '<b>Two</b>' }],
}
const render = makeRenderJob(makeBudget(openCpuClock(cpuFileOfThread())))

fuzz('Liquid', 2_500, { seeds, tokens, maxBytes: 20_000 }, (input, random) => {
  const outcome = render({
    accountId: 'a',
    subject: { key: null, liquid: 'S {{ name }}' },
    html: { key: null, liquid: input },
    text: null,
    variables: JSON.stringify(variables),
    strict: random(2) === 0,
  })
  if (outcome.kind === 'failed') {
    const { message, line = 1 } = outcome.fault
    if (message.length > 400) return `a complaint of ${message.length} characters`
    return line <= input.split('\n').length ? undefined : `line ${line} does not exist`
  }
  if (outcome.kind !== 'rendered') return `the outcome ${outcome.kind}`
  const { subject, html } = outcome.rendered
  if (subject !== 'S Ann') return `the subject ${subject}`
  if (Buffer.byteLength(html) > 2 * 1024 * 1024) return `${html.length} characters`
  if (/\[native code\]|function \(|=>/.test(html) && !/native|function|=>/.test(input)) {
    return 'JavaScript shows'
  }
  // Values are escaped whatever is done to them, but for `raw`.
  return html.includes('<i>evil') && !/raw|<i/.test(input) ? 'a value is not escaped' : undefined
})
