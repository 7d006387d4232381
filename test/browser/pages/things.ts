import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { createKey } from '../../../src/accounts/index.js'
import { applianceKeyFile } from '../../../src/app/index.js'
import { loadPlans } from '../../../src/billing/index.js'
import { systemClock as clock, pause } from '../../../src/clock/index.js'
import { openApplianceKey } from '../../../src/config/index.js'
import { createContactField } from '../../../src/contact-fields/index.js'
import { addContact, createList, type ImportOrder } from '../../../src/contacts/index.js'
import { addDomain, setTrackingHost, verifyDomain } from '../../../src/domains/index.js'
import { createForm } from '../../../src/forms/index.js'
import { addPicture, readPicture } from '../../../src/pictures/index.js'
import { suppress } from '../../../src/suppression/index.js'
import { changeState, createTask } from '../../../src/tasks/index.js'
import { createTopic, optOut } from '../../../src/topics/index.js'
import { addEndpoint, webhookEvents } from '../../../src/webhooks/index.js'
import { png } from '../../pictures/samples.js'
import { fakeResolver } from '../../support/resolver.js'
import type { PlacePages, World } from '../every-page.js'

const long = 'a-very-long-label-that-nobody-would-choose-but-somebody-has'
const domain = `${long}.${long}.example.com`
const address = `${'first.last.'.repeat(5)}x@${domain}`
const records = { heloName: 'mail.appliance.example.net', sourceAddresses: ['192.0.2.9'] }

