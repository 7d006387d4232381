// Issue 15: codes of an app, recovery codes, and what may be done without them.
import { Secret, TOTP } from 'otpauth'
import t, { type Test } from 'tap'
import { startPeople } from '../support/people.js'
import { type Browser, firstOperator, goodPassword, openBrowser } from '../support/visitor.js'

const credentials = { email: 'olga@example.test', password: goodPassword }
const stepMs = 30_000

const codeAt = (secret: string, now: number) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now })

/** Adds an app to who is logged in; resolves with its secret and the recovery codes. */
async function addApp(t: Test, browser: Browser, now: number) {
  const { text } = await browser.get('/me/totp')
  const [, secret = ''] = /name="secret" value="([A-Z2-7]{32})"/.exec(text) ?? []
  t.match(text, /<svg/, 'a QR code is there')
  const { status, text: told } = await browser.post('/me/totp', {
    secret,
    code: codeAt(secret, now),
  })
  t.equal(status, 200)
  return { secret, codes: told.match(/(?:[a-z2-7]{4}-){3}[a-z2-7]{4}/g) ?? [] }
}

t.test('with an app the password alone lets nobody in, and no code is good twice', async (t) => {
  const started = await startPeople(t)
  const { url, clock, store, accountId } = started
  const first = await firstOperator(t, started, clock)
  const wrong = await first.post('/me/totp', { secret: 'A'.repeat(32), code: '000000' })
  t.equal(wrong.status, 422)
  t.match(wrong.text, /not the code that the app shows now/)
  t.match(wrong.text, new RegExp(`value="${'A'.repeat(32)}"`), 'the same secret is shown again')
  const { secret, codes } = await addApp(t, first, clock.now())
  t.equal(new Set(codes).size, 10)
  const [user] = await store.read.selectFrom('users').selectAll().execute()
  t.notMatch(user?.totp_secret?.toString('latin1'), secret, 'the secret is sealed')

  const browser = openBrowser(url)
  const asked = await browser.post('/login', { ...credentials, next: '/me/totp' })
  t.equal(asked.to, '/login/code?next=%2Fme%2Ftotp')
  t.match((await browser.get('/me')).to, /^\/login/, 'nothing is open yet')
  const used = codeAt(secret, clock.now())
  t.equal((await browser.post('/login/code', { code: used })).status, 422, 'used when it was added')
  await clock.advance(stepMs)
  const before = [...browser.cookies.values()][0]
  const code = codeAt(secret, clock.now())
  const entered = await browser.post('/login/code', {
    code: ` ${code.slice(0, 3)} ${code.slice(3)}`,
    next: '',
  })
  t.equal(entered.to, `/a/${accountId}`)
  t.not([...browser.cookies.values()][0], before, 'the rise of rights gives another value')

  const other = openBrowser(url)
  await other.post('/login', credentials)
  t.equal((await other.post('/login/code', { code })).status, 422, 'the same code a second time')
})

t.test('a clock that is a step off is fine, and one that is 90 s off is not', async (t) => {
  const started = await startPeople(t)
  const { url, clock } = started
  const { secret } = await addApp(t, await firstOperator(t, started, clock), clock.now())
  await clock.advance(10 * stepMs)
  const tryCode = async (at: number) => {
    const browser = openBrowser(url)
    await browser.post('/login', credentials)
    return (await browser.post('/login/code', { code: codeAt(secret, at) })).status
  }
  t.equal(await tryCode(clock.now() - 90_000), 422)
  t.equal(await tryCode(clock.now() + 90_000), 422)
  t.equal(await tryCode(clock.now() - stepMs), 303)
  t.equal(await tryCode(clock.now() + stepMs), 303)
  t.equal(await tryCode(clock.now()), 422, 'an older one than the last that was taken')
})

t.test('a recovery code stands for the app once, and new ones end the old', async (t) => {
  const started = await startPeople(t)
  const { url, clock, store } = started
  const first = await firstOperator(t, started, clock)
  const { codes } = await addApp(t, first, clock.now())
  const [one = '', two = ''] = codes
  const enter = async (code: string) => {
    const browser = openBrowser(url)
    await browser.post('/login', credentials)
    return (await browser.post('/login/code', { code })).status
  }
  t.equal(await enter(one.toUpperCase().replaceAll('-', ' ')), 303, 'as it is typed')
  t.equal(await enter(one), 422)
  t.match((await first.get('/me')).text, /9 of 10 recovery codes are left/)
  const { text } = await first.post('/me/recovery')
  // Without the value by which a form is good once: a UUID may look like a part of a code.
  const shown = text.replace(/value="[^"]*"/g, '')
  t.equal(shown.match(/(?:[a-z2-7]{4}-){3}[a-z2-7]{4}/g)?.length, 10)
  t.equal(await enter(two), 422, 'those of before are good no longer')
  const log = await store.read.selectFrom('audit_log').select('action').execute()
  const actions = log.map(({ action }) => action)
  for (const action of ['totp.add', 'recovery-code.use', 'recovery-codes.renew']) {
    t.ok(actions.includes(action), action)
  }
})

