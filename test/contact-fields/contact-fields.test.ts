import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import {
  createContactField,
  deleteContactField,
  type FieldType,
  listContactFields,
  moveContactField,
  nameFrom,
  typedValue,
  updateContactField,
} from '../../src/contact-fields/index.js'
import { ApiError } from '../../src/errors/index.js'
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
    account,
    stranger,
    create: (name: string, more: { type?: FieldType; choices?: string[] } = {}) =>
      createContactField(deps, account, { name, label: name, type: 'text', ...more }),
    names: async (of = account) =>
      (await listContactFields(store.read, of)).map(({ name }) => name),
  }
}

const codeOf = async (work: Promise<unknown>) =>
  await work.then(
    () => 'none',
    (error: unknown) => {
      if (!(error instanceof ApiError)) throw error
      return `${error.status} ${error.code} ${error.fields?.field ?? ''}`.trim()
    },
  )

t.test('what was typed is a value of its type, or none', (t) => {
  const value = (type: FieldType, typed: string) => typedValue({ type, choices: ['a b'] }, typed)
  t.same(
    ['12', '-3,5', '3.25', '1e3', '1234567890123456', '12345678.12345678', '٣'].map((one) =>
      value('number', one),
    ),
    [12, -3.5, 3.25, undefined, undefined, undefined, undefined],
  )
  t.same(
    ['2024-02-29', '2026-02-29', '2026-02-30', '1.2.2026', '2026-2-1'].map((one) =>
      value('date', one),
    ),
    ['2024-02-29', undefined, undefined, undefined, undefined],
  )
  t.same(
    ['a b', 'a', 'A B'].map((one) => value('choice', one)),
    ['a b', undefined, undefined],
  )
  t.same(
    ['<b>', 'x'.repeat(300), 'x'.repeat(301), 'a\nb', 'a\0', '\ud800'].map((one) =>
      value('text', one),
    ),
    ['<b>', 'x'.repeat(300), undefined, undefined, undefined, undefined],
  )
  t.equal(nameFrom('Favourite böok'), 'favouriteBook')
  t.match(nameFrom('名前'), /^field[0-9a-f]{8}$/)
  t.same(
    ['Größe', 'Żółw', 'GRØNT Æble', 'Email', 'empty', 'Unsubscribe URL', 'First name'].map(
      nameFrom,
    ),
    [
      'grosse',
      'zolw',
      'grontAeble',
      'emailField',
      'emptyField',
      'unsubscribeUrlField',
      'firstName',
    ],
  )
  t.end()
})

t.test('a name is once an account whatever its case; each account has its own', async (t) => {
  const { create, names, store, stranger, ...rest } = await open(t)
  await create('town')
  t.equal(await codeOf(create('TOWN')), '409 conflict')
  const theirs = { name: 'town', label: 'x', type: 'text' } as const
  const other = await createContactField({ store, clock: rest.clock }, stranger, theirs)
  for (const work of [
    updateContactField({ store }, rest.account, other.id, { label: 'mine' }),
    deleteContactField({ store }, rest.account, other.id),
    moveContactField({ store }, rest.account, 'nonsense', 'up'),
  ]) {
    t.equal(await codeOf(work), '404 not_found')
  }
  t.same([await names(), await names(stranger)], [['town'], ['town']])
})

t.test('a choice has something to choose from, and a name of the contact is a text', async (t) => {
  const { create, store, account } = await open(t)
  t.equal(await codeOf(create('size', { type: 'choice' })), '422 validation_error choices')
  t.equal(
    await codeOf(create('size', { type: 'choice', choices: [' '] })),
    '422 validation_error choices',
  )
  t.equal(await codeOf(create('firstName', { type: 'date' })), '422 validation_error type')
  const size = await create('size', { type: 'choice', choices: ['S', ' S', 'L'] })
  t.same(size.choices, ['S', 'L'])
  t.equal(
    await codeOf(updateContactField({ store }, account, size.id, { type: 'text' })),
    '422 validation_error choices',
    'its choices would be lost',
  )
  t.equal(await codeOf(create('hat', { choices: ['S'] })), '422 validation_error choices')
  const text = await updateContactField({ store }, account, size.id.toUpperCase(), {
    type: 'text',
    choices: [],
  })
  t.same([text.choices, text.label, text.name], [[], 'size', 'size'])
})

t.test('no two fields are called alike, and none as a merge tag that is there', async (t) => {
  const { store, clock, account, create } = await open(t)
  for (const name of [
    'email',
    'Empty',
    'nil',
    'contact',
    'metadata',
    'unsubscribeUrl',
    'view_url',
  ]) {
    t.equal(await codeOf(create(name)), '422 validation_error name', name)
  }
  const make = (name: string, label: string) =>
    createContactField({ store, clock }, account, { name, label, type: 'text' })
  const town = await make('town', 'Home town')
  const other = await make('other', 'Other')
  const same = updateContactField({ store }, account, other.id, { label: 'home TOWN ' })
  t.equal(await codeOf(same), '422 validation_error label')
  t.equal(await codeOf(make('third', ' HOME town')), '422 validation_error label')
  t.equal(await codeOf(make('third', 'a\u202eb')), '422 validation_error label')
  const own = await updateContactField({ store }, account, town.id, { label: 'Home Town' })
  t.equal(own.label, 'Home Town', 'its own is no other one')
  await make('firstName', 'First name')
})

t.test('fields are moved, one place at a time, and there is a most', async (t) => {
  const { create, names, store, account } = await open(t)
  const [a, , c] = [await create('a'), await create('b'), await create('c')]
  await moveContactField({ store }, account, c.id, 'up')
  t.same(await names(), ['a', 'c', 'b'])
  await moveContactField({ store }, account, a.id, 'up')
  t.same(await names(), ['a', 'c', 'b'], 'the first one stays')
  await deleteContactField({ store }, account, a.id)
  for (let n = 2; n < 50; n++) await create(`f${n}`)
  t.equal((await names()).length, 50)
  t.equal(await codeOf(create('more')), '403 plan_limit_exceeded')
})