/** Domains, keys, webhooks and suppressed addresses with the longest that they may have. */
export const place: PlacePages = {
  async fill(world) {
    const { store, accountId, dataDir, ids } = world
    const key = openApplianceKey(applianceKeyFile(dataDir))
    const added = await addDomain({ store, clock, key }, accountId, domain)
    await setTrackingHost({ store }, accountId, domain, `links.${domain}`)
    const resolver = fakeResolver({
      [`_dmarc.${domain}`]: { txt: ['v=DMARC1; p=none'] },
      [`bounce.${domain}`]: { txt: [`v=spf1 ${'ip4:198.51.100.1 '.repeat(20)}-all`], mx: [] },
    })
    await verifyDomain({ store, clock, resolver, settings: records }, accountId, domain)
    const networks = Array.from({ length: 50 }, (_, n) => `2001:db8:ffff:ffff:${n}::/80`)
    const limits = { scope: 'sending', domains: [domain], networks, expiresAt: Date.now() + 1e9 }
    const made = await createKey({ store, clock }, accountId, 'N'.repeat(100), {
      limits: { ...limits, scope: 'sending' },
    })
    const url = `https://${domain}/${'path/'.repeat(300)}`
    const plans = loadPlans('config/plans.toml')
    const endpoint = await addEndpoint({ store, clock, key }, plans, accountId, {
      url,
      events: webhookEvents,
    })
    Object.assign(ids, { key: made.id, webhook: endpoint.id })
    await fillTestInbox(world)
    await fillAudience(world)
    for (const name of ['dot.png', `${long}-${long}.png`]) {
      const picture = readPicture(png(30, 20))
      const given = { picture, name, alt: `${long} `.repeat(5) }
      ids.picture = (await addPicture({ store, clock, plans }, accountId, given)).id
    }
    await fillForms(world)
    await fillDeliveries(world, endpoint.id)
    await fillReports(world, added.id)
    await store.write(async (tx) => {
      for (let n = 10; n < 80; n++) {
        const detail = `550 5.1.1 ${'no such user '.repeat(70)}`
        const email = `n${n}.${address}`
        await suppress(tx, accountId, { email, reason: 'bounce', detail }, clock.now())
      }
    })
  },
  pages: ({ full, empty, ids }) => [
    ...['domains', 'keys', 'inbox', 'webhooks', 'suppression', 'topics', 'lists', 'fields'].flatMap(
      (name) => [
        { path: `${full}/${name}`, as: 'owner' as const },
        { path: `${full}/${name}`, as: 'operator' as const, name: `${name}-operator` },
        { path: `${empty}/${name}`, as: 'empty' as const, name: `${name}-empty` },
      ],
    ),
    { path: `${full}/domains/new`, as: 'owner', name: 'domains-new' },
    { path: `${full}/domains/${domain}`, as: 'owner', name: 'domain', open: openAll },
    { path: `${full}/domains/${domain}`, as: 'viewer', name: 'domain-viewer' },
    { path: `${full}/domains/sender.test`, as: 'owner', name: 'domain-trusted' },
    { path: `${full}/domains/${domain}/remove`, as: 'owner', name: 'domain-remove' },
    { path: `${full}/domains/${domain}/dmarc`, as: 'owner', name: 'domain-dmarc' },
    { path: `${full}/domains/sender.test/dmarc`, as: 'owner', name: 'domain-dmarc-empty' },
    { path: `${full}/keys/new`, as: 'owner', name: 'keys-new' },
    { path: `${full}/keys/${ids.key}`, as: 'owner', name: 'key', open: openAll },
    { path: `${full}/keys/${ids.key}`, as: 'outsider', status: 404, name: 'key-outsider' },
    { path: `${full}/inbox/${ids.testMail}`, as: 'owner', name: 'test-mail' },
    { path: `${full}/inbox/${ids.testMail}?view=checks`, as: 'viewer', name: 'test-mail-checks' },
    {
      path: `${full}/inbox/${ids.testMail}`,
      as: 'outsider',
      status: 404,
      name: 'test-mail-outsider',
    },
    { path: `${full}/webhooks/new`, as: 'owner', name: 'webhooks-new' },
    { path: `${full}/webhooks/${ids.webhook}`, as: 'owner', name: 'webhook', open: openAll },
    { path: `${full}/webhooks/${ids.webhook}?show=failed`, as: 'member', name: 'webhook-failed' },
    {
      path: `${full}/webhooks/${ids.webhook}/settings`,
      as: 'owner',
      name: 'webhook-settings',
      open: openAll,
    },
    {
      path: `${full}/webhooks/${ids.webhook}/deliveries/900050`,
      as: 'owner',
      name: 'webhook-delivery',
    },
    { path: `${full}/pictures`, as: 'owner', name: 'pictures' },
    { path: `${full}/pictures`, as: 'viewer', name: 'pictures-viewer' },
    { path: `${empty}/pictures`, as: 'empty', name: 'pictures-empty' },
    { path: `${full}/pictures/${ids.picture}`, as: 'owner', name: 'picture', open: openAll },
    { path: `${full}/pictures/${ids.picture}`, as: 'viewer', name: 'picture-viewer' },
    { path: `${full}/fields/new?name=town`, as: 'owner', name: 'fields-new' },
    { path: `${full}/fields/${ids.field}`, as: 'owner', name: 'field', open: openAll },
    { path: `${full}/fields/${ids.field}`, as: 'viewer', name: 'field-viewer' },
    { path: `${full}/topics/new`, as: 'owner', name: 'topics-new' },
    { path: `${full}/forms`, as: 'owner', name: 'forms' },
    { path: `${empty}/forms`, as: 'empty', name: 'forms-empty' },
    { path: `${full}/forms/new`, as: 'owner', name: 'forms-new' },
    { path: `${full}/forms/${ids.form}`, as: 'owner', name: 'form', open: openAll },
    { path: `${full}/forms/${ids.form}/edit`, as: 'owner', name: 'form-edit' },
    { path: `${full}/contacts/waiting`, as: 'owner', name: 'contacts-waiting' },
    { path: `${empty}/contacts/waiting`, as: 'empty', name: 'contacts-waiting-empty' },
    { path: `${full}/brand`, as: 'owner', name: 'brand' },
    { path: `${full}/brand`, as: 'viewer', name: 'brand-viewer' },
    { path: `${full}/topics/${ids.topic}`, as: 'owner', name: 'topic', open: openAll },
    { path: `${full}/topics/${ids.topic}`, as: 'viewer', name: 'topic-viewer' },
    { path: `${full}/contacts/import`, as: 'owner', name: 'import' },
    { path: `${empty}/contacts/import`, as: 'empty', name: 'import-empty' },
    { path: `${full}/contacts/import/${ids.draft}`, as: 'owner', name: 'import-map' },
    {
      path: `${full}/contacts/import/${ids.failed}`,
      as: 'owner',
      name: 'import-task',
      open: openAll,
    },
    { path: `${full}/lists/new`, as: 'owner', name: 'lists-new' },
    { path: `${full}/lists/${ids.list}`, as: 'owner', name: 'list', open: openAll },
    { path: `${full}/lists/${ids.list}/delete`, as: 'owner', name: 'list-delete' },
    { path: `${full}/suppression/new`, as: 'owner', name: 'suppression-new' },
    { path: `${full}/suppression/import`, as: 'owner', name: 'suppression-import' },
    {
      path: `${full}/suppression/address?email=n10.${address}`,
      as: 'owner',
      name: 'suppression-address',
      open: openAll,
    },
    {
      path: `${full}/suppression/address?email=free@one.test`,
      as: 'owner',
      name: 'suppression-free',
    },
  ],
}

