// Issue 15: who comes in, by what, and what the browser then has.
import { request as httpRequest } from 'node:http'
import t from 'tap'
import { listAccounts } from '../../src/accounts/index.js'
import { systemClock } from '../../src/clock/index.js'
import { makeSetupLink } from '../../src/people/index.js'
import { startPeople } from '../support/people.js'
import { startPosthorn } from '../support/posthorn.js'
import { firstOperator, goodPassword, openBrowser } from '../support/visitor.js'

t.test('the first link makes an operator who owns the only account, once', async (t) => {
  const posthorn = await startPosthorn(t)
  const { store, url, accountId } = posthorn
  const path = await store.write((tx) => makeSetupLink(tx, systemClock.now()))
  const browser = openBrowser(url)
  t.match((await browser.get(path)).text, /become this server’s operator/)
  const form = { name: 'Olga', email: 'Olga@Example.test', password: goodPassword }

  const weak = await browser.post(path, { ...form, password: 'short' })
  t.equal(weak.status, 422)
  t.match(weak.text, /at least 12 characters/)
  t.match(weak.text, /value="Olga@Example.test"/, 'what was typed is kept')
  t.notMatch(weak.text, /value="short"/)

  const done = await browser.post(path, form)
  t.equal(done.status, 303)
  t.equal(done.to, `/a/${accountId}`)
  const [user] = await store.read.selectFrom('users').selectAll().execute()
  t.match(user, { address: 'olga@example.test', operator: 1 })
  t.match(user?.password, /^scrypt\$15\$8\$3\$/)
  t.same(await store.read.selectFrom('memberships').select(['account_id', 'role']).execute(), [
    { account_id: accountId, role: 'owner' },
  ])

  const again = await openBrowser(url).post(path, { ...form, email: 'eve@example.test' })
  t.equal(again.status, 404, 'the link is good once')
  await t.rejects(
    store.write((tx) => makeSetupLink(tx, systemClock.now())),
    /Somebody can log in already/,
  )
})

t.test('a log-in gives the browser a value that nobody knew before', async (t) => {
  const posthorn = await startPosthorn(t)
  const { url, accountId } = posthorn
  const first = await firstOperator(t, posthorn, systemClock)
  await first.post('/logout')
  const [name = ''] =
    (
      await first.post('/login', { email: 'olga@example.test', password: goodPassword })
    ).cookies[0]?.split('=') ?? []
  t.match(name, /^posthorn-[a-zA-Z0-9]{1,6}$/)

  const victim = openBrowser(url)
  const planted = 'A'.repeat(43)
  victim.cookies.set(name, planted)
  const entered = await victim.post('/login', {
    email: ' OLGA@example.test',
    password: goodPassword,
  })
  t.equal(entered.to, `/a/${accountId}`)
  const [cookie = ''] = entered.cookies
  t.not(victim.cookies.get(name), planted)
  t.match(cookie, /; Path=\/; HttpOnly; SameSite=Lax; Max-Age=1209600$/)
  t.notMatch(cookie, /Secure/, 'without TLS a browser would not keep it')

  const attacker = openBrowser(url)
  attacker.cookies.set(name, planted)
  t.match((await attacker.get('/me')).to, /^\/login\?next=%2Fme$/, 'what was planted leads nowhere')

  const before = victim.cookies.get(name) ?? ''
  await victim.post('/login', { email: 'olga@example.test', password: goodPassword })
  attacker.cookies.set(name, before)
  t.match((await attacker.get('/me')).to, /^\/login/, 'the value of before has ended')
})

t.test(
  'a first link that is refused, or used twice at once, leaves no account behind',
  async (t) => {
    const { url, store, clock, accountId } = await startPeople(t)
    await store.write(async (tx) => {
      await tx.deleteFrom('subscriptions').where('account_id', '=', accountId).execute()
      await tx.deleteFrom('accounts').where('id', '=', accountId).execute()
    })
    const path = await store.write((tx) => makeSetupLink(tx, clock.now()))
    const form = {
      name: 'Olga',
      email: 'no address',
      password: goodPassword,
      accountName: 'Museum',
    }
    t.equal((await openBrowser(url).post(path, form)).status, 422)
    t.same(await listAccounts(store.read), [])
    const both = ['a@x.test', 'b@x.test'].map((email, i) =>
      openBrowser(url).post(path, { ...form, email, accountName: `Museum ${i}` }),
    )
    const statuses = (await Promise.all(both)).map(({ status }) => status)
    t.same(statuses.sort(), [303, 404])
    t.equal((await listAccounts(store.read)).length, 1)
  },
)

