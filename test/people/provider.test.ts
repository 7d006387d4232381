// Issue 48, 6: people log in by a provider of OpenID Connect, here npm's oidc-provider and one that lies.
import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import type { GivenRole } from '../../src/config/index.js'
import {
  addPerson,
  disablePerson,
  findByAddress,
  membershipsOf,
  setRole,
} from '../../src/people/index.js'
import { startIdentityProvider, startLyingProvider } from '../support/identity-provider.js'
import { type StartedPeople, startPeople } from '../support/people.js'
import { firstOperator, goodPassword, openBrowser } from '../support/visitor.js'

const ada = { sub: '248289761001', name: 'Ada', email: 'ada@example.test', email_verified: true }

/** Our pages beside a provider, in which whoever comes is `who`. */
async function start(
  t: Parameters<typeof startPeople>[0],
  {
    roles = [] as GivenRole[],
    secondFactor = false,
    asksFactorOfOperators = false,
    who = { ...ada } as Who,
  } = {},
) {
  const known = { who, roles }
  const there = await startIdentityProvider(t, () => known.who)
  const people = await startPeople(t, {
    asksFactorOfOperators,
    provider: (made) => ({ provider: there.open(made), secondFactor, roles: known.roles }),
  })
  const logIn = async (browser = openBrowser(people.url), path = '/login/provider') => {
    const { to = '' } = await browser.get(path)
    const answer = await browser.get(await there.visit(to))
    return { browser, ...answer }
  }
  return { ...people, known, logIn }
}

type Who = { sub: string } & Record<string, unknown>

const personOf = ({ store }: StartedPeople, email = ada.email) => findByAddress(store.read, email)

