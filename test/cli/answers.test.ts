// Issue 42, 3: `--json` of a command that does what an operation of the API does is the answer of that operation, to
// the letter. A command with an operation that is not among these fails the last test.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import t from 'tap'
import { findPlan, loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { endOfTest } from '../../src/broadcasts/variant.js'
import { type CommandRow, rowOf } from '../../src/cli/command-row.js'
import { commands } from '../../src/cli/index.js'
import { nameOf } from '../../src/cli/program.js'
import { packageFile } from '../../src/config/index.js'
import { startPosthorn } from '../support/posthorn.js'
import { giveMail, whenRead } from '../support/receiving.js'
import { runCli } from './run.js'

t.setTimeout(300_000)

const program = new Command('posthorn')
for (const load of Object.values(commands)) (await load())(program)
const rows = new Map<string, CommandRow>()
const visit = (command: Command): void => {
  const row = rowOf.get(command)
  if (row?.does !== undefined) rows.set(nameOf(command).replace(/^posthorn /, ''), row)
  command.commands.forEach(visit)
}
visit(program)

// Names below one host of nobody: endpoints and domains that are not there.
const posthorn = await startPosthorn(t, { dns: { '*': { fail: 'nxdomain' } } })
const { store, accountId, dataDir } = posthorn
const plan = findPlan(loadPlans(packageFile('config/plans.toml')).marketing, 'Marketing Pro')
await store.write((tx) => setMarketingPlan(tx, accountId, plan))
const seen = new Set<string>()

/** What a command answers, without what its row says that it adds; the exit status is told beside it. */
async function answerOf(name: string, ...args: string[]) {
  const row = rows.get(name)
  if (row === undefined) throw new Error(`posthorn ${name} does no operation`)
  seen.add(name)
  const ofAccount = row.options?.some(({ long }) => long === '--account') ?? false
  const line = [...name.split(' '), ...args, '--json', ...(ofAccount ? ['--account', 'Test'] : [])]
  const { stdout, stderr } = await runCli(line, {
    env: { POSTHORN_DATA: dataDir, POSTHORN_OUTBOUND_ROUTE: 'sandbox' },
  })
  if (stdout === '') throw new Error(`posthorn ${line.join(' ')}: ${stderr}`)
  const json = JSON.parse(stdout)
  for (const added of row.adds ?? []) {
    t.ok(Object.hasOwn(json, added), `${name} adds ${added}`)
    delete json[added]
  }
  return json
}

/** What the API answers. */
async function asked(method: string, path: string, body?: object) {
  const { json, status } = await posthorn.call(method, path, body === undefined ? {} : { body })
  t.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(json)}`)
  return json
}
const made = async (path: string, body: object) => await asked('POST', path, body)

/** Twins differ in their names, ids, times and secrets, and in how long it took: these are made alike. */
const alike = (json: unknown) =>
  JSON.parse(
    JSON.stringify(json, (key, value) =>
      ['last4', 'tookMs', 'from', 'value', 'zone'].includes(key) && value !== null ? key : value,
    )
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'an id')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'a time')
      .replaceAll(/\b(ph|whsec)_[\w+/=-]+/g, 'a secret')
      .replaceAll(/\bph[0-9a-z]{6}[re]\b/g, 'a selector')
      .replaceAll(/by the (account|operator)/g, 'by whoever did it')
      // A command knows the port that the settings name, not the one that a test's appliance got; the path ends at random.
      .replaceAll(/(http:\/\/[\d.:]+)?\/f\/[\w-]{16}/g, 'an address')
      .replaceAll(/(cli|api)-twin/g, 'twin'),
  )

t.test('fields of contacts', async (t) => {
  const given = ['--type', 'choice', '--choice', 'S', 'L', '--recipients-may-edit']
  const made1 = await answerOf('field add', 'size', 'Size', ...given)
  const body = { type: 'choice', choices: ['S', 'L'], recipientsMayEdit: true }
  const made2 = await made('/v1/contact-fields', {
    ...body,
    name: 'hat',
    label: 'Hats',
    position: 0,
  })
  t.same(alike({ ...made1, name: 'hat', label: 'Hats' }), alike(made2))
  t.same(await answerOf('field list'), await asked('GET', '/v1/contact-fields'))
  const change = { recipientsMayEdit: false, label: 'Hat' }
  t.same(
    await answerOf('field set', made2.id, '--no-recipients-may-edit', '--label', 'Hat'),
    await asked('PATCH', `/v1/contact-fields/${made2.id}`, change),
  )
  const asText = ['--type', 'text', '--no-choice']
  t.match(await answerOf('field set', made2.id, ...asText), { type: 'text', choices: [] })
  t.same(
    await answerOf('field delete', made1.id, '--yes'),
    await asked('DELETE', `/v1/contact-fields/${made2.id}`),
  )
})

t.test('topics and keys', async (t) => {
  t.same(
    alike(await answerOf('topic add', 'cli-twin', '--description', 'x')),
    alike(await made('/v1/topics', { name: 'api-twin', description: 'x' })),
  )
  t.same(await answerOf('topic list'), await asked('GET', '/v1/topics'))
  const key = await answerOf('key create', 'cli-twin', '--scope', 'sending')
  const other = await made('/v1/keys', { name: 'api-twin', scope: 'sending' })
  t.same(alike(key), alike(other))
  t.same(await answerOf('key list'), await asked('GET', '/v1/keys'))
  t.same(
    alike(await answerOf('key change', key.id, '--per-hour', '9', '--network', 'any')),
    alike(await asked('PATCH', `/v1/keys/${other.id}`, { perHour: 9, networks: 'any' })),
  )
  t.same(
    alike(await answerOf('key delete', key.id, '--yes')),
    alike(await asked('DELETE', `/v1/keys/${other.id}`)),
  )
})

t.test('surges', async (t) => {
  const surge = async () => {
    const id = store.ids.uuid()
    const times = { decided_at: null, ended_at: null, began_at: Date.now() + 60_000 }
    const numbers = { usual: 1, most: 10, mails: 11, held: 2, announced: 1 }
    const row = { account_id: accountId, sources: '[]', decision: null, decided_by: null }
    await store.write((tx) =>
      tx
        .insertInto('surges')
        .values({ ...times, ...numbers, ...row, id })
        .execute(),
    )
    return id
  }
  t.same(await answerOf('surge list'), await asked('GET', '/v1/surges'))
  for (const verb of ['release', 'fail'] as const) {
    const [one, other] = [await surge(), await surge()]
    const by = { decidedBy: 'whoever' }
    t.same(
      alike({ ...(await answerOf(`surge ${verb}`, one, '--yes')), ...by }),
      alike({ ...(await made(`/v1/surges/${other}/${verb}`, {})), ...by }),
    )
  }
})

t.test('mail that comes in', async (t) => {
  const { domains } = await asked('GET', '/v1/domains')
  const host = { receivingHost: 'in.sender.test' }
  const { id: domainId } = domains.find(({ name }: { name: string }) => name === 'sender.test')
  await asked('PATCH', `/v1/domains/${domainId}`, host)
  const rule = await answerOf('receiving add', '*@in.sender.test', 'store')
  const other = await made('/v1/receiving/rules', { pattern: '*@in.sender.test', action: 'store' })
  // The second is told that the first takes its mail.
  t.same(alike({ ...rule, place: 2, note: other.note }), alike(other))
  t.same(await answerOf('receiving list'), await asked('GET', '/v1/receiving/rules'))
  t.same(
    alike(await answerOf('receiving change', rule.id, '--off')),
    alike({
      ...(await asked('PATCH', `/v1/receiving/rules/${other.id}`, { enabled: false })),
      place: 1,
    }),
  )
  const address = 'ann@in.sender.test'
  t.same(await answerOf('receiving usage'), await asked('GET', '/v1/receiving/usage'))
  t.same(
    await answerOf('receiving where', address),
    await asked('GET', `/v1/receiving/where?address=${encodeURIComponent(address)}`),
  )
  await asked('PATCH', `/v1/receiving/rules/${other.id}`, { enabled: true })
  const { inboundSmtpPort: port } = posthorn.appliance
  for (const n of [1, 2]) await giveMail(t, port, address, `Subject: ${n}\n\nx`)
  const [one, two] = await whenRead(posthorn, 2)
  t.same(await answerOf('received list'), await asked('GET', '/v1/received'))
  t.same(await answerOf('received show', one.id), one)
  t.same(
    alike(await answerOf('received delete', one.id, '--yes')),
    alike(await asked('DELETE', `/v1/received/${two.id}`)),
  )
  t.same(
    alike(await answerOf('receiving delete', rule.id, '--yes')),
    alike(await asked('DELETE', `/v1/receiving/rules/${other.id}`)),
  )
})

t.test('the test inbox', async (t) => {
  const { key } = await made('/v1/keys', { name: 'CI', scope: 'test' })
  const mail = { from: 'a@sender.test', to: 'ann@example.org', subject: 'x', html: 'x' }
  await posthorn.call('POST', '/v1/emails/send', { key, body: mail })
  let list = await asked('GET', '/v1/inbox')
  while (!list.messages[0]?.checks) list = await asked('GET', '/v1/inbox')
  t.same(await answerOf('inbox list'), list)
  const { id } = list.messages[0]
  t.same(await answerOf('inbox show', String(id)), await asked('GET', `/v1/inbox/${id}`))
  t.same(await answerOf('inbox clear', '--yes'), { cleared: 1 })
  t.same(await asked('DELETE', '/v1/inbox'), { cleared: 0 })
})

t.test('webhooks', async (t) => {
  const url = (twin: string) => `https://${twin}.test/`
  const one = await answerOf('webhook add', url('cli-twin'), '--events', 'bounced')
  const two = await made('/v1/webhooks', { url: url('api-twin'), events: ['email.bounced'] })
  t.same(alike(one), alike(two))
  t.same(await answerOf('webhook list'), await asked('GET', '/v1/webhooks'))
  const both = async (name: string, method: string, path = '', body?: object, ...args: string[]) =>
    t.same(
      alike(await answerOf(`webhook ${name}`, one.id, ...args)),
      alike(await asked(method, `/v1/webhooks/${two.id}${path}`, body)),
      name,
    )
  t.same(await answerOf('webhook show', one.id), await asked('GET', `/v1/webhooks/${one.id}`))
  await both('test', 'POST', '/test', {})
  await both('rotate', 'POST', '/rotate', {}, '--yes')
  await both('disable', 'PATCH', '', { enabled: false })
  await both('enable', 'PATCH', '', { enabled: true })
  await both('deliveries', 'GET', '/deliveries')
  await both('replay', 'POST', '/deliveries/replay', { from: 1, to: 9 }, '1', '--to', '9')
  await both('delete', 'DELETE', '', undefined, '--yes')
})