/** A draft of many columns, and an import that has failed with all counts. */
async function fillImports({ store, accountId, dataDir }: World, listId: string) {
  const text = `email,${long},Name\n${`${address},${'cell '.repeat(20)},Ann\n`.repeat(30)}`
  const file = { filename: `${long}.csv`, bytes: text.length, lines: 31, isUtf8: true }
  const task = { accountId, kind: 'import', state: 'draft', total: 31, startedBy: 'u' } as const
  const [draft, failed] = await store.write(async (tx) => {
    const begun = await createTask(tx, { ...task, detail: { ...file } }, clock.now())
    const columns = [{ use: 'email', name: 'email' }] as const
    const mapping = { columns, hasHeader: true, encoding: 'utf-8', delimiter: ',' } as const
    const order: ImportOrder = { listId, mapping, known: 'leave', agreed: long, trigger: false }
    const detail = { ...file, order }
    const other = await createTask(tx, { ...task, detail }, clock.now())
    const result = {
      imported: 1_200_000,
      skipped: 7,
      invalid: 12_345,
      suppressed: 3,
      undone: 2,
      reason: long,
    }
    const change = { from: ['draft'], to: 'failed', result, endedAt: clock.now() } as const
    await changeState(tx, { id: other, accountId }, change)
    return [begun, other]
  })
  mkdirSync(join(dataDir, 'imports'), { recursive: true })
  writeFileSync(join(dataDir, 'imports', `${draft}.csv`), text)
  return { draft: String(draft), failed: String(failed) }
}

/** Topics and lists, with who has left and who is on. */
/** A form with questions of each kind. */
async function fillForms({ store, accountId, ids }: World): Promise<void> {
  const { id: listId } = await createList({ store, clock }, accountId, 'Signed up')
  const form = await createForm({ store, clock }, accountId, {
    name: 'F'.repeat(100),
    lists: [listId],
    consent: 'I would like to get the newsletter. '.repeat(20).trim(),
    fields: [
      { name: 'firstName', label: 'First name', type: 'text', required: true },
      { name: 'town', label: 'Town', type: 'choice', required: false, choices: ['Lagos', 'Accra'] },
    ],
  })
  const at = clock.now()
  await store.write((tx) =>
    tx
      .insertInto('form_entries')
      .values({
        id: store.ids.uuid(),
        form_id: form.id,
        account_id: accountId,
        address: `waits.${address}`,
        email: `waits.${address}`,
        fields: '{}',
        consent: '{}',
        state: 'waiting',
        created_at: at,
        confirmed_at: null,
        expires_at: at + 600_000,
        remind_at: null,
      })
      .execute(),
  )
  Object.assign(ids, { form: form.id })
}

