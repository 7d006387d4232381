// What is kept of a form longer than what was sent in: whose its mails are, and what was agreed to.
import { unzipSync } from 'fflate'
import { sql } from 'kysely'
import t from 'tap'
import { type Clock, dayMs, systemClock } from '../../src/clock/index.js'
import { consentHistory } from '../../src/consent/index.js'
import { findContact } from '../../src/contacts/index.js'
import { happeningText } from '../../src/dashboard/suppression/view.js'
import { downloadOf } from '../../src/erasure/index.js'
import type { MailEvent } from '../../src/events/index.js'
import { forgetEntries, makeFollowForms } from '../../src/forms/index.js'
import { databaseFile, migrateStore, queueClass } from '../../src/store/index.js'
import { formMails } from '../../src/store/migrations/0121-form-mails.js'
import type { Tables } from '../../src/store/schema/index.js'
import { openConnection } from '../../src/store/sqlite/connection.js'
import { kyselyOver } from '../../src/store/sqlite/driver.js'
import { eventually } from '../support/eventually.js'
import { fillIn, linkTo, makeForm, stampOf, startWithForms } from '../support/signup-forms.js'
import { makeTempDir } from '../support/store.js'

t.test('a form’s mails stay its own, and what was agreed to is shown', async (t) => {
  let movedMs = 0
  const clock: Clock = {
    now: () => Date.now() + movedMs,
    after: (ms, wake) => systemClock.after(ms === 60_000 ? 50 : ms, wake),
  }
  const posthorn = await startWithForms(t, clock)
  const { store, accountId } = posthorn
  const form = await makeForm(posthorn, { reminder: true })
  const send = (email: string, from: string) =>
    fillIn(posthorn, form.page, email, {
      from,
      stamp: stampOf(posthorn, form.page, 'https://shop.test/news', clock.now),
    })
  const mailsTo = async (email: string) => {
    const rows = await store.read.selectFrom('emails').select(['id', 'to_list']).execute()
    return rows.filter(({ to_list }) => to_list.includes(email)).map(({ id }) => id)
  }

  await t.test('form, version, page, network and times are in record and file', async (t) => {
    const email = 'ada@reader.test'
    const askedAt = clock.now()
    await send(email, '192.0.2.77')
    await fetch(await linkTo(posthorn, email), { method: 'POST' })
    const event = (await consentHistory(store.read, accountId, email)).at(-1)
    const shown = event && happeningText(event)
    t.match(
      shown,
      /on https:\/\/shop\.test\/news, from the network 192\.0\.2\.0, asked for \d+ s before – Form “Sign up”, version 1: I would like/,
    )
    t.notMatch(shown, '192.0.2.77', 'shortened')
    const pieces = []
    for await (const piece of downloadOf(store.read, accountId, email, clock.now()))
      pieces.push(piece)
    const files = unzipSync(Buffer.concat(pieces))
    const known = JSON.parse(Buffer.from(files['everything.json'] ?? []).toString('utf8'))
    const { at, detail } = known.consent.at(-1)
    t.match(detail, {
      formId: form.id,
      version: 1,
      page: 'https://shop.test/news',
      address: '192.0.2.0',
    })
    t.ok(detail.askedAt >= askedAt && Date.parse(at) >= detail.askedAt)
    const csv = Buffer.from(files['consent.csv'] ?? []).toString('utf8')
    for (const part of [form.id, 'https://shop.test/news', '192.0.2.0']) t.match(csv, part)
    t.ok(await findContact(store.read, accountId, email))
  })

  await t.test('what comes back after a reminder and 7 days is not the account’s', async (t) => {
    const email = 'waits@reader.test'
    await send(email, '192.0.3.1')
    movedMs += 2 * dayMs + 60_000
    await eventually(async () => (await mailsTo(email)).length === 2, 10_000)
    const mails = await mailsTo(email)
    movedMs += 8 * dayMs
    await forgetEntries({ store }, clock.now(), new AbortController().signal)
    const left = await store.read
      .selectFrom('form_entries')
      .select('id')
      .where('email', '=', email)
      .execute()
    t.same(left, [], 'what was sent in is gone')
    const heard: string[] = []
    const follow = makeFollowForms(async (_tx, events) => {
      heard.push(...events.map(({ emailId }) => emailId))
    })
    const back = (emailId: string, type: 'bounced' | 'complained'): MailEvent => ({
      accountId,
      emailId,
      deliveryId: null,
      recipient: email,
      class: queueClass.transactional,
      type,
      at: clock.now(),
      reply: null,
      detail: null,
    })
    const events = mails.flatMap((id) => [back(id, 'bounced'), back(id, 'complained')])
    const own = back('01a1fc92-0000-7000-8000-000000000000', 'complained')
    await store.write((tx) => follow(tx, [...events, own]))
    t.same(heard, [own.emailId], 'the account hears of its own alone')
    const tally = await store.read
      .selectFrom('form_days')
      .select(['bounces', 'complaints'])
      .where('form_id', '=', form.id)
      .where('bounces', '>', 0)
      .execute()
    t.same(tally, [{ bounces: 2, complaints: 2 }])
    movedMs += 91 * dayMs
    await forgetEntries({ store }, clock.now(), new AbortController().signal)
    t.same(await store.read.selectFrom('form_mails').selectAll().execute(), [])
  })
})

t.test('an older database keeps whose its mails are', async (t) => {
  const dataDir = makeTempDir(t)
  await migrateStore({ dataDir })
  const db = kyselyOver<Tables>(openConnection(databaseFile(dataDir), { busyTimeoutMs: 1_000 }))
  t.teardown(() => db.destroy())
  // As it was before.
  await db.schema.dropTable('form_mails').execute()
  await db.schema.alterTable('form_entries').addColumn('email_id', 'text').execute()
  await sql`create index form_entries_mail on form_entries (email_id) where email_id is not null`.execute(
    db,
  )
  const form = { id: 'f', account_id: 'a', public_id: 'p', name: 'F', settings: '{}', version: 1 }
  const open = { archived_at: null, careful_at: null, stopped_at: null, created_at: 1 }
  await sql`pragma foreign_keys = off`.execute(db)
  await db
    .insertInto('forms')
    .values({ ...form, ...open })
    .execute()
  for (const [id, emailId, at] of [
    ['1', 'm1', 5],
    ['2', null, 6],
    ['3', 'm3', 7],
  ] as const) {
    const entry = { id, form_id: 'f', account_id: 'a', address: 'x', email: 'x', fields: '{}' }
    const more = { consent: '{}', state: 'waiting', expires_at: 9, confirmed_at: null } as const
    await db
      .insertInto('form_entries')
      .values({ ...entry, ...more, created_at: at, remind_at: null })
      .execute()
    await sql`update form_entries set email_id = ${emailId} where id = ${id}`.execute(db)
  }
  await formMails.up(db)
  t.same(await db.selectFrom('form_mails').selectAll().orderBy('email_id').execute(), [
    { email_id: 'm1', form_id: 'f', sent_at: 5 },
    { email_id: 'm3', form_id: 'f', sent_at: 7 },
  ])
  t.equal((await db.selectFrom('form_entries').select('id').execute()).length, 3)
})
