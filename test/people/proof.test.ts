// Issue 15: a link that somebody else was shown proves no address, and whose it is gets it back.
import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { invite, type Role, resetPerson, setOperator } from '../../src/people/index.js'
import { type StartedPeople, startPeople } from '../support/people.js'
import { firstOperator, goodPassword, openBrowser } from '../support/visitor.js'

const operator = { id: null, name: 'The operator', isOperator: true }
const password = 'the quiet harbour at noon'

/** An account of its own, and its owner at a browser, who is no operator. */
async function otherOwner(t: Test, started: StartedPeople, name: string) {
  const { people, store, clock, url } = started
  const { id: accountId } = await createAccount({ store, clock }, name)
  const email = `owner@${name.toLowerCase()}.test`
  const browser = openBrowser(url)
  const { path } = await invite(people, { accountId, email, role: 'owner', inviter: operator })
  t.equal((await browser.post(path, { name, password: goodPassword })).status, 303)
  const ask = async (email: string, role: Role = 'member') => {
    const before = started.mailed.length
    const { text } = await browser.post(`/a/${accountId}/team/invite`, { email, role })
    const [, shown = ''] = /http:\/\/[^/]+(\/invite\/[\w-]{43})</.exec(text) ?? []
    const [mail] = started.mailed.slice(before)
    const [, mailed = ''] = /http:\/\/[^/]+(\/invite\/[\w-]{43})$/m.exec(mail?.text ?? '') ?? []
    return { shown, mailed, mail, text }
  }
  return { accountId, browser, ask, personId: await idOf(started, email) }
}

const rowOf = ({ store }: StartedPeople, email: string) =>
  store.read.selectFrom('users').selectAll().where('address', '=', email).executeTakeFirstOrThrow()

const idOf = async (started: StartedPeople, email: string) => (await rowOf(started, email)).id

/** What a squatter leaves behind to come in later. */
async function addPasskey(started: StartedPeople, userId: string) {
  const row = { name: 'Mine', public_key: Buffer.alloc(1), counter: 0, transports: '[]' }
  const times = { backed_up: 0, created_at: 1, used_at: null } as const
  await started.store.write((tx) =>
    tx
      .insertInto('passkeys')
      .values({ credential_id: userId, id: userId, user_id: userId, ...row, ...times })
      .execute(),
  )
}

const passkeysOf = ({ store }: StartedPeople, userId: string) =>
  store.read.selectFrom('passkeys').select('name').where('user_id', '=', userId).execute()

const ceo = 'ceo@bigcorp.test'

t.test(
  'who came by a link that an owner was shown loses all to whom the address is of',
  async (t) => {
    const started = await startPeople(t)
    const evil = await otherOwner(t, started, 'Evil')
    const good = await otherOwner(t, started, 'Good')
    const squatter = openBrowser(started.url)
    const { shown: own, mailed: unread } = await evil.ask(ceo)
    t.not(own, unread, 'what is shown is not what is mailed')
    await squatter.post(own, { name: 'CEO', password: goodPassword })
    t.equal((await squatter.get('/me')).status, 200)
    t.equal((await openBrowser(started.url).get(unread)).status, 404, 'both are used up')
    const id = await idOf(started, ceo)
    await addPasskey(started, id)
    t.equal((await rowOf(started, ceo)).proved_at, null)
    await t.rejects(
      setOperator(started.people, id, true),
      /not certain that ceo@bigcorp\.test is the person/,
    )

    const { shown, mailed } = await good.ask(ceo)
    const byShown = await good.browser.get(shown)
    t.match(byShown.text, /If somebody else made it, use the link in your mail/)
    // Whoever invites is not told whether an address has a log-in here, by any account.
    const nobody = 'nobody@bigcorp.test'
    const { shown: other } = await good.ask(nobody)
    for (const browser of [good.browser, openBrowser(started.url)]) {
      const [known, unknown] = [await browser.get(shown), await browser.get(other)]
      const neutral = (text: string) =>
        text
          .replaceAll(other, shown)
          .replaceAll(nobody, ceo)
          .replace(/value="\d+-[\w-]{24}"/g, '')
      t.equal(neutral(unknown.text), neutral(known.text))
    }
    const stranger = openBrowser(started.url)
    const tried = await stranger.post(shown, { name: 'X', password })
    t.match(tried.to, /^\/login/, 'the owner who invites cannot take over either')

    const real = openBrowser(started.url)
    t.match((await real.get(mailed)).text, /made a log-in for ceo@bigcorp\.test without showing/)
    const entered = await real.post(mailed, { name: 'The CEO', password })
    t.equal(entered.to, `/a/${good.accountId}`)
    t.match((await squatter.get('/me')).to, /^\/login/, 'who was there is out')
    const again = { email: ceo, password: goodPassword }
    t.equal((await openBrowser(started.url).post('/login', again)).status, 422)
    t.equal((await openBrowser(started.url).post('/login', { email: ceo, password })).status, 303)
    t.same(await passkeysOf(started, id), [])
    t.match(await rowOf(started, ceo), { name: 'The CEO', totp_secret: null })
    await setOperator(started.people, id, true)
  },
)