t.test('templates', async (t) => {
  const html = join(dataDir, 'hello.html')
  writeFileSync(html, '<p>Hello {{ name }}</p>')
  const parts = ['--html', html, '--subject', 'Hi']
  for (const slug of ['cli-twin', 'api-twin']) {
    await made('/v1/templates', { slug, subject: 'old', html: '<p>old</p>' })
  }
  const path = '/v1/templates/api-twin'
  t.same(
    alike(await answerOf('template put', 'cli-twin', ...parts)),
    alike(await asked('PATCH', path, { subject: 'Hi', html: '<p>Hello {{ name }}</p>' })),
  )
  t.same(await answerOf('template list'), await asked('GET', '/v1/templates'))
  t.same(await answerOf('template show', 'api-twin'), await asked('GET', path))
  t.same(
    await answerOf('template show', 'api-twin', '--at', '1'),
    await asked('GET', `${path}/versions/1`),
  )
  t.same(await answerOf('template versions', 'api-twin'), await asked('GET', `${path}/versions`))
  t.same(
    await answerOf('template render', 'api-twin', '--var', 'name=Ada'),
    await made(`${path}/render`, { variables: { name: 'Ada' } }),
  )
  t.same(
    alike(await answerOf('template delete', 'cli-twin', '--yes')),
    alike(await asked('DELETE', path)),
  )
})

