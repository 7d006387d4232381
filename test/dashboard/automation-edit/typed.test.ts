// Issue 47: what is typed of an automation is kept, and conditions that decide nothing are told at their step.
import t from 'tap'
import { openAutomationPages } from '../../support/automation-pages.js'

const { owner, ask: call, made } = await openAutomationPages(t)

const sentAs = (html: string, name: string): string =>
  (new RegExp(` name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '').replace(/&quot;/g, '"')

/** An automation, and what its editor sends of itself. */
async function editing(name: string) {
  const { id, edit } = await made({ recipe: 'empty', name })
  let html = (await owner.get(edit)).text
  return {
    path: edit,
    id,
    async press(wish: string, typed: Record<string, string> = {}) {
      const own = ['outline', 'revision', 'open', 's.key'].map((one) => [one, sentAs(html, one)])
      const body = { ...Object.fromEntries(own), name, ...typed, do: wish }
      html = (await owner.post(`${edit}/draft`, body)).text
      return html
    },
  }
}

t.test('what is typed is kept at every press, and its address leads to the editor', async (t) => {
  const it = await editing('Kept')
  await it.press('open:0.0')
  t.notMatch((await owner.get(it.path)).text, /This is a draft/, 'to look changes nothing')
  await it.press('close:', { 's.when': 'event', 's.event': 'signup', 's.reentry': 'once' })
  t.match(await it.press('add:0.0', { 'kind.0.0': 'delay' }), />Unit</)
  const until = await it.press('show:', { 's.how': 'until' })
  t.match(until, /name="s\.time"[^>]*value="09:00"/)
  t.notMatch(until, /name="s\.amount"/, 'a card shows what its choice asks for')
  const back = await it.press('show:', { 's.how': 'for' })
  t.match(back, /name="s\.amount"[^>]*value="3"/)
  t.notMatch(back, /name="s\.(time|days|zone)"/)
  const pressed = await it.press('close:', { 's.how': 'for', 's.amount': '5', 's.unit': 'D' })
  t.match(pressed, /Wait 5 days/)
  t.notMatch(pressed, /Somebody else/)
  const got = await owner.get(`${it.path}/draft`)
  t.match(got, { status: 303, to: it.path })
  const later = (await owner.get(it.path)).text
  t.match(later, /This is a draft, which is kept/)
  t.match(later, /Wait 5 days/)
  t.notMatch(JSON.stringify((await call('GET', `/v1/automations/${it.id}`)).json), /P5D/)
  t.equal((await owner.post(`${it.path}/discard`)).status, 303)
  t.notMatch((await owner.get(it.path)).text, /Wait 5 days/)
})

t.test('a condition that decides nothing is told at its step, and by the API', async (t) => {
  const it = await editing('Conditions')
  await it.press('add:0.0', { 'kind.0.0': 'condition' })
  const ask = async (field: string, operator: string, value: string) =>
    await it.press('show:', { mode: 'all', group: '0', field, operator, value })
  t.match(await ask('contact.firstName', 'contains', ''), /Condition 1: say what it is compared/)
  t.match(await ask('contact.createdAt', 'gt', 'not a date'), /Condition 1: write a date, such as/)
  t.match(await ask('contact.createdAt', 'within', 'soon'), /Condition 1: write how long, such as/)
  t.match(await ask('contact.firstName', 'yes', 'x'), /Condition 1: this is a text; choose/)
  const segment = 'segment.0190f3f5-0000-7000-8000-000000000000'
  const followed = await ask(segment, 'contains', '')
  t.match(followed, /<option value="yes" selected/, 'the usual of its field')
  t.notMatch(followed, /Condition 1: /)
  t.notMatch(followed, /<option value="starts_with"/, 'and only what fits it')
  for (const config of [
    { field: 'contact.createdAt', operator: 'gt', value: 'not a date' },
    { field: 'contact.firstName', operator: 'contains', value: '' },
    { field: 'contact.firstName', operator: 'eq', value: true },
    { field: segment, operator: 'contains', value: 'x' },
  ]) {
    const steps = [
      { key: 'start', type: 'trigger', config: { eventName: 'x' } },
      { key: 'if', type: 'condition', config },
    ]
    const connections = [{ from: 'start', to: 'if', type: 'default' }]
    const refused = await call('POST', '/v1/automations', { name: 'No', steps, connections })
    t.equal(refused.status, 422, refused.text)
  }
})