t.test(
  'the first log-in binds the subject to whom the address names, and then it alone counts',
  async (t) => {
    const people = await start(t)
    const { store, accountId, known, logIn } = people
    await firstOperator(t, people, people.clock)
    const refused = await logIn()
    t.equal(refused.status, 403)
    t.match(refused.text, /Nobody here has the address ada@example.test/)

    await addPerson(people.people, {
      email: 'Ada@Example.test',
      name: 'Ada',
      isOperator: false,
      membership: { accountId, role: 'member' },
    })
    t.match(
      (await openBrowser(people.url).get('/login')).text,
      /href="\/login\/provider">Log in with Example ID</,
    )
    const { status, to, browser } = await logIn()
    t.match({ status, to }, { status: 303, to: `/a/${accountId}` })
    t.match((await browser.get('/me')).text, /You log in with Example ID too/)
    t.match(await store.read.selectFrom('identities').selectAll().execute(), [
      { subject: ada.sub, user_id: (await personOf(people))?.id },
    ])

    known.who = { ...ada, email: 'ada@elsewhere.test' }
    t.equal(
      (await logIn()).to,
      `/a/${accountId}`,
      'a subject keeps its person when its address changes',
    )
    known.who = { ...ada, sub: 'somebody else' }
    const other = await logIn()
    t.equal(other.status, 403)
    t.match(
      other.text,
      /belongs here to another person of the provider.+posthorn user unbind ada@example.test/s,
    )
    const audit = await store.read.selectFrom('audit_log').select(['action', 'detail']).execute()
    t.ok(audit.some(({ action }) => action === 'provider.bind'))
    t.ok(audit.some(({ detail }) => /"by":"provider https:/.test(detail ?? '')))
  },
)

t.test('an address that the provider has not verified is nobody’s', async (t) => {
  const people = await start(t, { who: { ...ada, email_verified: false } })
  await firstOperator(t, people, people.clock)
  people.known.who = { sub: 'eve', email: 'olga@example.test', email_verified: false }
  const { status, text } = await people.logIn()
  t.equal(status, 403)
  t.match(text, /names no mail address of yours that it has verified/)

  // The token names one address, and the answer beside it says of another one that it is verified.
  let more = { sub: 'ada', email: 'eve@example.test', email_verified: true }
  const there = await startLyingProvider(
    t,
    ({ email_verified, ...claims }) => ({ claims }),
    () => more,
  )
  const others = await startPeople(t, {
    provider: (made) => ({ provider: there.open(made), secondFactor: false, roles: [] }),
  })
  await firstOperator(t, others, others.clock)
  const logIn = async () => {
    const browser = openBrowser(others.url)
    const { to = '' } = await browser.get('/login/provider')
    return await browser.get(await there.visit(to))
  }
  t.equal((await logIn()).status, 403)
  more = { ...more, email: 'olga@example.test' }
  t.equal((await logIn()).status, 303)
})

t.test('who made a log-in in somebody’s place loses it to whom the provider names', async (t) => {
  const people = await start(t)
  const { store, accountId } = people
  await firstOperator(t, people, people.clock)
  await addPerson(people.people, {
    email: ada.email,
    name: 'Eve',
    isOperator: false,
    membership: { accountId, role: 'viewer' },
  })
  await store.write((tx) =>
    tx
      .updateTable('users')
      .set({ proved_at: null, password: 'scrypt$1$1$1$a$b' })
      .where('address', '=', ada.email)
      .execute(),
  )
  t.equal((await people.logIn()).status, 303)
  t.match(await personOf(people), { password: null, proved_at: people.clock.now() })
})

t.test('a claim gives roles, and takes them again; the last operator and owner stay', async (t) => {
  const roles: GivenRole[] = [
    { value: 'admins', role: 'operator', account: undefined },
    { value: 'readers', role: 'viewer', account: 'City library' },
    { value: 'writers', role: 'member', account: 'City library' },
    { value: 'nowhere', role: 'member', account: 'No such account' },
  ]
  const people = await start(t, {
    roles,
    who: { ...ada, groups: ['readers', 'writers', 'nowhere'] },
  })
  const { store, known, logIn, accountId } = people
  const olga = await firstOperator(t, people, people.clock)
  const { to, browser } = await logIn()
  t.equal(to, `/a/${accountId}`, 'who is new joins by the claim')
  const id = (await personOf(people))?.id ?? ''
  const rolesNow = async () => (await membershipsOf(store.read, id)).map(({ role }) => role)
  t.same(await rolesNow(), ['member'], 'the one that may most')

  known.who = { ...ada, groups: ['readers'] }
  await store.write((tx) => setRole(tx, accountId, id, 'owner', people.clock.now()))
  await logIn()
  t.same(await rolesNow(), ['owner'], 'what was given by hand stays')
  known.who = { ...ada, groups: [] }
  await logIn()
  t.same(await rolesNow(), ['owner'], 'also without the value')
  await store.write((tx) => setRole(tx, accountId, id, 'viewer', people.clock.now()))
  known.who = { ...ada, groups: ['writers'] }
  await logIn()
  t.same(await rolesNow(), ['member'], 'the claim gives more')

  known.who = { ...ada, groups: 'admins' }
  t.equal((await logIn()).to, '/operator')
  t.same(await rolesNow(), [])
  t.equal((await browser.get('/me')).to?.startsWith('/login'), true, 'who rose has no old session')
  await store.write((tx) =>
    tx
      .updateTable('users')
      .set({ operator: 0 })
      .where('address', '=', 'olga@example.test')
      .execute(),
  )
  known.who = { ...ada, groups: ['readers'] }
  await logIn()
  t.equal((await personOf(people))?.operator, 1, 'the last operator stays')
  t.same(await rolesNow(), ['viewer'])
  t.match((await olga.get(`/a/${accountId}/team`)).status, 200, 'others are as they were')
  await addPerson(people.people, {
    email: 'eve@example.test',
    name: 'Eve',
    isOperator: true,
    membership: undefined,
  })
  await logIn()
  t.equal((await personOf(people))?.operator, 0, 'until somebody else is one')
})

t.test(
  'what is delicate asks the provider again; a form that was on its way is kept in its tab',
  async (t) => {
    const people = await start(t)
    const { accountId, clock, known, logIn } = people
    await firstOperator(t, people, clock)
    await addPerson(people.people, {
      email: ada.email,
      name: 'Ada',
      isOperator: false,
      membership: { accountId, role: 'owner' },
    })
    const { browser } = await logIn()
    await clock.advance(16 * 60_000)
    const asked = await browser.post(`/a/${accountId}/team/invite`, {
      email: 'bob@example.test',
      role: 'viewer',
    })
    const page =
      asked.to === undefined
        ? asked
        : await browser.post(asked.to, { email: 'bob@example.test', role: 'viewer' })
    t.match(page.text, /href="\/sudo\/provider\?next=%2Fsudo%2Fproved"[^>]*>Log in with Example ID/)
    const [, way = ''] = /action="(\/sudo\/proved\?[^"]+)"/.exec(page.text) ?? []
    const kept = { email: 'bob@example.test', role: 'viewer' }
    const early = await browser.post(way.replaceAll('&amp;', '&'), kept)
    t.equal(early.status, 422)
    t.match(early.text, /You have not shown yet that it is you/)

    known.who = { ...ada, sub: 'somebody else' }
    t.equal((await logIn(browser, '/sudo/provider')).status, 403)
    known.who = ada
    const proved = await logIn(browser, '/sudo/provider?next=%2Fsudo%2Fproved')
    t.match(proved, { status: 303, to: '/sudo/proved' })
    const done = await browser.post(way.replaceAll('&amp;', '&'), kept)
    t.equal(done.status, 307, 'the form goes on')
  },
)

