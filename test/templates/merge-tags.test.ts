import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { silentLog } from '../../src/log/index.js'
import {
  escapeMerged,
  mergeInto,
  mergePieces,
  mergeValues,
  openRenderer,
  type RenderJob,
  withLinkTags,
} from '../../src/templates/index.js'

const simple = [
  'Hello',
  'Hello {{ firstName }}!',
  '{{firstName}} {{lastName}}',
  '{{ firstName | default: "there" }}, {{ town | default: \'<b>\' }}',
  '{{ metadata.town }}{{ metadata.deep.er | default: "x" }}',
  '{{ yes }}{{ no }}{{ no | default: "n" }}{{ zero | default: "z" }}{{ empty_text | default: "e" }}',
  '{{ toString }}{{ constructor }}{{ __proto__ }}{{ metadata.constructor | default: "c" }}',
  'a { b } %} }} { {',
  '{{ first-name | default: "dash" }}',
]
const notSimple = [
  '{{ firstName | upcase }}',
  '{% if firstName %}Dear{% endif %}',
  '{{- firstName -}}',
  '{{ firstName | default: lastName }}',
  '{{ metadata.size }}',
  '{{ true }}',
  '{{ "text" }}',
  '{{ metadata["town"] }}',
  '{{ firstName',
]
const values = {
  firstName: 'Zoë <&"\'>',
  lastName: null,
  email: 'zoe@example.org',
  metadata: { town: 'Lagos', n: 7 },
  town: '',
  yes: true,
  no: false,
  zero: 0,
  empty_text: '',
  'first-name': 'x',
}

t.test('simple merge tags give what the engine gives, escaped and plain', async (t) => {
  const renderer = openRenderer({ log: silentLog, clock: systemClock })
  t.teardown(() => renderer.close())
  const source = (liquid: string) => ({ key: null, liquid })
  for (const liquid of simple) {
    const pieces = mergePieces(liquid)
    if (pieces === undefined) throw new Error(`${liquid} is simple`)
    const job: RenderJob = {
      accountId: 'a',
      subject: source('s'),
      html: source(`x${liquid}`),
      text: source(liquid),
      variables: JSON.stringify(values),
      strict: false,
    }
    const outcome = await renderer.render(job)
    if (outcome.kind !== 'rendered') throw new Error(`${liquid}: ${JSON.stringify(outcome)}`)
    t.equal(`x${mergeInto(pieces, values, escapeMerged)}`, outcome.rendered.html, liquid)
    t.equal(mergeInto(pieces, values), outcome.rendered.text, liquid)
  }
})

t.test('all other Liquid is left to the engine', async (t) => {
  for (const liquid of notSimple) t.equal(mergePieces(liquid), undefined, liquid)
  const [, list] = mergePieces('{{ metadata }}') ?? []
  t.ok(list)
  t.equal(mergeInto(mergePieces('{{ metadata }}') ?? [], values), undefined)
})

t.test('metadata are names by themselves but for those of the contact', async (t) => {
  const contact = { email: 'ada@x.test', firstName: null, lastName: 'Obi' }
  const metadata =
    '{"town":"Lagos","email":"eve@x.test","firstName":"Eve","metadata":1,"__proto__":{"x":1}}'
  const values = mergeValues({ ...contact, metadata })
  const own = JSON.parse(metadata)
  t.same(
    Object.entries(values).sort(),
    Object.entries({ ...own, ...contact, metadata: own }).sort(),
  )
  t.equal(Object.getPrototypeOf(values), Object.prototype)
  t.same(mergeValues({ ...contact, metadata: null }), { ...contact, metadata: {} })
})

t.test('percent-encoded braces of a link are tags, those of a text are not', async (t) => {
  const url = 'https://x.test/'
  for (const [written, typed] of [
    [`<a href="${url}%7B%7Bname%7D%7D">`, `<a href="${url}{{name}}">`],
    [`<A HREF='${url}?a=%7b%7b%20name%20%7d%7d&b=1'>`, `<A HREF='${url}?a={{ name }}&b=1'>`],
    [`<a href=%7B%7B+metadata.town+%7D%7D/%7B%7Bid%7D%7D>`, '<a href={{ metadata.town }}/{{id}}>'],
    ['<a href="{{%20name%20}}">', '<a href="{{ name }}">'],
    [
      '<a href="%7B%7B%20name%20%7C%20default:%20%22J%C3%BCrgen%22%20%7D%7D">',
      '<a href="{{ name | default: "Jürgen" }}">',
    ],
    ['<v:rect href="%7B%7B name %7D%7D">', '<v:rect href="{{ name }}">'],
  ]) {
    t.equal(
      withLinkTags(`<p>%7B%7B name %7D%7D</p>${written}`),
      `<p>%7B%7B name %7D%7D</p>${typed}`,
    )
  }
  for (const same of [
    '<!-- <a href="%7B%7Bname%7D%7D"> --><p title="%7B%7Bname%7D%7D">href="%7B%7Bname%7D%7D"</p>',
    `<a href="${url}?q=%7B%7B%22a%22:1%7D%7D&r=%7B%7Bname%7D&s=%7B%7B%ff%7D%7D">`,
    `<a href="${url}{{ name | append: '%20' }}">`,
    '<a href="{{ name }}%20{{ x }}">',
  ]) {
    t.equal(withLinkTags(same), same)
  }
  const hostile = `<a href="${'%7B%7Ba'.repeat(100_000)}">`
  t.equal(withLinkTags(hostile), hostile)
})
