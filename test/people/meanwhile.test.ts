// What is checked for a third of a second, while the person's password, factor or state changes.
import { scryptSync } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import t, { type Test } from 'tap'
import {
  type Derive,
  disablePerson,
  makePasswords,
  resetPassword,
  resetPerson,
} from '../../src/people/index.js'
import { startPeople } from '../support/people.js'
import { firstOperator, goodPassword, openBrowser } from '../support/visitor.js'

const credentials = { email: 'olga@example.test', password: goodPassword }
const newPassword = 'nine small boats at dusk'

/** Somebody who is logged in; `held` keeps each scrypt of the old password waiting, once it is called. */
async function start(t: Test) {
  let release = () => {}
  let called = () => {}
  let gate: Promise<void> | undefined
  const derive: Derive = async (password, salt, bytes) => {
    if (gate !== undefined && password === goodPassword) {
      called()
      await gate
    }
    return scryptSync(password, salt, bytes, { N: 2, r: 1, p: 1 })
  }
  const started = await startPeople(t, { derive })
  const browser = await firstOperator(t, started, started.clock)
  const user = await started.store.read.selectFrom('users').selectAll().executeTakeFirstOrThrow()
  return {
    ...started,
    browser,
    user,
    /** Resolves when the check of `work` has begun; its result comes after `goOn`. */
    async held<T>(work: () => Promise<T>) {
      gate = new Promise((resolve) => {
        release = resolve
      })
      const begun = new Promise<void>((resolve) => {
        called = resolve
      })
      const result = work()
      await begun
      return {
        goOn: () => {
          gate = undefined
          release()
          return result
        },
      }
    },
    async reset(password = newPassword) {
      const { path } = await resetPerson(started.people, user.id, { withFactors: false })
      const visitor = { clientAddressKey: '203.0.113.0/24', agent: '' }
      // With a line of its own: in the appliance's it may stand before what is held here.
      const people = { ...started.people, passwords: makePasswords(derive) }
      const given = { password, keepsPasskeys: true, visitor }
      await resetPassword(people, path.split('/').at(-1) ?? '', given)
    },
  }
}

const sessions = (store: Awaited<ReturnType<typeof start>>['store']) =>
  store.read.selectFrom('sessions').select(['id', 'state']).execute()

t.test('a log-in with the old password that outlasts a reset opens nothing', async (t) => {
  const { held, reset, url, store } = await start(t)
  const thief = openBrowser(url)
  const { goOn } = await held(() => thief.post('/login', credentials))
  await reset()
  const entered = await goOn()
  t.equal(entered.status, 422)
  t.match(entered.text, /The address or the password is wrong/)
  t.same(await sessions(store), [])
  const owner = openBrowser(url)
  t.equal((await owner.post('/login', { ...credentials, password: newPassword })).status, 303)
})

t.test('a second factor that was added meanwhile is not passed by', async (t) => {
  const { held, browser, clock, url, store } = await start(t)
  const thief = openBrowser(url)
  const { goOn } = await held(() => thief.post('/login', credentials))
  const { text } = await browser.get('/me/totp')
  const [, secret = ''] = /name="secret" value="([A-Z2-7]{32})"/.exec(text) ?? []
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: clock.now() })
  t.equal((await browser.post('/me/totp', { secret, code })).status, 200)
  t.equal((await goOn()).status, 422)
  t.equal((await sessions(store)).length, 1)
  t.match((await thief.post('/login', credentials)).to, /^\/login\/code/, 'then it is asked for')
})

t.test('who is switched off while they log in is not let in', async (t) => {
  const { held, url, store, people } = await start(t)
  const other = await store.read.selectFrom('users').selectAll().executeTakeFirstOrThrow()
  await store.write((tx) =>
    tx
      .insertInto('users')
      .values({ ...other, id: store.ids.uuid(), email: 'o@x.test', address: 'o@x.test' })
      .execute(),
  )
  const { goOn } = await held(() => openBrowser(url).post('/login', credentials))
  await disablePerson(people, other.id)
  t.equal((await goOn()).status, 422)
  t.same(await sessions(store), [])
})

t.test('an open browser that changes the password meanwhile does not undo a reset', async (t) => {
  const { held, reset, browser, url } = await start(t)
  const change = { current: goodPassword, password: 'a thief has chosen this' }
  const { goOn } = await held(() => browser.post('/me/password', change))
  await reset()
  t.ok((await goOn()).status >= 400)
  const wanted = { ...credentials, password: change.password }
  t.equal((await openBrowser(url).post('/login', wanted)).status, 422)
  t.equal(
    (await openBrowser(url).post('/login', { ...credentials, password: newPassword })).status,
    303,
  )
})

t.test('a proof that outlasts a reset gives no session back', async (t) => {
  const { held, reset, browser, store } = await start(t)
  const { goOn } = await held(() => browser.post('/sudo', { 'posthorn-password': goodPassword }))
  await reset()
  t.ok((await goOn()).status >= 400)
  t.same(await sessions(store), [])
  t.match((await browser.get('/me')).to, /^\/login/)
})

t.test('who keeps proving the old password does not keep a reset out', async (t) => {
  const { held, browser, people, user, url, store } = await start(t)
  const { path } = await resetPerson(people, user.id, { withFactors: false })
  const { goOn } = await held(() => browser.post('/sudo', { 'posthorn-password': goodPassword }))
  const reset = openBrowser(url).post(path, { password: newPassword })
  // It stands behind the one that is held.
  await new Promise((resolve) => setTimeout(resolve, 50))
  await goOn()
  t.equal((await reset).status, 303)
  t.same(await sessions(store), [])
})