t.test('an operator whom the provider asked for a second factor needs none of ours', async (t) => {
  for (const secondFactor of [false, true]) {
    const people = await start(t, { secondFactor, asksFactorOfOperators: true })
    await addPerson(people.people, {
      email: ada.email,
      name: 'Ada',
      isOperator: true,
      membership: undefined,
    })
    t.equal((await people.logIn()).to, secondFactor ? '/operator' : '/me/totp')
  }
})

t.test(
  'who is switched off stays out, and what is late, planted or cancelled is refused',
  async (t) => {
    const people = await start(t)
    const { clock, url, logIn } = people
    await firstOperator(t, people, clock)
    await addPerson(people.people, {
      email: ada.email,
      name: 'Ada',
      isOperator: true,
      membership: undefined,
    })
    t.equal((await logIn()).status, 303)
    await disablePerson(people.people, (await personOf(people))?.id ?? '')
    t.match((await logIn()).text, /is switched off/)

    const back = '/login/provider/back?code=x&state=y'
    for (let i = 0; i < 30; i++) await openBrowser(url).get(back)
    const password = { email: 'olga@example.test', password: goodPassword }
    t.equal((await openBrowser(url).post('/login', password)).status, 303, 'junk holds nobody up')
    t.match((await openBrowser(url).get(back)).text, /Too much time has passed/, 'without a cookie')
    const late = openBrowser(url)
    const { to = '' } = await late.get('/login/provider')
    t.match(to, /code_challenge_method=S256/)
    const state = new URL(to).searchParams.get('state')
    const cancelled = await late.get(`/login/provider/back?error=access_denied&state=${state}`)
    t.match(cancelled.text, /Example ID has not let you in \(access_denied\)/)
    await clock.advance(11 * 60_000)
    t.equal((await late.get(back)).status, 403)
  },
)

t.test('an answer that does not fit is not believed, and who tries has to wait', async (t) => {
  const foreign = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey
  const now = Math.floor(Date.now() / 1_000)
  const lies: Record<
    string,
    (claims: Record<string, unknown>) => { claims: object; key?: typeof foreign; alg?: string }
  > = {
    'another issuer': (claims) => ({ claims: { ...claims, iss: 'https://evil.test' } }),
    'for another client': (claims) => ({ claims: { ...claims, aud: 'other' } }),
    'another nonce': (claims) => ({ claims: { ...claims, nonce: 'x' } }),
    expired: (claims) => ({ claims: { ...claims, iat: now - 9_000, exp: now - 8_000 } }),
    'no subject': ({ sub, ...claims }) => ({ claims }),
    'by another key': (claims) => ({ claims, key: foreign }),
    unsigned: (claims) => ({ claims, alg: 'none' }),
  }
  let lie: (typeof lies)[string] = (claims) => ({ claims })
  const there = await startLyingProvider(t, (claims) => lie(claims))
  const people = await startPeople(t, {
    provider: (made) => ({ provider: there.open(made), secondFactor: false, roles: [] }),
  })
  await firstOperator(t, people, people.clock)
  const logIn = async (forge = (answer: string) => answer) => {
    const browser = openBrowser(people.url)
    const { to = '' } = await browser.get('/login/provider')
    return await browser.get(forge(await there.visit(to)))
  }
  t.equal((await logIn()).status, 303, 'the truth is believed')
  for (const [name, told] of Object.entries(lies)) {
    lie = told
    const { status, text } = await logIn()
    t.equal(status, 403, name)
    t.match(text, /could not be confirmed/, name)
    t.notMatch(text, new RegExp(goodPassword))
  }
  lie = (claims) => ({ claims })
  t.equal(
    (await logIn((answer) => answer.replace(/state=.*/, 'state=other'))).status,
    403,
    'another state',
  )
  const statuses = []
  lie = (claims) => ({ claims: { ...claims, nonce: 'x' } })
  for (let i = 0; i < 20; i++) statuses.push((await logIn()).status)
  t.ok(statuses.includes(429), `${statuses}`)
})
