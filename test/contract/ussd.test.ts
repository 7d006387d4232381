// interface.md: POST /v1/emails/ussd.
import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { addContact, toE164 } from '../../src/contacts/index.js'
import { startPosthorn } from '../support/posthorn.js'

const posthorn = await startPosthorn(t)
const good = { from: 'a@sender.test', subject: 'Your balance', html: '<p>12</p>' }
const ussd = (body: object, key = posthorn.apiKey) =>
  posthorn.call('POST', '/v1/emails/ussd', { body, key })
const add = (email: string, phone: string) =>
  addContact({ store: posthorn.store, clock: systemClock }, posthorn.accountId, {
    email,
    phone: toE164(phone, 'NG'),
  })

t.test('200: { queued: true, ref }, by phone number or by address', async (t) => {
  await add('ada@example.com', '+234 803 123 4567')
  for (const to of [
    { phoneNumber: '08031234567' },
    { phoneNumber: '+2348031234567' },
    { to: 'ada@example.com' },
  ]) {
    const { status, json } = await ussd({ ...good, ...to, metadata: { ussd: { session: 1 } } })
    t.equal(status, 200)
    t.same(Object.keys(json), ['queued', 'ref'])
    t.equal(json.queued, true)
    const email = await posthorn.until(json.ref, (e) => e.status === 'delivered')
    t.match(email, {
      to: 'ada@example.com',
      type: 'transactional',
      metadata: { ussd: { session: 1 } },
    })
  }
})

t.test('several contacts with the number: the latest added', async (t) => {
  await add('first@example.com', '08099999999')
  await new Promise((resolve) => setTimeout(resolve, 5))
  await add('second@example.com', '08099999999')
  const { json } = await ussd({ ...good, phoneNumber: '08099999999' })
  t.equal((await posthorn.email(json.ref)).to, 'second@example.com')
})

t.test('a number that matches no contact, of another account, or is none: 404', async (t) => {
  const other = await posthorn.addAccount('Other')
  for (const phoneNumber of ['08030000000', 'nonsense', '+1', '9'.repeat(1_000)]) {
    t.match(await ussd({ ...good, phoneNumber }), {
      status: 404,
      json: { code: 'not_found', error: String },
    })
  }
  const foreign = await ussd({ ...good, phoneNumber: '08031234567' }, other.apiKey)
  t.match(foreign, { status: 404, json: { code: 'not_found' } })
})

t.test('neither number nor address, or a wrong field: 400', async (t) => {
  const cases: [string, object][] = [
    ['to', good],
    ['to', { ...good, to: ['a@b.test'] }],
    ['phoneNumber', { ...good, phoneNumber: 8031234567 }],
    ['html', { ...good, to: 'a@b.test', html: undefined }],
    ['subject', { ...good, to: 'a@b.test', subject: '' }],
  ]
  for (const [path, body] of cases) {
    const { status, json } = await ussd(body)
    t.equal(status, 400)
    t.same(json.error.issues[0].path, [path])
  }
  t.match(await ussd({ ...good, from: 'x@other.test', to: 'a@b.test' }), {
    status: 400,
    json: { code: 'domain_not_verified' },
  })
})
