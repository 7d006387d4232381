// Issue 39 B6: drafts and versions that nobody needs any more.
import t from 'tap'
import { storedBytesOf } from '../../src/contents/index.js'
import { deleteTemplate, listVersions } from '../../src/templates/index.js'
import { saveNext } from '../../src/templates/template.js'
import { day, openMailLog } from '../support/mail-log.js'

t.test('old versions of a template go, and the newest ten stay', async (t) => {
  const log = await openMailLog(t, { plan: 'Unlimited' })
  const { store, clock, accountId } = log
  const held = () => storedBytesOf(store.read, accountId)
  const before = await held()
  const save = (slug: string, n: number) =>
    saveNext({ store, clock }, accountId, async () => ({
      slug,
      subject: 'Grüße',
      html: `<p>${n}</p>`.padEnd(1_000, ' '),
      textBody: 'é',
    }))
  for (let n = 1; n <= 15; n++) await save('often', n)
  for (let n = 1; n <= 3; n++) await save('seldom', n)
  const each = 1_000 + Buffer.byteLength('Grüße') + Buffer.byteLength('é')
  t.equal(await held(), before + 18 * each)
  for (let days = 0; days < 366; days += 6) await clock.advance(6 * day)
  await save('often', 16)
  // A clock that was set forward takes only a week at once, so the runs before are counted.
  await store.write((tx) =>
    tx.updateTable('retention_state').set({ ran_at: clock.now() }).execute(),
  )
  const { figures } = await log.run()
  t.equal(figures.versions, 6)
  const versions = async (slug: string) =>
    (await listVersions(store.read, accountId, slug)).map(({ version }) => version)
  t.same(await versions('often'), [16, 15, 14, 13, 12, 11, 10, 9, 8, 7])
  t.same(await versions('seldom'), [3, 2, 1])
  t.equal(await held(), before + 13 * each)
  await deleteTemplate({ store }, accountId, 'often')
  await deleteTemplate({ store }, accountId, 'seldom')
  t.equal(await held(), before)
})

t.test('a draft that nobody changes is cancelled, and its content goes', async (t) => {
  const log = await openMailLog(t, { plan: 'Unlimited' })
  const { store, clock, accountId, campaigns } = log
  const { retention } = log
  const domain = await store.read.selectFrom('domains').select('id').executeTakeFirstOrThrow()
  const html = 'x'.repeat(5_000)
  const draft = async (changed_at: number | null) => {
    const id = store.ids.uuid()
    const body_id = store.ids.serial()
    await store.write(async (tx) => {
      await tx
        .insertInto('bodies')
        .values({ id: body_id, html, text: null, attachments: null })
        .execute()
      await tx
        .insertInto('broadcasts')
        .values({
          id,
          account_id: accountId,
          list_id: id,
          topic_id: null,
          name: null,
          changed_at,
          domain_id: domain.id,
          from_header: 'a@sender.test',
          reply_to: null,
          subject: 's',
          body_id,
          status: 'draft',
          reason: null,
          paused_by: null,
          scheduled_at: null,
          created_at: clock.now(),
          sent_at: null,
          ended_at: null,
          audience: 0,
          cursor: '',
          expanded: 0,
          expanded_at: null,
          recipients: 0,
          waiting: 0,
          delivered: 0,
          relayed: 0,
          bounced: 0,
          failed: 0,
          suppressed: 0,
          cancelled: 0,
          opened: 0,
          clicked: 0,
          extras: null,
        })
        .execute()
    })
    return id
  }
  t.ok(campaigns)
  const old = await draft(null)
  const changed = await draft(clock.now() + 300 * day)
  const status = async () => {
    const rows = await store.read.selectFrom('broadcasts').select(['id', 'status']).execute()
    return Object.fromEntries(rows.map((row) => [row.id, row.status]))
  }
  const runAfter = async (days: number) => {
    await clock.advance(days * day)
    await store.write((tx) =>
      tx.updateTable('retention_state').set({ ran_at: clock.now() }).execute(),
    )
    return await log.run({ ages: retention.ages })
  }
  await runAfter(364)
  t.match(await status(), { [old]: 'draft', [changed]: 'draft' })
  const { figures } = await runAfter(2)
  t.equal(figures.drafts, 1)
  t.match(await status(), { [old]: 'cancelled', [changed]: 'draft' })
  t.equal(await log.rows('bodies'), 2)
  await runAfter(31)
  t.equal(await log.rows('bodies'), 1, 'with the age of bodies')
})
