import t from 'tap'
import { attachmentsOf } from '../../src/contents/index.js'
import { readEmail } from '../../src/emails/index.js'
import { countBodies, countNextBodies } from '../../src/retention/index.js'
import { day, type MailLog, openMailLog } from '../support/mail-log.js'

const bodyOf = async ({ store }: MailLog, id = '') =>
  await store.read
    .selectFrom('emails')
    .leftJoin('bodies', 'bodies.id', 'body_id')
    .select(['body_id', 'html', 'text', 'attachments'])
    .where('emails.id', '=', id)
    .executeTakeFirstOrThrow()

t.test('equal bodies of an account become one, with their files', async (t) => {
  const log = await openMailLog(t)
  const file = Buffer.alloc(100_000, 'f')
  const [a] = await log.accept([{ html: 'same', files: [file] }])
  const [b, c] = await log.accept([
    { html: 'same', files: [file] },
    { html: 'same', files: [file] },
  ])
  const [d] = await log.accept([{ html: 'same', text: 'another', files: [file] }])
  const [e] = await log.accept([{ html: 'same' }])
  t.equal(await log.rows('bodies'), 4)
  await log.countBodies()
  t.equal(await log.rows('bodies'), 3)
  const { body_id: kept, html, attachments } = await bodyOf(log, a)
  t.equal(html, 'same')
  t.equal((await bodyOf(log, b)).body_id, kept)
  t.equal((await bodyOf(log, c)).body_id, kept)
  t.equal((await bodyOf(log, d)).text, 'another')
  t.equal((await bodyOf(log, e)).attachments, null)
  const [content] = await log.store.read.selectFrom('contents').selectAll().execute()
  t.equal(content?.uses, 2, 'one of each body that is left')
  t.equal(attachmentsOf(attachments)?.[0]?.content, content?.id)
  // Later ones find it too, and nothing is counted twice.
  const [f] = await log.accept([{ html: 'same', files: [file] }])
  await log.countBodies()
  await log.countBodies()
  t.equal((await bodyOf(log, f)).body_id, kept)
  const uses = await log.store.read
    .selectFrom('body_uses')
    .select('uses')
    .where('body_id', '=', kept ?? 0)
    .executeTakeFirst()
  t.equal(uses?.uses, 4)
})

t.test('accounts share nothing', async (t) => {
  const log = await openMailLog(t)
  const { createAccount } = await import('../../src/accounts/index.js')
  const other = await createAccount(log, 'Other')
  const [a] = await log.accept([{ html: 'same' }])
  const [b] = await log.accept([{ html: 'same' }], other.id)
  await log.countBodies()
  t.not((await bodyOf(log, a)).body_id, (await bodyOf(log, b)).body_id)
})

t.test('a batch at the end of a slice loses no body', async (t) => {
  const log = await openMailLog(t)
  // All at one moment: no slice can tell where a request ends.
  await log.accept([{ html: 'x' }])
  for (let n = 0; n < 8; n++) {
    await log.accept(
      Array.from({ length: 100 }, (_, i) => ({
        html: i % 2 ? 'x' : `y${n}`,
        to: [`r${i}@one.test`],
      })),
    )
  }
  await log.countBodies()
  const lost = await log.store.read
    .selectFrom('emails')
    .leftJoin('bodies', 'bodies.id', 'body_id')
    .select('emails.id')
    .where('bodies.id', 'is', null)
    .execute()
  t.same(lost, [])
  const { counted } = await log.store.read
    .selectFrom('body_uses')
    .select(({ fn }) => fn.sum<number>('uses').as('counted'))
    .executeTakeFirstOrThrow()
  t.equal(counted, 801)
})

