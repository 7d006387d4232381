// Thorough: a whole appliance and imports that start automations.
// automations.md §2.3: an import starts runs only where it is asked to.
import t, { type Test } from 'tap'
import { openAutomations } from '../support/automation-appliance.js'

const start = (eventName: string) => ({ key: 'start', type: 'trigger', config: { eventName } })
const pause = { key: 'pause', type: 'delay', config: { duration: 'P1D' } }

async function openImports(t: Test, settings: Record<string, unknown> = {}) {
  const rig = await openAutomations(t, { settings })
  const { json } = await rig.call('POST', '/v1/contacts/lists', { name: 'Readers' })
  const listId: string = json.id
  const ids = {
    joined: await rig.enabled('Joined', [start('$list.joined'), pause]),
    created: await rig.enabled('Created', [start('$contact.created'), pause]),
  }
  return {
    ...rig,
    listId,
    import: async (text: string, query = '') => {
      const form = new FormData()
      form.set('file', new Blob([text], { type: 'text/csv' }), 'contacts.csv')
      const sent = new Response(form)
      const headers = { 'content-type': sent.headers.get('content-type') ?? '' }
      const body = Buffer.from(await sent.arrayBuffer())
      return rig.posthorn.call('POST', `/v1/contacts/${listId}/import${query}`, { body, headers })
    },
    /** How many have entered each. */
    enrolled: async () => {
      const of = async (id: string) =>
        (await rig.call('GET', `/v1/automations/${id}`)).json.enrolledContacts
      return { joined: await of(ids.joined), created: await of(ids.created) }
    },
  }
}

const file = (from: number, to: number) =>
  `email\n${Array.from({ length: to - from }, (_, n) => `r${from + n}@x.test\n`).join('')}`

t.test('rows of an import start automations only with trigger=true', async (t) => {
  const site = await openImports(t)
  t.match(await site.import(file(0, 120)), { status: 200, json: { imported: 120 } })
  t.same(await site.enrolled(), { joined: 0, created: 0 })
  await site.event({ event: 'seen', email: 'known@x.test' })
  t.same(await site.enrolled(), { joined: 0, created: 1 }, 'an event makes a contact')

  const more = `${file(100, 320)}known@x.test\n`
  const told = { status: 200, json: { imported: 201, skipped: 20 } }
  t.match(await site.import(more, '?trigger=true'), told)
  t.same(await site.enrolled(), { joined: 201, created: 201 }, 'of 220 rows 200 are new')
  t.match(await site.import(more, '?trigger=1'), { json: { imported: 0, skipped: 221 } })
  t.same(await site.enrolled(), { joined: 201, created: 201 }, 'who is on the list joins no more')
  t.match(await site.import(more, '?trigger=maybe'), { status: 400 })

  const run = await site.store.read
    .selectFrom('automation_live')
    .innerJoin('automation_events as events', 'events.id', 'trigger_event')
    .select('payload')
    .where('events.name', '=', '$list.joined')
    .executeTakeFirstOrThrow()
  t.same(JSON.parse(run.payload ?? ''), { listId: site.listId })
})

t.test('an import that would start too many runs is cut off, and what is in is told', async (t) => {
  const site = await openImports(t, { automations: { max_live_runs: 1 } })
  const path = `/v1/contacts/${site.listId}`
  t.match(await site.call('POST', path, { email: 'ann@example.com' }), { status: 201 })
  t.match(await site.import(file(0, 10), '?trigger=true'), {
    status: 503,
    json: { code: 'service_unavailable', imported: 0, error: /Too many runs/ },
  })
  t.match(await site.import(file(0, 10)), { status: 200, json: { imported: 10 } })
})
