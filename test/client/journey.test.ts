import t, { type Test } from 'tap'
import { loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { Posthorn } from '../../src/client/index.js'
import { eventually } from '../support/eventually.js'
import { surgeOf } from '../support/management.js'
import { startPosthorn } from '../support/posthorn.js'
import { giveMail } from '../support/receiving.js'
import { methods } from './methods.js'

const sender = 'Shop <shop@sender.test>'
const mail = { from: sender, to: 'ann@example.org', subject: 'Hello', html: '<p>Hello</p>' }

t.test('every method does its work at a real appliance', async (t) => {
  const env = { POSTHORN_WEBHOOKS_ALLOW: '127.0.0.1' }
  const { url, apiKey, store, accountId, appliance } = await startPosthorn(t, { env })
  const marketing = loadPlans('config/plans.toml').marketing.at(-1) ?? null
  await store.write((tx) => setMarketingPlan(tx, accountId, marketing))
  const asked = new Set<string>()
  const posthorn = new Posthorn({
    url,
    apiKey,
    onRequest: ({ method, url: to }) => asked.add(`${method} ${new URL(to).pathname}`),
  })
  await mails(t, posthorn)
  // Over PostgreSQL figures know what was committed before every transaction that still runs.
  await eventually(async () => {
    const { groups } = await posthorn.stats.get({ groupBy: 'type' })
    return groups.some(({ type, mails }) => type === 'transactional' && (mails ?? 0) >= 4)
  }, 15_000)
  const listId = await audience(t, posthorn)
  await campaigns(t, posthorn, listId)
  await posthorn.templates.create({ slug: 'welcome', subject: 'Welcome', html: '<p>Welcome</p>' })
  await automations(t, posthorn)
  await settings(t, posthorn)
  await suppressions(t, posthorn)
  await templates(t, posthorn)
  await webhooks(t, posthorn)
  await testMode(t, posthorn, url)
  await receiving(t, posthorn, appliance.inboundSmtpPort)
  await surges(t, posthorn, await surgeOf({ store, accountId }))

  const patterns = Object.keys(methods).map((name) => ({
    name,
    pattern: new RegExp(`^${name.replace(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`),
  }))
  const unasked = patterns.filter(({ pattern }) => ![...asked].some((one) => pattern.test(one)))
  t.same(
    unasked.map(({ name }) => name),
    [],
    'no operation is left out: a new one gets its step here',
  )
})

async function mails(t: Test, { emails, contacts }: Posthorn): Promise<void> {
  const { id } = await emails.send(mail)
  t.equal((await emails.wait(id)).status, 'delivered')
  const { ids } = await emails.batch([mail, mail])
  t.equal(ids.length, 2)
  const later = await emails.send({ ...mail, scheduledAt: new Date(Date.now() + 3_600_000) })
  t.match(await emails.cancel(later.id), { message: /cancelled/ })
  t.equal((await emails.get(later.id)).status, 'cancelled')
  const found: string[] = []
  const since = { limit: 2, createdAfter: new Date(Date.now() - 60_000) }
  for await (const email of emails.list({ ...since, status: 'cancelled' })) found.push(email.id)
  t.same(found, [later.id], 'filters, times too, go into the query')
  const list = await contacts.lists.create('Callers')
  await contacts.add(list.id, { email: 'caller@example.org', phone: '08031234567' })
  const { from, subject, html } = mail
  t.match(await emails.ussd({ from, subject, html, phoneNumber: '+2348031234567' }), {
    queued: true,
  })
}

async function audience(
  t: Test,
  { contacts, topics, segments, forms, brand, pictures }: Posthorn,
): Promise<string> {
  const { id } = await contacts.lists.create('Readers')
  const added = await contacts.add(id, { email: 'ann@example.org', firstName: 'Ann' })
  const rows = Array.from({ length: 30 }, (_, index) => `reader${index}@example.org\n`)
  async function* file() {
    yield new TextEncoder().encode('email\n')
    for (const row of rows) yield new TextEncoder().encode(row)
  }
  t.match(await contacts.import(id, file()), { imported: 30, skipped: 0 })
  t.match(await contacts.import(id, new Blob(['email\n', ...rows])), { imported: 0, skipped: 30 })
  const emails = new Set<string>()
  for await (const { email } of contacts.list(id, { limit: 7 })) emails.add(email)
  t.equal(emails.size, 31, 'all pages, each contact once')
  const found: string[] = []
  for await (const { email } of contacts.find({ q: 'ann' })) found.push(email)
  t.same(found, ['ann@example.org'])
  t.equal((await contacts.update(added.id, { lastName: 'Obi' })).lastName, 'Obi')
  t.match(await contacts.get(added.id), { firstName: 'Ann', lastName: 'Obi' })
  t.match(await contacts.download('nobody@example.org'), { contact: null, mails: [] })
  const erased = await contacts.erasures.start('nobody@example.org')
  t.match(await contacts.erasures.get(erased.id), { name: erased.name })
  const { id: task } = await contacts.bulk.start({ do: 'set', q: 'ann', metadata: { town: 'X' } })
  t.match(await contacts.bulk.get(task), { do: 'set' })
  await contacts.bulk.stop(task).catch(({ code }) => t.equal(code, 'conflict'))
  const other = await contacts.add(id, { email: 'zed@example.org' })
  t.match(await contacts.delete(other.id), { deleted: true })
  await contacts.remove(id, added.id)
  t.match(await contacts.lists.list(), [{ name: 'Readers', contactCount: 30 }, {}])
  const gone = await contacts.lists.create('Gone')
  t.match(await contacts.lists.delete(gone.id), { deleted: true })

  const form = await forms.create({ name: 'Sign up', lists: [id], consent: 'News, please.' })
  t.match(await forms.list(), [{ name: 'Sign up' }])
  t.equal((await forms.update(form.id, { from: sender })).from, sender)
  t.ok((await forms.submit(form.id, { email: 'fi@example.org', agreed: true })).message)
  t.equal((await forms.resume(form.id)).state, 'open')
  t.equal((await forms.work(form.id)).bits, 0, 'no work is asked for')
  t.match(await forms.get(form.id), { state: 'open', version: 1 })
  t.equal((await brand.update({ postalAddress: '1 Main Street' })).postalAddress, '1 Main Street')
  t.match(await brand.get(), { postalAddress: '1 Main Street' })

  const town = await contacts.fields.create({ name: 'town', label: 'Town', type: 'text' })
  t.match(await contacts.fields.update(town.id, { label: 'City' }), { name: 'town', label: 'City' })
  t.equal((await contacts.fields.list()).length, 1)
  t.ok((await contacts.fields.delete(town.id)).message)

  const topic = await topics.create({ name: 'Offers' })
  t.match(await topics.update(topic.id, { position: 3 }), { name: 'Offers', position: 3 })
  t.match(await topics.optOuts(topic.id), { optOuts: [] })
  await topics.archive(topic.id)
  t.same(await topics.list(), [])
  t.equal((await topics.list({ includeArchived: true })).length, 1)

  const rule = { field: `list.${id}`, operator: 'eq', value: true }
  t.match(await segments.count({ rule }), { sample: null })
  const segment = await segments.create({ name: 'On it', rule })
  t.equal((await segments.list()).length, 1)
  t.match(await segments.get(segment.id), { name: 'On it', usedBy: [] })
  t.match(await segments.update(segment.id, { name: 'Readers' }), { name: 'Readers' })
  t.ok(Array.isArray((await segments.members(segment.id)).contacts))
  await segments.delete(segment.id)
  const content = 'R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs='
  const picture = await pictures.add({ name: 'dot.gif', content })
  for await (const one of pictures.list()) t.equal(one.id, picture.id)
  t.match(await pictures.update(picture.id, { alt: 'A dot' }), { alt: 'A dot' })
  t.match(await pictures.get(picture.id), { width: 1, contentType: 'image/gif' })
  await pictures.delete(picture.id)
  return id
}

async function campaigns(t: Test, { broadcasts }: Posthorn, listId: string): Promise<void> {
  const content = { listId, from: sender, subject: 'News', html: '<p>Hi {{ firstName }}</p>' }
  t.equal((await broadcasts.preview({ listId })).recipientCount, 30)
  await broadcasts.test({ ...content, to: 'me@sender.test' })
  const draft = await broadcasts.create({ ...content, draft: true })
  t.equal(draft.status, 'draft')
  t.match(await broadcasts.update(draft.id, { name: 'Week 47' }), { name: 'Week 47' })
  t.match(await broadcasts.rehearse(draft.id), {
    recipientCount: 30,
    sites: [{ site: 'sandbox', recipients: 30 }],
  })
  t.match(await broadcasts.duplicate(draft.id), { status: 'draft' })
  t.match(await broadcasts.send(draft.id), { status: 'sending' })
  t.ok(Array.isArray((await broadcasts.recipients(draft.id)).recipients))
  t.equal((await broadcasts.report(draft.id)).progress.recipients, 0)
  const later = await broadcasts.create({
    ...content,
    scheduledAt: new Date(Date.now() + 3_600_000),
  })
  t.match(await broadcasts.pause(later.id), { status: 'paused' })
  t.match(await broadcasts.resume(later.id), { id: later.id })
  t.match(await broadcasts.takeBack(later.id), { status: 'draft' })
  await t.rejects(broadcasts.chooseVariant(later.id, 'B'), { code: 'not_found' })
  t.match(await broadcasts.cancel(later.id), { status: 'cancelled' })
  t.match(await broadcasts.cancelRest((await broadcasts.create({ ...content, draft: true })).id), {
    status: 'cancelled',
  })
  t.equal((await broadcasts.get(later.id)).subject, 'News')
  t.equal((await broadcasts.list()).broadcasts.length, 4)
  t.equal((await broadcasts.usage()).subscribed, true)
}

async function automations(t: Test, { automations, contacts, events }: Posthorn): Promise<void> {
  const { id } = await automations.create({
    name: 'Welcome',
    steps: [
      { key: 'start', type: 'trigger', config: { eventName: 'user.signup' } },
      { key: 'wait', type: 'delay', config: { duration: 'P1D' } },
      { key: 'mail', type: 'send_email', config: { template: 'welcome', from: sender } },
    ],
    connections: [
      { from: 'start', to: 'wait', type: 'default' },
      { from: 'wait', to: 'mail', type: 'default' },
    ],
  })
  t.equal((await automations.update(id, { name: 'Onboarding' })).name, 'Onboarding')
  t.match(await automations.simulate(id, { email: 'bob@example.org' }), { automationId: id })
  const { revision } = await automations.getDraft(id)
  const written = await automations.updateDraft(id, { revision, name: 'Onboarding' })
  await automations.enableDraft(id, { revision: written.revision })
  const inForce = await automations.getDraft(id)
  await automations.updateDraft(id, { revision: inForce.revision, name: 'Begin' })
  await automations.discardDraft(id)
  const copy = await automations.duplicate(id)
  t.match(copy, { name: 'Onboarding (copy)', status: 'disabled' })
  t.match(await automations.archive(copy.id), { status: 'archived' })
  t.match(await automations.enable(id), { status: 'enabled' })
  const accepted = await events.send({ event: 'user.signup', email: 'eve@example.org' })
  t.equal(accepted.started, 1)
  t.equal((await events.batch([{ event: 'other', email: 'eve@example.org' }])).accepted, 1)
  const many = []
  const source = [
    { event: 'user.signup', email: 'one@example.org' },
    { event: 'user.signup', contactId: '01a1fc92-9915-7533-8296-04ee3d91dd72' },
    { event: 'user.signup', email: 'two@example.org' },
  ]
  for await (const one of events.sendMany(source))
    many.push('error' in one ? 'no' : one.value.started)
  t.same(many, [1, 'no', 1])
  t.ok((await events.names()).names)
  const { runs } = await automations.runs(id, { status: 'running,waiting' })
  t.equal(runs.length, 3)
  const runId = runs[0]?.id ?? ''
  t.equal((await automations.getRun(runId)).id, runId)
  t.match(await automations.cancelRun(runId), { status: 'cancelled' })
  const { id: listId } = await contacts.lists.create('Started by hand')
  const { id: contactId } = await contacts.add(listId, { email: 'hand@example.org' })
  t.match(await automations.startRun(id, { contactId }), { status: 'running' })
  for (const name of ['crowd', 'others']) {
    await contacts.add(listId, { email: `${name}@example.org` })
  }
  const would = await automations.startFor(id, { listId, dryRun: true })
  t.match(would, { dryRun: true, people: 3, starts: 2, refused: { already_running: 1 } })
  t.match(await automations.startFor(id, { listId, perHour: 1 }), { dryRun: false, starts: 2 })
  t.match(await automations.getStart(id), { listId, segmentId: null, perHour: 1 })
  t.match(await automations.stopStart(id), { listId })
  t.match(await automations.pause(id), { status: 'enabled' })
  t.match(await automations.resume(id, { overdue: 'shift' }), { dryRun: false })
  t.match(await automations.move(id, { dryRun: true }), { version: 1, left: 0 })
  t.ok((await automations.standing(id)).steps.length)
  t.match(await automations.cancelRuns(id, { dryRun: true }), { dryRun: true })
  await t.rejects(automations.cancelRuns(id, {}), { code: 'validation_error', status: 422 })
  await automations.cancelRuns(id, { everybody: true })
  const isDone = async () => (await automations.getRunsCancelled(id)).state === 'done'
  await eventually(isDone, 15_000)
  // A few are taken out before anybody could stop it.
  await t.rejects(automations.stopCancelling(id), { code: 'conflict' })
  t.match(await automations.disable(id), { status: 'disabled' })
  t.match(await automations.archive(id), { status: 'archived' })
  t.equal((await automations.get(id)).status, 'archived')
  t.equal((await automations.list()).automations.length, 2)
}

async function settings(t: Test, posthorn: Posthorn): Promise<void> {
  const { domains, keys, plans } = posthorn
  const domain = await domains.add({ name: 'other.test' })
  t.equal((await domains.get(domain.id)).name, 'other.test')
  await domains.verify(domain.id)
  t.match(await domains.dmarc(domain.id, { days: 7 }), { name: 'other.test', sources: [] })
  await domains.update(domain.id, { trackOpens: 'off' })
  await domains.rotate(domain.id, { atOnce: true })
  t.equal((await domains.list()).length, 2)
  await domains.delete(domain.id)
  const key = await keys.create({ name: 'Reader', scope: 'read' })
  await keys.update(key.id, { name: 'Readers' })
  t.equal((await keys.get(key.id)).name, 'Readers')
  t.equal((await keys.list()).length, 2)
  await keys.delete(key.id)
  t.ok((await plans.list()).length > 0)
  t.match(await posthorn.version(), { client: /^\d/, server: /^\d/ })
  t.match(await posthorn.request('GET', '/v1/topics'), { topics: [] })
}

async function suppressions(t: Test, { suppressions, contacts }: Posthorn): Promise<void> {
  const list = await contacts.lists.create('Old')
  t.equal((await contacts.lists.rename(list.id, { name: 'New' })).name, 'New')
  t.equal((await contacts.lists.get(list.id)).days.length, 91)
  const email = 'gone+1@example.org'
  t.equal((await suppressions.add({ email, detail: 'by phone' })).reason, 'manual')
  const imported = await suppressions.import({ suppressions: [{ email }, { email: 'x' }] })
  t.match(imported, { added: 0, known: 1, refused: [{ index: 1 }] })
  t.equal((await suppressions.get(email)).blocks, 'all')
  t.ok((await suppressions.list({ reason: 'manual' })).suppressions.length > 0)
  t.equal((await suppressions.remove(email, { reason: 'manual' })).removed, 1)
}

async function templates(t: Test, { templates }: Posthorn): Promise<void> {
  const made = await templates.create({ slug: 'bye', subject: 'Bye', html: '<p>{{ name }}</p>' })
  t.equal((await templates.update(made.slug, { subject: 'Farewell' })).version, 2)
  t.equal((await templates.getVersion('bye', 1)).subject, 'Bye')
  t.equal((await templates.restore('bye', 1)).version, 3)
  const versions: number[] = []
  for await (const { version } of templates.versions('bye', { limit: 1 })) versions.push(version)
  t.same(versions, [3, 2, 1])
  const rendered = await templates.render('bye', { variables: { name: 'Ann' } })
  t.equal(rendered.html, '<p>Ann</p>')
  t.equal((await templates.get('bye')).subject, 'Bye')
  t.ok((await templates.list()).templates.some(({ slug }) => slug === 'bye'))
  await templates.delete('bye')
}

async function webhooks(t: Test, { webhooks }: Posthorn): Promise<void> {
  const made = await webhooks.create({ url: 'https://127.0.0.1:1/hooks' })
  t.match(made.secret, /^whsec_/)
  await webhooks.update(made.id, { events: ['email.bounced'] })
  t.same((await webhooks.get(made.id)).events, ['email.bounced'])
  t.equal((await webhooks.list()).length, 1)
  t.match(await webhooks.rotate(made.id, {}), { secret: /^whsec_/ })
  t.match(await webhooks.test(made.id), { taken: false, status: null })
  t.ok(Array.isArray((await webhooks.deliveries(made.id)).deliveries))
  await t.rejects(webhooks.replay(made.id, 999_999_999), { code: 'not_found' })
  t.same(await webhooks.replayRange(made.id, { from: 1, to: 9 }), { queued: 0 })
  t.match(await webhooks.replayFailed(made.id), { queued: Number })
  await webhooks.delete(made.id)
}

async function testMode(t: Test, { keys, inbox }: Posthorn, url: string): Promise<void> {
  const { key } = await keys.create({ name: 'Tests', scope: 'test' })
  const tests = new Posthorn({ url, apiKey: key ?? '' })
  const { id } = await tests.emails.send(mail)
  await tests.emails.wait(id)
  const [kept] = (await inbox.list({ emailId: id })).messages
  t.match(await inbox.get(kept?.id ?? 0), { emailId: id, subject: 'Hello' })
  t.same(await inbox.clear(), { cleared: 1 })
}

const withFile = `Subject: Hello\nContent-Type: text/plain\nContent-Disposition: attachment; filename=a.txt\n\nx`

async function receiving(
  t: Test,
  { domains, receiving, received }: Posthorn,
  port: number | undefined,
): Promise<void> {
  const [domain] = await domains.list()
  await domains.update(domain?.id ?? '', { receivingHost: 'in.sender.test' })
  const { id } = await receiving.add({ pattern: '*@in.sender.test', action: 'webhook' })
  t.equal((await receiving.update(id, { action: 'store' })).action, 'store')
  t.same(await receiving.list(), [await receiving.get(id)])
  t.match(await receiving.where({ address: 'ann@in.sender.test' }), { rule: { id } })
  t.match(await giveMail(t, port, 'ann@in.sender.test', withFile), /^250 /)
  t.match(await receiving.usage(), { hour: { used: 1 }, refused: [] })
  const [mail] = (await received.list()).received
  for (;;) {
    const { state, subject } = await received.get(mail?.id ?? '')
    if (state === 'read') break
    t.equal(subject, 'Hello')
  }
  t.match(await received.file(mail?.id ?? '', 1), { filename: 'a.txt', content: 'eAo=' })
  const { content } = await received.source(mail?.id ?? '')
  t.match(Buffer.from(content, 'base64').toString(), /^Subject: Hello\r\n/)
  t.equal((await received.delete(mail?.id ?? '')).deleted, true)
  t.equal((await receiving.delete(id)).deleted, true)
}

async function surges(t: Test, { surges }: Posthorn, id: string): Promise<void> {
  t.equal((await surges.list()).length, 1)
  t.equal((await surges.get(id)).decision, null)
  t.equal((await surges.release(id)).decision, 'released')
  await t.rejects(surges.fail(id), { code: 'conflict' })
}
