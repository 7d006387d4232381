import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import * as operations from '../../src/accounts/contract.js'
import {
  createAccount,
  createKey,
  deleteKey,
  findAccount,
  listAccounts,
  listKeys,
  makeAuthenticate,
} from '../../src/accounts/index.js'
import { ApiError, OperatorError } from '../../src/errors/index.js'
import { FakeClock } from '../support/clock.js'
import { countStatements } from '../support/statements.js'
import { openTestStore } from '../support/store.js'

async function open(t: Test) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  return { store, clock, read: store.read }
}

async function openWithKey(t: Test) {
  const deps = await open(t)
  const account = await createAccount(deps, 'City')
  const { id, key } = await createKey(deps, account.id, 'web')
  return { ...deps, deps, account, id, key, authenticate: makeAuthenticate(deps) }
}

/** The code of the refusal; the sentence is always the same. */
async function refusal(answer: Promise<unknown>): Promise<string> {
  try {
    await answer
  } catch (error) {
    if (error instanceof ApiError && error.message === 'Unauthorized' && error.status === 401) {
      return error.code
    }
    throw error
  }
  return 'let in'
}

t.test('an account is found by its id in any case and by its exact name', async (t) => {
  const deps = await open(t)
  const made = await createAccount(deps, '  City library ')
  t.same(made, { id: made.id, name: 'City library', createdAt: deps.clock.now() })
  t.match(made.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  for (const name of [made.id, made.id.toUpperCase(), 'City library']) {
    t.same(await findAccount(deps.read, name), made)
  }
  for (const name of ['city library', 'City', '', '%']) {
    await t.rejects(findAccount(deps.read, name), OperatorError, `"${name}"`)
  }
  await deps.clock.advance(1)
  const second = await createAccount(deps, 'Théâtre 劇場')
  t.same(await listAccounts(deps.read), [made, second], 'the oldest first')
})

t.test('a name that is empty, too long, taken or hard to see is refused', async (t) => {
  const deps = await open(t)
  await createAccount(deps, 'a'.repeat(100))
  for (const name of ['', '  ', 'a'.repeat(101), 'a\nb', 'a\u0007', 'a\u0000']) {
    await t.rejects(createAccount(deps, name), { message: /1 to 100 characters/ })
  }
  await t.rejects(createAccount(deps, ` ${'a'.repeat(100)}`), { message: /already/ })
  t.equal((await listAccounts(deps.read)).length, 1)
})

t.test('a key is shown once; of it the database has a hash and four characters', async (t) => {
  const { deps, read, store, account, id, key } = await openWithKey(t)
  t.match(key, /^ph_[A-Za-z0-9_-]{43}$/)
  await deps.clock.advance(1)
  const { key: other, last4 } = await createKey(deps, account.id, ' shop ')
  t.not(other, key)
  t.equal(last4, other.slice(-4))
  t.match(await listKeys(read, account.id), [
    { id, name: 'web', last4: key.slice(-4), createdAt: deps.clock.now() - 1, lastUsedAt: null },
    { name: 'shop' },
  ])
  const rows = await store.read.selectFrom('api_keys').selectAll().execute()
  for (const row of rows) {
    t.equal(row.hash.length, 32)
    t.notOk(JSON.stringify({ ...row, hash: row.hash.toString('latin1') }).includes(key.slice(3)))
  }
  const { body } = operations.createKey.shape
  for (const name of ['', ' ', 'a'.repeat(101), 'a\tb'])
    t.notOk(body?.is({ name }), JSON.stringify(name))
})

t.test('an account lists and deletes its own keys alone', async (t) => {
  const { deps, read, account, id, key, authenticate } = await openWithKey(t)
  const stranger = await createAccount(deps, 'Stranger')
  t.same(await listKeys(read, stranger.id), [])
  await t.rejects(deleteKey(deps, stranger.id, id), { message: /The account has no key/ })
  t.match(await authenticate(`Bearer ${key}`), { accountId: account.id, keyId: id, scope: 'full' })

  await deleteKey(deps, account.id, id.toUpperCase())
  t.equal(await refusal(authenticate(`Bearer ${key}`)), 'invalid_api_key', 'on the next request')
  t.same(await listKeys(read, account.id), [])
  await t.rejects(deleteKey(deps, account.id, id), { message: /The account has no key/ })
})

t.test(
  'requests of one turn share one look at their key, and those of the next do not',
  async (t) => {
    const { store, key, authenticate } = await openWithKey(t)
    const counts = countStatements(t)
    const looks = () =>
      [...counts].reduce(
        (sum, [text, times]) => sum + (/^select .*"api_keys"/.test(text) ? times : 0),
        0,
      )
    const [one, two] = await Promise.all([
      authenticate(`Bearer ${key}`),
      authenticate(`bearer ${key}`),
    ])
    t.equal(looks(), 1)
    t.same({ ...one, address: null }, { ...two, address: null })
    // That it was used has been written by then, which ends what is remembered.
    await store.write(async () => {})
    const next = await authenticate(`Bearer ${key}`)
    t.equal(looks(), 2)
    t.same({ ...next, address: null }, { ...one, address: null })
  },
)

t.test('only a whole key in a Bearer header is let in', async (t) => {
  const { account, id, key, authenticate } = await openWithKey(t)
  for (const header of [`Bearer ${key}`, `bearer  ${key}`, `BEARER ${key} `]) {
    t.match(await authenticate(header), { accountId: account.id, keyId: id }, header)
  }
  t.equal(await refusal(authenticate(undefined)), 'missing_api_key')
  for (const header of [
    '',
    ' ',
    'Bearer',
    'Bearer ',
    key,
    `Basic ${key}`,
    `Bearer${key}`,
    `Bearer\t${key}`,
    `Bearer ${key} ${key}`,
    `Bearer ${key.slice(0, -1)}`,
    `Bearer ${key}A`,
    `Bearer "${key}"`,
    `Bearer ${key.slice(3)}`,
    `Bearer PH_${key.slice(3)}`,
    `Bearer ph_${'A'.repeat(43)}`,
    "Bearer ph_' OR 1=1 --",
    'Bearer ph_%',
    `Bearer ${'x'.repeat(100_000)}`,
    'Bearer \u0000',
    `Bearer ${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`,
  ]) {
    t.equal(await refusal(authenticate(header)), 'invalid_api_key', header.slice(0, 80))
  }
})

t.test('the last use is noted at most once a minute, and no request waits for it', async (t) => {
  const { store, clock, read, account, key } = await openWithKey(t)
  let writes = 0
  const counted: typeof store = {
    ...store,
    write: (work) => {
      writes++
      return store.write(work)
    },
  }
  const authenticate = makeAuthenticate({ store: counted, clock })
  const lastUsed = async () => {
    await store.write(async () => {}) // after whatever was handed in before
    return (await listKeys(read, account.id))[0]?.lastUsedAt
  }
  const first = clock.now()
  for (let i = 0; i < 5; i++) await authenticate(`Bearer ${key}`)
  t.equal(await lastUsed(), first)
  await clock.advance(59_999)
  await authenticate(`Bearer ${key}`)
  t.equal(writes, 1)
  await clock.advance(1)
  await authenticate(`Bearer ${key}`)
  t.equal(await lastUsed(), first + 60_000)
  t.equal(writes, 2)
  await refusal(authenticate('Bearer ph_'))
  t.equal(writes, 2, 'who is refused writes nothing')
})

t.test('a note that cannot be written fails no request and is tried again', async (t) => {
  const { store, clock, account, id, key } = await openWithKey(t)
  let tries = 0
  const full: typeof store = {
    ...store,
    write: () => {
      tries++
      return Promise.reject(new Error('database or disk is full'))
    },
  }
  const authenticate = makeAuthenticate({ store: full, clock })
  for (let i = 0; i < 2; i++) {
    t.match(await authenticate(`Bearer ${key}`), {
      accountId: account.id,
      keyId: id,
      scope: 'full',
    })
    await setImmediate()
  }
  t.equal(tries, 2)
})