t.test('forms and segments', async (t) => {
  const { id: list } = await made('/v1/contacts/lists', { name: 'Sign-ups' })
  const form = (name: string) => made('/v1/forms', { name, lists: [list], consent: 'News, please' })
  const [one, two] = [await form('cli-twin'), await form('api-twin')]
  t.same(alike(await answerOf('form list')), alike(await asked('GET', '/v1/forms')))
  t.same(
    alike(await answerOf('form show', one.id)),
    alike(await asked('GET', `/v1/forms/${one.id}`)),
  )
  for (const [name, archived] of [
    ['archive', true],
    ['restore', false],
  ] as const) {
    t.same(
      alike(await answerOf(`form ${name}`, one.id)),
      alike(await asked('PATCH', `/v1/forms/${two.id}`, { archived })),
    )
  }

  const rule = { field: 'contact.email', operator: 'contains', value: 'x' }
  const made1 = await answerOf('segment create', 'cli-twin', '--rule', JSON.stringify(rule))
  const made2 = await made('/v1/segments', { name: 'api-twin', rule })
  t.same(alike(made1), alike(made2))
  t.same(alike(await answerOf('segment list')), alike(await asked('GET', '/v1/segments')))
  const path = `/v1/segments/${made2.id}`
  t.same(alike(await answerOf('segment show', made2.id)), alike(await asked('GET', path)))
  t.same(
    alike(await answerOf('segment delete', made1.id, '--yes')),
    alike(await asked('DELETE', path)),
  )
})

