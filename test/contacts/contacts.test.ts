import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { addContact, findByPhone, findContact, toE164 } from '../../src/contacts/index.js'
import { lift, suppress } from '../../src/suppression/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

async function open(t: Test) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const deps = { store, clock }
  const { id: account } = await createAccount(deps, 'One')
  const { id: stranger } = await createAccount(deps, 'Two')
  return {
    ...deps,
    read: store.read,
    account,
    stranger,
    add: (email: string, phone?: string, owner = account) =>
      addContact(deps, owner, { email, phone: phone && toE164(phone, 'NG') }),
    byPhone: async (phone: string, owner = account) =>
      (await findByPhone(store.read, owner, phone, 'NG')).email,
  }
}

t.test('one number in the ways in which networks write it', async (t) => {
  for (const raw of [
    '08031234567',
    '0803 123 4567',
    '803-123-4567',
    '2348031234567',
    '+2348031234567',
    '+234 (803) 1234567',
    '0092348031234567',
    '٠٨٠٣١٢٣٤٥٦٧',
    ' +2348031234567 ',
  ]) {
    t.equal(toE164(raw, 'NG'), '+2348031234567', raw)
  }
  t.equal(toE164('+1 415 555 2671', 'NG'), '+14155552671')
  t.equal(toE164('(415) 555-2671', 'US'), '+14155552671')
  t.equal(toE164('4915112345678', 'NG'), '+4915112345678', 'an export that leaves the + out')
  t.equal(toE164('12345678901234', 'NG'), undefined, 'nobody has more than 15 digits')
  for (const raw of ['', '+', '12', '+23480', 'ada@x.test', 'call 08031234567', '1'.repeat(70)]) {
    t.equal(toE164(raw, 'NG'), undefined, raw)
  }
  t.equal(toE164('08031234567', 'XX'), undefined, 'without a country only international ones')
  t.equal(toE164('+2348031234567', 'XX'), '+2348031234567')
})

t.test('a number finds the contact of the account that was added last', async (t) => {
  const contacts = await open(t)
  await contacts.add('first@x.test', '08031234567')
  await contacts.clock.advance(1)
  await contacts.add('last@x.test', '+234 803 123 4567')
  await contacts.clock.advance(1)
  await contacts.add('other@x.test', '08031234567', contacts.stranger)
  await contacts.add('FIRST@x.test', '08031234567')
  t.equal(await contacts.byPhone('2348031234567'), 'last@x.test')
  t.equal(await contacts.byPhone('08031234567', contacts.stranger), 'other@x.test')
  for (const phone of ['08031234568', 'nonsense', '']) {
    await t.rejects(contacts.byPhone(phone), { code: 'not_found', status: 404 })
  }
})

t.test('an address is one contact, whose given fields are updated', async (t) => {
  const contacts = await open(t)
  const { contact, added } = await addContact(contacts, contacts.account, {
    email: 'Ada <Ada@X.Test>',
    firstName: 'Ada',
    metadata: { town: 'Lagos' },
  })
  t.equal(added, true)
  t.same(contact, {
    id: contact.id,
    email: 'Ada@x.test',
    firstName: 'Ada',
    lastName: null,
    phone: null,
    metadata: { town: 'Lagos' },
    unsubscribedAt: null,
    createdAt: contacts.clock.now(),
  })
  await contacts.clock.advance(1_000)
  const again = await addContact(contacts, contacts.account, {
    email: 'ada@x.test',
    lastName: 'Obi',
    phone: '+2348031234567',
  })
  const updated = { ...contact, lastName: 'Obi', phone: '+2348031234567' }
  t.same(again, { contact: updated, added: false, joined: false })
  t.same(await findContact(contacts.read, contacts.account, 'ADA@X.TEST'), updated)
  t.equal(await findContact(contacts.read, contacts.stranger, 'ada@x.test'), undefined)
  await t.rejects(contacts.add('no address'), { code: 'validation_error' })
})

t.test('who unsubscribed stays so when added again, or for the first time', async (t) => {
  const contacts = await open(t)
  const { account, stranger, clock, store } = contacts
  await contacts.add('ada@x.test')
  const at = clock.now()
  for (const email of ['ADA@x.test', 'Gone@x.test']) {
    await store.write((tx) => suppress(tx, account, { email, reason: 'unsubscribe' }, at))
  }
  await store.write((tx) => suppress(tx, account, { email: 'dead@x.test', reason: 'bounce' }, at))
  await clock.advance(1_000)
  t.equal((await contacts.add('ada@x.test')).contact.unsubscribedAt, at)
  t.equal((await contacts.add('gone@X.test')).contact.unsubscribedAt, at)
  t.equal((await contacts.add('dead@x.test')).contact.unsubscribedAt, null, 'a bounce is no wish')
  const other = await contacts.add('ada@x.test', undefined, stranger)
  t.equal(other.contact.unsubscribedAt, null, 'of another account')
  await store.write((tx) => lift(tx, account, 'ada@x.test', { by: 'recipient', at: 1 }))
  t.equal((await contacts.add('ada@x.test')).contact.unsubscribedAt, null)
})