t.test('a body goes with the last mail that has it, and the mail says so', async (t) => {
  const log = await openMailLog(t, { plan: 'Unlimited' })
  const { clock, store, accountId } = log
  const [old = ''] = await log.accept([{ html: 'same', files: [Buffer.from('f')] }])
  await log.deliver()
  await clock.advance(20 * day)
  const [young = ''] = await log.accept([{ html: 'same', files: [Buffer.from('f')] }])
  await log.deliver(() => 'deferred')
  await clock.advance(60_000)
  await log.deliver()
  t.equal((await readEmail(store.read, accountId, old)).contentDeleted, false)
  await clock.advance(11 * day)
  await log.accept([{ html: 'newest' }])
  await log.run()
  t.equal((await bodyOf(log, old)).body_id, null)
  const shown = await readEmail(store.read, accountId, old)
  t.match(shown, { contentDeleted: true, attachments: [], status: 'delivered' })
  t.equal((await bodyOf(log, young)).html, 'same', 'a younger mail has it')
  const transcripts = async () =>
    (await store.read.selectFrom('deliveries').select('transcript').orderBy('id').execute()).map(
      ({ transcript }) => transcript,
    )
  t.same(await transcripts(), [null, 'C: QUIT'])
  t.equal(await log.rows('deferred_transcripts'), 1, 'of the attempt that was put off')
  for (let days = 0; days < 20; days += 5) {
    await clock.advance(5 * day)
    await log.run()
  }
  t.equal((await bodyOf(log, young)).body_id, null)
  t.equal(await log.rows('bodies'), 1)
  t.equal(await log.rows('contents'), 0)
  t.equal(await log.rows('deferred_transcripts'), 0)
  t.equal((await log.mails()).length, 3, 'the mails themselves are kept longer')
})

t.test('the content of a campaign stays while a mail or the campaign needs it', async (t) => {
  const log = await openMailLog(t, { plan: 'Unlimited' })
  const { clock, campaigns } = log
  await campaigns.addMany(3)
  const campaign = await campaigns.create()
  const draft = await campaigns.create({ html: '<p>draft</p>' }, { draft: true })
  await campaigns.expand()
  await log.deliver((to) => (to.startsWith('p0') ? 'deferred' : 'delivered'))
  for (let days = 0; days < 35; days += 5) {
    await clock.advance(5 * day)
    await log.run()
  }
  t.equal(await log.rows('bodies'), 2, 'one of its mails waits')
  await log.deliver()
  await log.accept([{ html: 'newest' }])
  await log.run()
  t.equal(await log.rows('bodies'), 3, 'it has ended just now')
  for (let days = 0; days < 35; days += 5) {
    await clock.advance(5 * day)
    await log.run()
  }
  const left = await log.store.read.selectFrom('bodies').select('html').execute()
  t.same(left.map(({ html }) => html).sort(), ['<p>draft</p>', 'newest'])
  t.match(await campaigns.find(campaign.id), { delivered: 3, recipients: 3, status: 'sent' })
  t.equal((await campaigns.find(draft.id)).status, 'draft')
})

t.test('counting reads no body twice and stops at the end', async (t) => {
  const log = await openMailLog(t)
  await log.accept([{}])
  t.match(await countNextBodies(log.retention), { more: false, merged: 0 })
  t.match(await countNextBodies(log.retention), { more: false, merged: 0 })
  t.equal(await log.rows('body_uses'), 1)
})

t.test(
  'counting ends while mail keeps coming, and a wait for the turn is no work to rest from',
  async (t) => {
    const log = await openMailLog(t)
    const mails = (count: number) => Array.from({ length: count }, (_, n) => ({ html: `${n}` }))
    await log.accept(mails(250))
    const stop = new AbortController()
    const rests: number[] = []
    let slices = 0
    const store: typeof log.store = {
      ...log.store,
      async write(work) {
        // As under load: the turn comes late, and more mails have come before it than a slice counts.
        await log.accept(mails(400))
        await log.clock.advance(5_000)
        if (++slices > 5) stop.abort()
        return await log.store.write(work)
      },
    }
    const clock = {
      now: () => log.clock.now(),
      after(ms: number, wake: () => void) {
        rests.push(ms)
        setImmediate(wake)
        return () => {}
      },
    }
    await countBodies({ ...log.retention, store, clock }, stop.signal)
    t.notOk(stop.signal.aborted, 'it ends by itself')
    t.ok(rests.length > 0)
    t.ok(rests.every((ms) => ms < 1_000))
  },
)