t.test('contacts and suppressions', async (t) => {
  const { id: listId } = await made('/v1/contacts/lists', { name: 'Some' })
  for (const twin of ['cli-twin', 'api-twin', 'third']) {
    await made(`/v1/contacts/${listId}`, { email: `${twin}@one.test`, firstName: 'A' })
  }
  const all = await asked('GET', '/v1/contacts/all')
  t.same(await answerOf('contact list'), all)
  t.same(
    await answerOf('contact list', '--limit', '1'),
    await asked('GET', '/v1/contacts/all?limit=1'),
    'and the cursor of the next page',
  )
  const found = all.contacts.find(({ email }: { email: string }) => email === 'api-twin@one.test')
  const path = `/v1/contacts/all/${found.id}`
  t.same(await answerOf('contact show', 'api-twin@one.test'), await asked('GET', path))
  t.same(
    alike(await answerOf('contact set', 'cli-twin@one.test', '--last-name', 'B')),
    alike(await asked('PATCH', path, { lastName: 'B' })),
  )
  t.same(
    alike(await answerOf('contact delete', 'cli-twin@one.test', '--yes')),
    alike(await asked('DELETE', path)),
  )
  const lists = '/v1/contacts/lists'
  const [ours, theirs] = [
    await answerOf('list create', 'cli-twin'),
    await made(lists, { name: 'api-twin' }),
  ]
  t.same(alike(ours), alike(theirs))
  t.same(await answerOf('list list'), await asked('GET', lists))
  t.same(await answerOf('list show', ours.id), await asked('GET', `${lists}/${ours.id}`))
  t.same(
    alike(await answerOf('list rename', ours.id, 'B')),
    alike(await asked('PATCH', `${lists}/${theirs.id}`, { name: 'B' })),
  )
  t.same(
    alike(await answerOf('list double-opt-in', ours.id, 'on')),
    alike(await asked('PATCH', `${lists}/${theirs.id}`, { doubleOptIn: true })),
  )
  t.same(
    alike(await answerOf('list delete', ours.id, '--yes')),
    alike(await asked('DELETE', `${lists}/${theirs.id}`)),
  )
  const known = 'gone@two.test'
  const download = await asked('GET', `/v1/contacts/downloads/${known}`)
  t.same(await answerOf('contact download', known), download)
  const erased = await answerOf('contact erase', known, '--yes')
  const again = await made('/v1/contacts/erasures', { address: known })
  t.same(Object.keys(erased), Object.keys(again))
  const shown = await answerOf('contact erasure', again.id)
  t.same(Object.keys(shown), Object.keys(again))
  const begun = await answerOf('contact bulk', 'set', '--all', '--metadata', '{"a":1}', '--yes')
  const bulk = await made('/v1/contacts/bulk', { do: 'set', all: true, metadata: { a: 1 } })
  t.same(Object.keys(begun), Object.keys(bulk))

  t.same(
    alike(await answerOf('suppression add', 'cli-twin@two.test', '--detail', 'x')),
    alike([await made('/v1/suppressions', { email: 'api-twin@two.test', detail: 'x' })]),
    'one for each address',
  )
  t.same(await answerOf('suppression list'), await asked('GET', '/v1/suppressions'))
  t.same(
    await answerOf('suppression list', 'api-twin@two.test'),
    await asked('GET', '/v1/suppressions/api-twin@two.test'),
  )
  t.same(
    alike(await answerOf('suppression remove', 'cli-twin@two.test', '--yes')),
    alike([await asked('DELETE', '/v1/suppressions/api-twin@two.test')]),
  )
  const file = join(dataDir, 'list.txt')
  writeFileSync(file, 'ann@three.test\nnobody\nbob@three.test\n')
  const imported = await made('/v1/suppressions/import', {
    suppressions: ['amy', 'nobody', 'bea'].map((name) => ({
      email: name === 'nobody' ? name : `${name}@three.test`,
    })),
  })
  t.same(await answerOf('suppression import', file, '--yes'), imported)
})

