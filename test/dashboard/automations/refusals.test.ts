// Issue 47: what pages of automations refuse is said in their own words, beside the field where there is one, and not in those of the API.
import t from 'tap'
import { openAutomationPages } from '../../support/automation-pages.js'
import { fieldsOf } from '../../support/editor-fields.js'
import { eventually } from '../../support/eventually.js'

const pages = await openAutomationPages(t)
const { base, owner, call, from } = pages
const { id: listId } = await call('POST', '/v1/contacts/lists', { name: 'Readers' })
await call('POST', `/v1/contacts/${listId}`, { email: 'ann@x.test' })
const made = await call('POST', '/v1/automations', {
  name: 'Told',
  steps: [
    { key: 'start', type: 'trigger', config: { eventName: 'hello' } },
    { key: 'wait', type: 'wait_for_event', config: { eventName: '$email.opened', timeout: 'P3D' } },
  ],
  connections: [{ from: 'start', to: 'wait', type: 'default' }],
})
const page = `${base}/automations/${made.id}`
await call('POST', `/v1/automations/${made.id}/enable`)
const payload = { a: 1, of: { b: null, c: true } }
await call('POST', '/v1/events/send', { event: 'hello', email: 'ann@x.test', payload })

const list = `list.${listId}`
const gone = 'list.00000000-0000-0000-0000-000000000000'
const long = `a = ${'x'.repeat(20_000)}`
const digits = 'a = 12345678901234567890123'
const event = { event: 'ok', email: 'ann@x.test', payload: '' }
const trying = { go: 'on', email: 'ann@x.test', whom: '', payload: '' }

const refused: Record<string, [path: string, form: Record<string, string>, says: RegExp]> = {
  'an event without a name': [
    `${base}/events`,
    { ...event, event: '' },
    /Write the name of an event/,
  ],
  'an event of ours': [`${base}/events`, { ...event, event: '$list.joined' }, /those with \$ are/],
  'an event of many bytes': [
    `${base}/events`,
    { ...event, payload: long },
    /may have 16 KiB at most/,
  ],
  'an event with a long number': [
    `${base}/events`,
    { ...event, payload: digits },
    /its last digits/,
  ],
  'a start for nobody': [`${page}/start/look`, { whom: '' }, /Choose a list or segment/],
  'a start for what is deleted': [`${page}/start/look`, { whom: gone }, /This list is deleted/],
  'a trial for what is deleted': [
    `${page}/simulate`,
    { ...trying, whom: gone },
    /This list is deleted/,
  ],
  'a trial of many bytes': [`${page}/simulate`, { ...trying, payload: long }, /16 KiB at most/],
  'a trial with a long number': [
    `${page}/simulate`,
    { ...trying, payload: digits },
    /its last digits/,
  ],
  'a trial with no line': [`${page}/simulate`, { ...trying, payload: 'x' }, /write a line each/],
  'a trial with no name': [
    `${page}/simulate`,
    { ...trying, event: 'no good!', after: '1', unit: 'D' },
    /event 1: “no good!” is no name of an event/,
  ],
  'a mail that is gone': [
    `${page}/simulate`,
    { ...trying, opened: 'x' },
    /A mail that you ticked is gone/,
  ],
  'a version that never was': [`${page}/move`, { version: '9' }, /Version 9 was never turned on/],
  'what is not paused': [`${page}/resume`, { overdue: 'now' }, /nobody in it is held/],
  'no recipe': [`${base}/automations/new`, { recipe: 'x', from }, /Choose one of these/],
}

t.test('what is refused is said in the words of the page', async (t) => {
  for (const [what, [path, form, says]] of Object.entries(refused)) {
    const { status, text } = await owner.post(path, form)
    t.equal(status, 422, what)
    const told = /<div class="faults"[\s\S]*?<\/div>/.exec(text)?.[0] ?? ''
    t.match(told, says, what)
    const words = told.replace(/<[^>]*>/g, ' ')
    t.notMatch(words, /Expected|payload|eventName|opens:|enabled|\brun\b|2\^53|with this id/, what)
  }
})

t.test('who has left, and what is archived, is said so', async (t) => {
  const { runs } = await call('GET', `/v1/automations/${made.id}/runs`)
  const run = `${base}/automations/runs/${runs[0].id}`
  await owner.post(`${run}/cancel`, {})
  t.match((await owner.post(`${run}/cancel`, {})).text, /They are not in it any more/)
  await owner.post(`${page}/archive`, {})
  const looked = await owner.post(`${page}/start/look`, { whom: list, perHour: '10' })
  t.match(looked, { status: 422, text: /“Told” is archived, so nobody can enter it any more/ })
  t.match((await owner.post(`${page}/pause`, {})).text, /It is archived: it is stopped for good/)
})

t.test('what an event has brought is told in words', async (t) => {
  let text = ''
  // Names of events are written a second after they came.
  await eventually(async () => {
    text = (await owner.get(`${base}/events`)).text
    return text.includes('a = 1, of.b = empty, of.c = yes')
  }, 15_000)
  t.notMatch(text, /null|&quot;a&quot;/)
})

t.test('a field of a contact is taken away by a line that says so', async (t) => {
  const steps = [
    { key: 'start', type: 'trigger', config: { eventName: 'bye' } },
    { key: 'set', type: 'contact_update', config: { metadata: { plan: 'pro', old: null } } },
  ]
  const connections = [{ from: 'start', to: 'set', type: 'default' }]
  const { id } = await call('POST', '/v1/automations', { name: 'Fields', steps, connections })
  const edit = `${base}/automations/${id}/edit`
  const { text } = await owner.get(`${edit}?open=0.1`)
  t.match(text, /name="s\.fields"[^>]*>\n?plan = pro\nremove old<\/textarea>/)
  t.notMatch(text.replace(/<details>[\s\S]*?<\/details>/g, ''), /\bnull takes/)
  const fields = { ...fieldsOf(text), 's.fields': 'plan = pro\r\nremove older one' }
  await owner.post(`${edit}/draft`, { ...fields, do: 'show:' })
  const { steps: kept } = await call('GET', `/v1/automations/${id}/draft`)
  t.match(kept[1].config, { metadata: { plan: 'pro', 'older one': null } })
})