t.test(
  'a message that somebody else planted in a cookie shows nothing and breaks nothing',
  async (t) => {
    const { url } = await startPeople(t)
    const cookie = `posthorn-flash=x.${'a'.repeat(42)}\u00e9`
    // As a browser sends it: the letter is one of 43, and two bytes.
    const { status } = await openBrowser(url).get('/login', {
      cookie: Buffer.from(cookie).toString('latin1'),
    })
    t.equal(status, 200)
  },
)

t.test('over TLS the cookie is of this host alone', async (t) => {
  const posthorn = await startPosthorn(t, {
    env: { POSTHORN_HTTP_TRUSTED_PROXIES: '127.0.0.1' },
  })
  await firstOperator(t, posthorn, systemClock)
  const browser = openBrowser(posthorn.url)
  const tls = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.7' }
  const form = { email: 'olga@example.test', password: goodPassword }
  const { cookies } = await browser.post('/login', form, tls)
  t.match(cookies[0], /^__Host-posthorn-\w+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure/)
  t.equal((await browser.get('/me', tls)).status, 200)
  t.equal((await browser.get('/me')).status, 303, 'without TLS it counts for nothing')
})

t.test('behind a proxy an operator needs a second factor, though all come from here', async (t) => {
  const settings = { http: { trusted_proxies: ['127.0.0.1'] } }
  for (const [proxied, to] of [
    [await startPosthorn(t, { settings }), '/me/totp'],
    [await startPosthorn(t), undefined],
  ] as const) {
    const browser = await firstOperator(t, proxied, systemClock)
    t.equal((await browser.get('/operator/users')).to, to)
  }
})

t.test('where no proxy is trusted, nobody can claim TLS', async (t) => {
  const posthorn = await startPosthorn(t)
  await firstOperator(t, posthorn, systemClock)
  const form = { email: 'olga@example.test', password: goodPassword }
  const { cookies } = await openBrowser(posthorn.url).post('/login', form, {
    'x-forwarded-proto': 'https',
  })
  t.match(cookies[0], /^posthorn-/)
})

t.test('by plain HTTP from elsewhere the log-in says how to come in safely', async (t) => {
  const env = { POSTHORN_HTTP_PRIVATE_ALLOWED_HOSTS: 'mail.example.test' }
  const closed = await startPosthorn(t, { env })
  await firstOperator(t, closed, systemClock)
  const elsewhere = { host: 'mail.example.test:8080' }
  const told = await ask(closed.url, 'GET', elsewhere)
  t.equal(told.status, 403)
  t.match(told.text, /ssh -L 8080:localhost:8080 mail\.example\.test/)
  t.equal((await ask(closed.url, 'POST', elsewhere)).status, 403, 'nor is a password taken')
  t.equal(
    (await ask(closed.url, 'GET', { host: 'localhost:8080' })).status,
    200,
    'a tunnel ends here',
  )

  const plain = { ...env, POSTHORN_DASHBOARD_PLAIN_HTTP: 'true' }
  const open = await startPosthorn(t, { env: plain })
  await firstOperator(t, open, systemClock)
  const warned = await ask(open.url, 'GET', elsewhere)
  t.equal(warned.status, 200)
  t.match(warned.text, /without encryption: whoever is between/)
  t.equal((await ask(open.url, 'POST', elsewhere)).status, 303)
})

/** `fetch` sets the Host itself. */
function ask(url: string, method: string, headers: Record<string, string>) {
  return new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const own = { 'sec-fetch-site': 'same-origin', ...type, ...headers }
    const request = httpRequest(`${url}/login`, { method, headers: own }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode, text }))
    })
    request.on('error', reject)
    const form = { email: 'olga@example.test', password: goodPassword }
    request.end(method === 'POST' ? new URLSearchParams(form).toString() : undefined)
  })
}

t.test('who comes by a proxy that nobody has named is not at this machine', async (t) => {
  const posthorn = await startPosthorn(t)
  const asked = async (headers: Record<string, string>) =>
    (await fetch(`${posthorn.url}/login`, { headers })).status
  t.equal(await asked({}), 200)
  t.equal(await asked({ 'x-forwarded-for': '198.51.100.7' }), 403)
})