/** A test key's mail with the longest names, and what it became. */
async function fillTestInbox({ store, accountId, call, ids }: World) {
  const { key } = await createKey({ store, clock }, accountId, 'Tests', {
    limits: { scope: 'test' },
  })
  const mail = {
    from: `${'Somebody with a long name '.repeat(6)}<a@sender.test>`,
    to: [`t.${address}`],
    subject: `${long} `.repeat(6),
    html: `<p>${long.repeat(8)} <a href="https://${domain}/${'path/'.repeat(80)}">go</a></p>`,
  }
  const sent = await call('POST', '/v1/emails/send', { key, body: mail })
  if (sent.status !== 200) throw new Error(sent.text)
  for (let left = 200; ids.testMail === undefined && left > 0; left--) {
    const { json } = await call('GET', '/v1/inbox', { key })
    if (json.messages[0]?.checks) ids.testMail = json.messages[0].id
    else await pause(clock, 50)
  }
  if (ids.testMail !== undefined) return
  throw new Error((await call('GET', `/v1/emails/${sent.json.id}`, { key })).text)
}

async function fillAudience(world: World): Promise<void> {
  const { store, accountId, ids } = world
  const deps = { store, clock }
  const topic = await createTopic(deps, accountId, {
    name: 'T'.repeat(60),
    description: long.repeat(4),
  })
  const list = await createList(deps, accountId, `Readers of ${long}`)
  const choices = ['Lagos', 'Abuja', 'x'.repeat(80)]
  const described = { name: 'x'.repeat(40), label: 'Where '.repeat(13), choices } as const
  const field = await createContactField(deps, accountId, {
    ...described,
    type: 'choice',
    recipientsMayEdit: true,
  })
  ids.field = field.id
  for (const name of ['Offers', 'News']) await createTopic(deps, accountId, { name })
  for (let n = 10; n < 70; n++) {
    const email = `n${n}.${address}`
    await addContact(deps, accountId, { email, firstName: 'Ann' }, { listId: list.id })
    await store.write((tx) =>
      optOut(tx, accountId, { topicId: topic.id, address: email }, clock.now()),
    )
  }
  Object.assign(ids, { topic: topic.id, list: list.id, ...(await fillImports(world, list.id)) })
}

/** What is closed at first is looked at too. */
const openAll = async (page: Page) => {
  await page.evaluate(
    `document.querySelectorAll('main details').forEach((one) => { one.open = true })`,
  )
}

async function fillDeliveries({ store, accountId }: World, endpoint_id: string): Promise<void> {
  const outcomes = ['failed', 'delivered', 'dropped'] as const
  await store.write(async (tx) => {
    for (let n = 0; n < 60; n++) {
      const outcome = outcomes[n % 3] ?? 'failed'
      const isFailed = outcome !== 'delivered'
      await tx
        .insertInto('webhook_deliveries')
        .values({
          id: 900_000 + n,
          endpoint_id,
          account_id: accountId,
          event: 'email.complained',
          email_id: '01900000-0000-7000-8000-000000000000',
          attempts: 5,
          outcome,
          body: JSON.stringify({ event: 'email.complained', subject: 's'.repeat(900) }),
          status: isFailed ? null : 200,
          response: isFailed ? null : 'x'.repeat(4_000),
          error: isFailed ? `no answer within 10 s ${'cause '.repeat(60)}` : null,
          created_at: clock.now() - 100_000,
          ended_at: clock.now(),
        })
        .execute()
    }
  })
}

async function fillReports({ store }: World, domain_id: string): Promise<void> {
  const day = Math.floor(clock.now() / 86_400_000)
  await store.write(async (tx) => {
    for (let n = 0; n < 70; n++) {
      await tx
        .insertInto('dmarc_sources')
        .values({
          domain_id,
          day,
          source: `2001:db8:ffff:ffff:ffff:ffff:ffff:${n}`,
          proven: 1,
          reporter: `reporter.${domain}`,
          disposition: 'none',
          dkim: 0,
          spf: n % 2,
          forwarded: 0,
          messages: 1_000_000 - n,
          identifiers: '',
        })
        .execute()
    }
    await tx
      .insertInto('dmarc_reports')
      .values({
        domain_id,
        day,
        reporter: `reporter.${domain}`,
        proof: domain,
        report_id: '1',
        policy: 'none',
        begins_at: 1,
        ends_at: clock.now(),
        messages: 70,
      })
      .execute()
  })
}
