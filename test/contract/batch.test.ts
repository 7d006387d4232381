// interface.md: POST /v1/emails/batch.
import t from 'tap'
import { startPosthorn } from '../support/posthorn.js'

const posthorn = await startPosthorn(t)
const mail = (i: number) => ({
  from: 'a@sender.test',
  to: `r${i}@example.com`,
  subject: `Mail ${i}`,
  html: `<p>${i}</p>`,
})
const batch = (emails: unknown) => posthorn.call('POST', '/v1/emails/batch', { body: { emails } })
const stored = async () =>
  (await posthorn.store.read.selectFrom('emails').select('id').execute()).length

t.test('200: { queued, ids }, ids in input order, each mail its own', async (t) => {
  const { status, json } = await batch(Array.from({ length: 100 }, (_, i) => mail(i)))
  t.equal(status, 200)
  t.same(Object.keys(json), ['queued', 'ids'])
  t.equal(json.queued, 100)
  for (const i of [0, 1, 57, 99]) {
    t.match(await posthorn.email(json.ids[i]), { subject: `Mail ${i}`, to: `r${i}@example.com` })
  }
  await posthorn.until(json.ids[99], (email) => email.status === 'delivered')
})

t.test('equal contents are stored once', async (t) => {
  const { json } = await batch([mail(1), { ...mail(1), to: 'other@example.com' }, mail(2)])
  const rows = await posthorn.store.read
    .selectFrom('emails')
    .select('body_id')
    .where('id', 'in', json.ids)
    .execute()
  t.equal(new Set(rows.map((row) => row.body_id)).size, 2)
})

t.test(
  'any invalid item: 422 { error, errors: [{ index, error }] } with every one; nothing queued',
  async (t) => {
    const before = await stored()
    const emails: unknown[] = [
      mail(0),
      { ...mail(1), subject: '' },
      mail(2),
      { ...mail(3), from: 'a@other.test' },
      7,
      { ...mail(5), to: Array.from({ length: 51 }, (_, i) => `r${i}@x.test`) },
      { ...mail(6), scheduledAt: 'soon' },
      null,
      {},
      { toString: 1 },
    ]
    const { status, json } = await batch(emails)
    t.equal(status, 422)
    t.match(json, { code: 'validation_error', error: /8 of 10/ })
    t.same(
      json.errors.map((e: { index: number }) => e.index),
      [1, 3, 4, 5, 6, 7, 8, 9],
    )
    t.match(json.errors[0].error, /^subject: Expected /)
    t.match(json.errors[1].error, /other\.test/)
    t.equal(await stored(), before)
  },
)

t.test('not 1 to 100 items: 400 with the raw structure', async (t) => {
  for (const emails of [
    undefined,
    null,
    {},
    'x',
    [],
    Array.from({ length: 101 }, (_, i) => mail(i)),
  ]) {
    const { status, json } = await batch(emails)
    t.match(
      { status, json },
      { status: 400, json: { success: false, error: { name: 'StructError' } } },
    )
    t.same(json.error.issues[0].path, ['emails'])
  }
})

t.test('scheduled items wait for their time', async (t) => {
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
  const { json } = await batch([{ ...mail(0), scheduledAt }, mail(1)])
  t.equal((await posthorn.email(json.ids[0])).status, 'scheduled')
  await posthorn.until(json.ids[1], (email) => email.status === 'delivered')
})
