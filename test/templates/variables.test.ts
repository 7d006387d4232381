import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { silentLog } from '../../src/log/index.js'
import { openRenderer, readDraft } from '../../src/templates/index.js'

const renderer = openRenderer({ log: silentLog, clock: systemClock })
t.teardown(() => renderer.close())
const pathsIn = async (html: string) =>
  (await readDraft(renderer, 'account', { subject: '{{ title }}', html })).paths

t.test('the variables that a template takes are known by their paths, each once', async (t) => {
  t.same(await pathsIn('{{ user.name }} {{ user.name | upcase }} {{ title }}'), [
    'title',
    'user.name',
  ])
  const own = '{% for item in items %}{{ item.price }}{{ forloop.index }}{% endfor %}'
  t.same(await pathsIn(own), ['title', 'items'])
  t.same(await pathsIn('{% assign n = count %}{{ n }}'), ['title', 'count'])
  t.same(await pathsIn('{% if paid %}x{% endif %}{{ list[0].t }}{{ tags.size }}'), [
    'title',
    'paid',
    'list',
    'tags',
  ])
})

t.test('a draft that does not parse says where, and names no variables', async (t) => {
  const read = await readDraft(renderer, 'account', { subject: 'x', html: 'a\n{% if b %}' })
  t.match(read, { fault: { part: 'html', line: 2, column: 1 }, paths: [] })
})