t.test(
  'a link of an operator proves an address, and leaves nothing of who was there',
  async (t) => {
    const started = await startPeople(t)
    const evil = await otherOwner(t, started, 'Evil')
    const { shown } = await evil.ask(ceo)
    const squatter = openBrowser(started.url)
    await squatter.post(shown, { name: 'CEO', password: goodPassword })
    const id = await idOf(started, ceo)
    await addPasskey(started, id)
    await started.store.write((tx) =>
      tx
        .updateTable('users')
        .set({ totp_secret: Buffer.alloc(9) })
        .where('id', '=', id)
        .execute(),
    )
    const { path } = await resetPerson(started.people, id, { withFactors: false })
    const real = openBrowser(started.url)
    t.notMatch((await real.get(path)).text, /Mine/, 'there is nothing to keep')
    await real.post(path, { password, keepPasskeys: 'on' })
    t.equal((await real.post('/login', { email: ceo, password })).status, 303)
    t.equal((await real.get('/me')).status, 200, 'no code of another is asked for')
    t.match((await squatter.get('/me')).to, /^\/login/)
    t.same(await passkeysOf(started, id), [])
    t.not((await rowOf(started, ceo)).proved_at, null)
  },
)

t.test(
  'a new password by a link removes passkeys, unless who they are knows them all',
  async (t) => {
    const started = await startPeople(t)
    const { personId } = await otherOwner(t, started, 'Good')
    await addPasskey(started, personId)
    const first = await resetPerson(started.people, personId, { withFactors: false })
    t.match((await openBrowser(started.url).get(first.path)).text, /Keep my passkeys: Mine/)
    await openBrowser(started.url).post(first.path, { password, keepPasskeys: 'on' })
    t.equal((await passkeysOf(started, personId)).length, 1)
    const second = await resetPerson(started.people, personId, { withFactors: false })
    await openBrowser(started.url).post(second.path, { password: goodPassword })
    t.same(await passkeysOf(started, personId), [])
  },
)

t.test('who changes their password ends a link for a new one', async (t) => {
  const started = await startPeople(t)
  const { browser, personId } = await otherOwner(t, started, 'Good')
  const { path } = await resetPerson(started.people, personId, { withFactors: false })
  t.equal((await browser.post('/me/password', { current: goodPassword, password })).to, '/me')
  t.equal((await openBrowser(started.url).get(path)).status, 404)
})

t.test(
  'who becomes an operator proves it is them, and gets a session of another value',
  async (t) => {
    const started = await startPeople(t, {})
    const { people, clock, url } = started
    const { browser } = await otherOwner(t, started, 'Good')
    const email = 'owner@good.test'
    const elsewhere = openBrowser(url)
    await elsewhere.post('/login', { email, password: goodPassword })
    await clock.advance(15 * 60_000)
    const given = { accountId: null, email, role: 'operator', inviter: operator } as const
    const { path } = await invite(people, given)
    const refused = await browser.post(path)
    t.equal(refused.to, `/sudo/ask?next=%2F&to=${encodeURIComponent(path)}`)
    await browser.post('/sudo', { 'posthorn-password': goodPassword })
    const before = new Map(browser.cookies)
    t.equal((await browser.post(path)).to, '/operator')
    t.equal((await browser.get('/operator/audit')).status, 200)
    const copied = openBrowser(url)
    for (const [name, value] of before) copied.cookies.set(name, value)
    t.match((await copied.get('/me')).to, /^\/login/, 'the value of before leads nowhere')
    t.match((await elsewhere.get('/me')).to, /^\/login/, 'nor do other sessions')
  },
)

