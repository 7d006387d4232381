// Issue 15: how long somebody is logged in, and what ends it.
import t from 'tap'
import {
  disablePerson,
  enablePerson,
  forgetPastEntries,
  makeResetLink,
  resetPerson,
} from '../../src/people/index.js'
import { startPeople } from '../support/people.js'
import { firstOperator, goodPassword, openBrowser } from '../support/visitor.js'

const hourMs = 3_600_000
const credentials = { email: 'olga@example.test', password: goodPassword }

t.test('a session ends 12 hours after its last use, and after 14 days', async (t) => {
  const started = await startPeople(t)
  const { url, clock, store } = started
  const browser = await firstOperator(t, started, clock)
  for (let day = 0; day < 14; day++) {
    t.equal((await browser.get('/me')).status, 200)
    await clock.advance(11 * hourMs)
    t.equal((await browser.get('/me')).status, 200)
    await clock.advance(11 * hourMs)
    t.equal((await browser.get('/me')).status, 200)
    await clock.advance(2 * hourMs)
  }
  t.equal((await browser.get('/me')).to, '/login?next=%2Fme', 'after 14 days')
  await browser.post('/login', credentials)
  await clock.advance(12 * hourMs)
  t.equal((await browser.get('/me?x=1')).to, '/login?next=%2Fme%3Fx%3D1', 'after 12 hours')
  await clock.advance(14 * 24 * hourMs)
  await store.write((tx) => forgetPastEntries(tx, clock.now()))
  t.same(await store.read.selectFrom('sessions').selectAll().execute(), [], 'and is forgotten')
  t.equal((await openBrowser(url).get('/login')).status, 200)
})

t.test('a new password ends the other sessions, and gives this one another value', async (t) => {
  const started = await startPeople(t)
  const { url, clock } = started
  const here = await firstOperator(t, started, clock)
  const there = openBrowser(url)
  await there.post('/login', credentials)
  const before = new Map(here.cookies)
  const password = 'another fine long sentence'
  const wrong = await here.post('/me/password', { current: 'no', password })
  t.equal(wrong.status, 422)
  t.match(wrong.text, /The current password is wrong/)
  t.equal((await here.post('/me/password', { current: goodPassword, password })).to, '/me')
  t.equal((await here.get('/me')).status, 200)
  t.match((await there.get('/me')).to, /^\/login/)
  const copied = openBrowser(url)
  for (const [name, value] of before) copied.cookies.set(name, value)
  t.match((await copied.get('/me')).to, /^\/login/, 'who copied the cookie is out')
  t.equal((await there.post('/login', credentials)).status, 422)
  t.equal((await there.post('/login', { ...credentials, password })).status, 303)
})

t.test(
  'sessions are listed and ended one by one; those of others are not theirs to end',
  async (t) => {
    const started = await startPeople(t)
    const { url, clock, store } = started
    const here = await firstOperator(t, started, clock)
    const there = openBrowser(url, 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0) Safari/605.1')
    await there.post('/login', credentials)
    const { text } = await here.get('/me')
    t.match(text, /Firefox on Linux/)
    t.match(text, /Safari on iOS/)
    const [, id = ''] = /\/me\/sessions\/([0-9a-f-]{36})\/end/.exec(text) ?? []
    t.equal((await openBrowser(url).post(`/me/sessions/${id}/end`)).to?.slice(0, 6), '/login')
    t.equal((await there.get('/me')).status, 200)
    await here.post(`/me/sessions/${id}/end`)
    t.match((await there.get('/me')).to, /^\/login/)
    await there.post('/login', credentials)
    await here.post('/me/sessions/end-others')
    t.match((await there.get('/me')).to, /^\/login/)
    await here.post('/logout')
    t.match((await here.get('/me')).to, /^\/login/)
    t.same(await store.read.selectFrom('sessions').selectAll().execute(), [])
  },
)

t.test('who is disabled is out at once, and in again with the password of before', async (t) => {
  const started = await startPeople(t)
  const { clock, people, store } = started
  const browser = await firstOperator(t, started, clock)
  const { id } = await store.read.selectFrom('users').select('id').executeTakeFirstOrThrow()
  await t.rejects(disablePerson(people, id), /no other operator/)
  await store.write((tx) => tx.updateTable('users').set({ operator: 0 }).execute())
  await disablePerson(people, id)
  t.match((await browser.get('/me')).to, /^\/login/)
  t.equal((await browser.post('/login', credentials)).status, 422)
  await enablePerson(people, id)
  t.equal((await browser.post('/login', credentials)).status, 303)
})

t.test('a link of the operator gives a new password once, within 15 minutes', async (t) => {
  const started = await startPeople(t)
  const { url, clock, people, store } = started
  const browser = await firstOperator(t, started, clock)
  const { id } = await store.read.selectFrom('users').select('id').executeTakeFirstOrThrow()
  const stale = await store.write((tx) => makeResetLink(tx, id, clock.now()))
  await clock.advance(15 * 60_000)
  t.equal((await openBrowser(url).get(stale)).status, 404)
  const { path } = await resetPerson(people, id, { withFactors: false })
  t.equal((await browser.get('/me')).status, 200, 'nothing has ended yet')
  const weak = await openBrowser(url).post(path, { password: 'olga@example.test' })
  t.equal(weak.status, 422)
  for (const password of ['aaaaaaaaaaaaaa', 'qwertyuiopas', '123456789012', 'Password1234!']) {
    t.equal((await openBrowser(url).post(path, { password })).status, 422, password)
  }
  const password = 'the quiet harbour at noon'
  t.equal((await openBrowser(url).post(path, { password })).to, '/login')
  t.match((await browser.get('/me')).to, /^\/login/, 'all sessions have ended')
  t.equal((await openBrowser(url).post(path, { password })).status, 404, 'it is good once')
  t.equal((await browser.post('/login', { ...credentials, password })).status, 303)
})