t.test(
  'an operator without a second factor adds one first, where others can reach the server',
  async (t) => {
    const started = await startPeople(t, { asksFactorOfOperators: true })
    const { url, clock } = started
    const browser = await firstOperator(t, started, clock)
    t.equal((await browser.get('/operator/audit')).to, '/me/totp')
    t.match((await browser.get('/me/totp')).text, /An operator needs a second factor/)
    t.equal((await openBrowser(url).post('/login', { ...credentials, next: '/me' })).to, '/me/totp')
    await addApp(t, browser, clock.now())
    t.equal((await browser.get('/operator/audit')).status, 200)
  },
)

t.test('after 15 minutes what is delicate asks for the factors again', async (t) => {
  const started = await startPeople(t)
  const { clock } = started
  const browser = await firstOperator(t, started, clock)
  const { secret } = await addApp(t, browser, clock.now())
  await clock.advance(15 * 60_000)
  const refused = await browser.post('/me/totp/remove')
  t.match(refused.to, /^\/sudo\/ask\?next=/)
  const before = [...browser.cookies.values()][0]
  const code = codeAt(secret, clock.now())
  const wrong = await browser.post('/sudo?next=/me', {
    'posthorn-password': 'not this one',
    'posthorn-code': code,
  })
  t.equal(wrong.status, 422)
  t.equal((await browser.post('/sudo?next=/me', { 'posthorn-password': goodPassword })).status, 422)
  const proved = await browser.post('/sudo?next=//evil.test/', {
    'posthorn-password': goodPassword,
    'posthorn-code': code,
  })
  t.equal(proved.to, '/me', 'and leads nowhere else')
  t.not([...browser.cookies.values()][0], before)
  t.equal((await browser.post('/me/totp/remove')).to, '/me')
  t.match((await browser.get('/me')).text, /Your password alone lets somebody in/)
})

t.test('what was typed is kept while the password is asked for', async (t) => {
  const started = await startPeople(t)
  const { clock, accountId } = started
  const browser = await firstOperator(t, started, clock)
  await clock.advance(15 * 60_000)
  const path = `/a/${accountId}/team/invite`
  const typed = { email: 'max&co@example.test', role: 'viewer', 'posthorn-once': 'x' }
  const asked = await browser.post(path, typed)
  t.equal(asked.status, 307, 'the browser sends the same form there')
  const page = await browser.post(asked.to ?? '', typed)
  t.equal(page.status, 200)
  const [, action = ''] = /<form method="post" action="(\/sudo\?[^"]+)"/.exec(page.text) ?? []
  const fields = hiddenOf(page.text)
  t.match(fields, { email: 'max&amp;co@example.test', role: 'viewer' })
  t.not(fields['posthorn-once'], 'x')
  const way = action.replaceAll('&amp;', '&')
  const kept = { email: typed.email, role: typed.role, 'posthorn-once': 'y' }
  const wrong = await browser.post(way, { ...kept, 'posthorn-password': 'not this one' })
  t.equal(wrong.status, 422)
  t.match(hiddenOf(wrong.text), { role: 'viewer' }, 'a wrong password loses nothing')
  const proof = { ...kept, 'posthorn-password': goodPassword }
  const proved = await browser.post(way, proof)
  t.match(proved, { status: 307, to: path })
  const done = await browser.post(path, proof)
  t.match(done.text, /\/invite\/[\w-]{43}/)
  t.notMatch(done.text, goodPassword)
  const link = await browser.get(`/sudo?next=/me&to=${path}`)
  t.notMatch(link.text, /team.invite/, 'a link of somebody else has nothing done')
})

/** The first form's hidden fields. */
const hiddenOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    [
      ...(text.split('</form>').find((one) => one.includes('posthorn-password')) ?? '').matchAll(
        /type="hidden" name="([^"]+)" value="([^"]*)"/g,
      ),
    ].map(([, name, value]) => [name, value]),
  )