t.test('whom somebody invited who may no more does not come in', async (t) => {
  const started = await startPeople(t)
  const { people, store, clock, url } = started
  const first = await firstOperator(t, started, clock)
  const { accountId } = started
  const owners = `/a/${accountId}/team`
  const second = openBrowser(url)
  const joined = { accountId, email: 'second@x.test', role: 'owner', inviter: operator } as const
  await second.post((await invite(people, joined)).path, { name: 'S', password: goodPassword })
  const id = await idOf(started, 'second@x.test')
  const asked = async () => {
    const { text } = await second.post(`${owners}/invite`, { email: 'back@x.test', role: 'owner' })
    const [, path = ''] = /(\/invite\/[\w-]{43})</.exec(text) ?? []
    t.equal((await openBrowser(url).get(path)).status, 200)
    return path
  }
  const demoted = await asked()
  t.equal((await first.post(`${owners}/${id}/role`, { role: 'member' })).status, 303)
  t.equal((await openBrowser(url).get(demoted)).status, 404)
  await first.post(`${owners}/${id}/role`, { role: 'owner' })
  t.equal((await openBrowser(url).get(demoted)).status, 404, 'nor when they are owner again')
  const removed = await asked()
  t.equal((await first.post(`${owners}/${id}/remove`)).status, 303)
  const form = { name: 'B', password: goodPassword }
  t.equal((await openBrowser(url).post(removed, form)).status, 404)

  // One that was begun before, and is made after.
  const late = await invite(people, {
    accountId,
    email: 'late@x.test',
    role: 'owner',
    inviter: { id, name: 'S', isOperator: false },
  })
  t.equal((await openBrowser(url).post(late.path, form)).status, 404)

  await setOperator(people, id, true)
  const given = { accountId: null, email: 'op@x.test', role: 'operator' } as const
  const { path } = await invite(people, { ...given, inviter: { id, name: 'S', isOperator: true } })
  t.equal((await openBrowser(url).get(path)).status, 200)
  await setOperator(people, id, false)
  t.equal((await openBrowser(url).post(path, form)).status, 404)
  t.same(
    await store.read
      .selectFrom('invitations')
      .select('email')
      .where('accepted_at', 'is', null)
      .execute(),
    [],
  )
})

t.test('few invitations are mailed, and each says by whose address', async (t) => {
  const started = await startPeople(t)
  const { ask } = await otherOwner(t, started, 'Evil')
  const { mail } = await ask('a@x.test')
  t.notMatch(mail?.subject, /Evil/, 'an owner writes no subject')
  t.match(mail?.text, /Evil \(owner@evil\.test\) invites you to "Evil"/)
  for (let i = 0; i < 2; i++) t.ok((await ask('a@x.test')).mail)
  const { mail: none, shown, text } = await ask(' A@x.test')
  t.equal(none, undefined, 'three a day to one address')
  t.match(text, /so many invitations were mailed of late/)
  t.match(shown, /^\/invite/, 'the link is there all the same')
  for (let i = 0; i < 17; i++) t.ok((await ask(`b${i}@x.test`)).mail)
  t.notOk((await ask('c@x.test')).mail, 'twenty an hour in all')
})

t.test('what is mailed leads to a name of this appliance alone', async (t) => {
  // The Host of a request is whatever its sender writes: another's address too.
  const started = await startPeople(t, { hostNames: ['mail.example.net'] })
  const { ask } = await otherOwner(t, started, 'Evil')
  const { shown, mail, text } = await ask('ceo@bigcorp.test')
  t.match(text, /you came by an address that is not in http\.private\.allowed_hosts/)
  t.match(shown, /^\/invite/, 'who invites may hand over the link')
  t.equal(mail, undefined, 'and gets no proof that comes by mail')
})