t.test('domains, and what receivers report of them', async (t) => {
  const one = await answerOf('domain add', 'cli-twin.test')
  const two = await made('/v1/domains', { name: 'api-twin.test' })
  t.same(alike(one), alike(two))
  t.same(await answerOf('domain list'), await asked('GET', '/v1/domains'))
  const path = `/v1/domains/${two.id}`
  t.same(await answerOf('domain show', 'api-twin.test'), await asked('GET', path))
  t.same(
    alike(await answerOf('domain verify', 'cli-twin.test')),
    alike(await made(`${path}/verify`, {})),
  )
  t.same(
    alike(await answerOf('domain rotate', 'cli-twin.test')),
    alike(await made(`${path}/rotate`, {})),
  )
  t.same(await answerOf('dmarc', 'api-twin.test'), await asked('GET', `${path}/dmarc`))
  t.same(
    await answerOf('dmarc', 'api-twin.test', '--days', '7'),
    await asked('GET', `${path}/dmarc?days=7`),
  )
  t.same(
    alike(await answerOf('domain delete', 'cli-twin.test', '--yes')),
    alike(await asked('DELETE', path)),
  )
})

const mail = { from: 'Shop <shop@sender.test>', subject: 's', html: '<p>x</p>' }

t.test('mails and figures', async (t) => {
  const { id } = await made('/v1/emails/send', { ...mail, to: 'ann@one.test' })
  await posthorn.until(id, ({ status }) => status === 'delivered')
  const list = ['--to', 'ann@one.test', '--created-after', '2026-01-01T00:00:00Z']
  t.same(
    await answerOf('email list', ...list),
    await asked('GET', '/v1/emails?to=ann@one.test&createdAfter=2026-01-01T00:00:00Z'),
  )
  t.same(await answerOf('email show', id), await asked('GET', `/v1/emails/${id}`))
  t.same(
    await answerOf('stats', '--by', 'day,type', '--limit', '5'),
    await asked('GET', '/v1/stats?groupBy=day,type&limit=5'),
  )
})

t.test('campaigns', async (t) => {
  const { id: listId } = await made('/v1/contacts/lists', { name: 'Readers' })
  await made(`/v1/contacts/${listId}`, { email: 'reader@one.test' })
  const [topic] = (await asked('GET', '/v1/topics')).topics
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
  const campaign = async () => {
    const given = { ...mail, listId, topicId: topic.id, draft: true, scheduledAt }
    return (await made('/v1/broadcasts', given)).id as string
  }
  const [one, two] = [await campaign(), await campaign()]
  t.same(await answerOf('broadcast list'), await asked('GET', '/v1/broadcasts?limit=50'))
  t.same(await answerOf('broadcast show', one), await asked('GET', `/v1/broadcasts/${one}`))
  const report = await asked('GET', `/v1/broadcasts/${one}/report`)
  t.same(await answerOf('broadcast report', one), report)
  const rehearsed = await answerOf('broadcast rehearse', one)
  t.same(Object.keys(rehearsed), Object.keys(await made(`/v1/broadcasts/${one}/rehearse`, {})))
  t.equal(rehearsed.recipientCount, 1)
  const archived = await answerOf('broadcast archive', one, 'on')
  t.equal(archived.archive, true)
  t.same(archived, await asked('GET', `/v1/broadcasts/${one}`))
  t.equal((await answerOf('broadcast archive', one, 'off')).archive, false)
  const copied = await answerOf('broadcast duplicate', one)
  t.same(
    alike({ ...copied, id: '' }),
    alike({ ...(await made(`/v1/broadcasts/${one}/duplicate`, {})), id: '' }),
  )
  for (const name of ['send', 'pause', 'resume', 'cancel']) {
    const args = name === 'send' || name === 'cancel' ? ['--yes'] : []
    t.same(
      alike(await answerOf(`broadcast ${name}`, one, ...args)),
      alike(await made(`/v1/broadcasts/${two}/${name}`, {})),
      name,
    )
  }
})

t.test('versions of campaigns', async (t) => {
  const { id: listId } = await made('/v1/contacts/lists', { name: 'Tried' })
  const variants = [{ subject: 'One' }, { subject: 'Two' }]
  /** As it stands once its test is made. */
  const tried = async () => {
    const { id } = await made('/v1/broadcasts', { ...mail, listId, variants, draft: true })
    await store.write((tx) =>
      tx
        .updateTable('broadcasts')
        .set({ status: 'paused', sent_at: 1, expanded_at: 1, cursor: endOfTest })
        .where('id', '=', id)
        .execute(),
    )
    return id as string
  }
  const [one, two] = [await tried(), await tried()]
  t.same(
    alike(await answerOf('broadcast variant', one, 'B')),
    alike(await made(`/v1/broadcasts/${two}/variants/B/choose`, {})),
  )
})

t.test('pictures', async (t) => {
  const file = join(dataDir, 'one.gif')
  const content = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'
  writeFileSync(file, Buffer.from(content, 'base64'))
  const one = await answerOf('picture add', file, '--alt', 'A dot')
  const two = await made('/v1/pictures', { name: 'one.gif', alt: 'A dot', content })
  const bare = ({ url: _, ...picture }: Record<string, unknown>) => alike(picture)
  t.same(bare(one), bare(two), 'but where it is, which the appliance itself knows')
  const listed = await answerOf('picture list')
  t.equal(listed.pictures.length, 2)
  t.same(
    alike(await answerOf('picture delete', one.id, '--yes')),
    alike(await asked('DELETE', `/v1/pictures/${two.id}`)),
  )
})

t.test('automations', async (t) => {
  const automation = async (name: string) => {
    const steps = [
      { key: 'start', type: 'trigger', config: { eventName: 'signup' } },
      { key: 'wait', type: 'delay', config: { duration: 'P1D' } },
    ]
    const connections = [{ from: 'start', to: 'wait', type: 'default' }]
    return (await made('/v1/automations', { name, steps, connections })).id as string
  }
  const [one, two] = [await automation('cli-twin'), await automation('api-twin')]
  t.same(await answerOf('automation list'), await asked('GET', '/v1/automations?limit=50'))
  t.same(await answerOf('automation show', one), await asked('GET', `/v1/automations/${one}`))
  const at = '2026-12-01T09:00:00Z'
  const walked = { email: 'ann@one.test', at, payload: {} }
  t.same(
    await answerOf(
      'automation walk',
      one,
      '--email',
      'ann@one.test',
      '--at',
      at,
      '--payload',
      '{}',
    ),
    await made(`/v1/automations/${one}/simulate`, walked),
  )
  const both = async (name: string, ...args: string[]) =>
    t.same(
      alike(await answerOf(`automation ${name}`, one, ...args)),
      alike(await made(`/v1/automations/${two}/${name}`, {})),
      name,
    )
  const copied = await answerOf('automation duplicate', one)
  t.same(copied.name, 'cli-twin (copy)')
  t.same(
    alike({ ...copied, id: '', name: '' }),
    alike({ ...(await made(`/v1/automations/${two}/duplicate`, {})), id: '', name: '' }),
  )
  await both('enable')
  const event = { event: 'signup', email: 'ann@one.test', payload: {} }
  const started = await made('/v1/events/send', event)
  const of = ({ automationId }: { automationId: string }) => automationId === one
  const { runId } = started.automations.find(of)
  t.same(
    await answerOf('automation runs', one),
    await asked('GET', `/v1/automations/${one}/runs?limit=50`),
  )
  t.same(
    await answerOf('automation why', runId),
    await asked('GET', `/v1/automations/runs/${runId}`),
  )
  const drafted = `/v1/automations/${two}/draft`
  const told = (json: { revision: string }) => alike({ ...json, revision: '' })
  t.same(
    await answerOf('automation draft', one),
    await asked('GET', `/v1/automations/${one}/draft`),
  )
  const file = join(dataDir, 'draft.json')
  writeFileSync(file, '{"name":"Written"}')
  t.same(
    told(await answerOf('automation write-draft', one, file)),
    told(await asked('PATCH', drafted, { name: 'Written' })),
  )
  t.same(
    told(await answerOf('automation discard-draft', one, '--yes')),
    told(await asked('DELETE', drafted)),
  )
  await answerOf('automation write-draft', one, file)
  await asked('PATCH', drafted, { name: 'Written' })
  t.same(
    alike(await answerOf('automation enable-draft', one)),
    alike(await made(`${drafted}/enable`, {})),
  )
  t.same(
    Object.keys(await answerOf('automation cancel', one, '--everybody', '--yes')),
    Object.keys(await asked('GET', `/v1/automations/${one}/cancel`)),
  )
  await both('disable')
  await both('archive', '--yes')
})

t.test('no command with an operation is left out', (t) => {
  t.same(
    [...rows.keys()].filter((name) => !seen.has(name)),
    [],
  )
  t.end()
})
