// Issue 15: who guesses learns nothing, and is held back; nobody is locked out for good.
import t from 'tap'
import { makeFailureLimits } from '../../src/people/failure-limits.js'
import { type Derive, forgetPastEntries, makePasswords } from '../../src/people/index.js'
import { FakeClock } from '../support/clock.js'
import { startPeople } from '../support/people.js'
import { firstOperator, goodPassword, openBrowser } from '../support/visitor.js'

const tooMany = /Too many people are logging in right now: try again in a minute/

const from = (address: string) => ({ 'x-forwarded-for': address })

t.test('the same work is done, and the same is said, whether there is such a person', async (t) => {
  const started = await startPeople(t)
  const { url, clock, derived, people } = started
  await firstOperator(t, started, clock)
  const attempt = async (email: string) => {
    derived.length = 0
    const { status, text } = await openBrowser(url).post('/login', {
      email,
      password: 'x'.repeat(12),
    })
    t.equal(status, 422)
    const [, said] = /role="alert"[\s\S]*?<p>(.*?)<\/p>/.exec(text) ?? []
    return { work: [...derived], said }
  }
  const known = await attempt('olga@example.test')
  t.same(known.work, ['32768 8 3 16 32'], 'one scrypt of full cost')
  t.same(await attempt('nobody@example.test'), known)
  const { id } = await people.store.read.selectFrom('users').select('id').executeTakeFirstOrThrow()
  await people.store.write((tx) =>
    tx.updateTable('users').set({ disabled_at: 1 }).where('id', '=', id).execute(),
  )
  t.same(await attempt('olga@example.test'), known, 'nor whether they may log in')
})

t.test('ten failures hold an address back, for waits that double and end', async (t) => {
  const started = await startPeople(t)
  const { url, clock } = started
  await firstOperator(t, started, clock)
  const attempt = async (password: string, email = 'olga@example.test', at = '192.0.2.1') =>
    await openBrowser(url).post('/login', { email, password }, from(at))
  for (let i = 0; i < 10; i++) t.equal((await attempt('wrong', `nobody${i}@x.test`)).status, 422)
  const held = await attempt(goodPassword)
  t.equal(held.status, 429)
  t.equal(held.headers.get('retry-after'), '60')
  t.match(held.text, /Too many attempts have failed. Try again in 60 seconds/)
  t.equal((await attempt(goodPassword, undefined, '192.0.2.2')).status, 303, 'nobody else is')
  await clock.advance(60_000)
  t.equal((await attempt('wrong', 'nobody@x.test')).status, 422)
  t.match((await attempt(goodPassword)).text, /Try again in 2 minutes/)
  await clock.advance(120_000)
  t.equal((await attempt(goodPassword)).status, 303)
})

t.test(
  'twenty failures hold a person back from wherever they come, never for more than an hour',
  async (t) => {
    const started = await startPeople(t)
    const { url, clock } = started
    await firstOperator(t, started, clock)
    let n = 0
    const attempt = async (password: string) =>
      await openBrowser(url).post(
        '/login',
        { email: 'olga@example.test', password },
        from(`198.51.100.${n++}`),
      )
    for (let i = 0; i < 20; i++) await attempt('wrong')
    t.match((await attempt(goodPassword)).text, /Too many attempts/)
    for (let i = 0; i < 8; i++) {
      await clock.advance(3_600_000)
      t.equal((await attempt('wrong')).status, 422)
    }
    await clock.advance(3_600_000)
    t.equal((await attempt(goodPassword)).status, 303, 'an hour later they are in')
  },
)

t.test(
  'of many log-ins at once two are worked on, twenty wait, and the others are told',
  async (t) => {
    let running = 0
    let most = 0
    let go = () => {}
    const opened = new Promise<void>((resolve) => {
      go = resolve
    })
    const derive: Derive = async () => {
      running++
      most = Math.max(most, running)
      await opened
      running--
      return Buffer.alloc(32)
    }
    const { url } = await startPeople(t, { derive })
    const attempts = Array.from({ length: 30 }, (_, i) =>
      openBrowser(url).post(
        '/login',
        { email: `a${i}@x.test`, password: 'x' },
        from(`203.0.113.${i}`),
      ),
    )
    const busy = await Promise.race(attempts)
    t.match(busy.text, tooMany, 'who came too late is told first')
    go()
    const texts = (await Promise.all(attempts)).map(({ text }) => text)
    t.equal(texts.filter((text) => tooMany.test(text)).length, 8)
    t.equal(texts.filter((text) => /The address or the password is wrong/.test(text)).length, 22)
    t.equal(most, 2)
  },
)

t.test(
  'a password that is stored with other parameters is stored anew at the log-in',
  async (t) => {
    const started = await startPeople(t)
    const { store, url, clock } = started
    await firstOperator(t, started, clock)
    const before = await store.read.selectFrom('users').select('password').executeTakeFirstOrThrow()
    const old = before.password?.replace('$15$8$3$', '$14$8$1$') ?? ''
    await store.write((tx) => tx.updateTable('users').set({ password: old }).execute())
    const entered = await openBrowser(url).post('/login', {
      email: 'olga@example.test',
      password: goodPassword,
    })
    t.equal(entered.status, 303)
    const after = await store.read.selectFrom('users').select('password').executeTakeFirstOrThrow()
    t.match(after.password, /^scrypt\$15\$8\$3\$/)
  },
)

t.test('who is held back stays so, under however many names they fail', async (t) => {
  const limits = makeFailureLimits(new FakeClock())
  const clientAddressKey = '192.0.2.1'
  for (let i = 0; i < 10; i++) t.equal(limits.take({ clientAddressKey, who: `a${i}@x.test` }), 0)
  for (let i = 0; i < 50_001; i++) limits.take({ clientAddressKey, who: `b${i}@x.test` })
  t.equal(
    limits.take({ clientAddressKey, who: 'c@x.test' }),
    60_000,
    'what is refused leaves nothing',
  )
  // From other addresses too: who is let through pushes out whom nobody holds back.
  for (let i = 0; i < 50_001; i++)
    limits.take({ clientAddressKey: `2001:db8:${i}`, who: `d${i}@x.test` })
  t.equal(limits.take({ clientAddressKey, who: 'c@x.test' }), 60_000)
})

t.test('the waits come to an hour, and a pause does not begin them anew', async (t) => {
  const day = 86_400_000
  const guesses = async (pauseMs: number) => {
    const clock = new FakeClock()
    const limits = makeFailureLimits(clock)
    let made = 0
    for (const end = clock.now() + day; clock.now() < end; ) {
      const waitMs = limits.take({ clientAddressKey: '192.0.2.1', who: 'olga@example.test' })
      if (waitMs === 0) made++
      else await clock.advance(waitMs + pauseMs)
    }
    return made
  }
  for (const minutes of [0, 15, 60, 359, 361]) {
    const made = await guesses(minutes * 60_000)
    t.ok(made <= 41, `${made} guesses a day with pauses of ${minutes} minutes`)
  }
})

t.test(
  'strangers who fail in a name keep nobody out at their own place, nor from /sudo',
  async (t) => {
    const started = await startPeople(t)
    const { url, clock } = started
    const browser = await firstOperator(t, started, clock)
    const own = '203.0.113.7'
    const credentials = { email: 'olga@example.test', password: goodPassword }
    t.equal((await openBrowser(url).post('/login', credentials, from(own))).status, 303)
    for (let i = 0; i < 20; i++) {
      await openBrowser(url).post(
        '/login',
        { ...credentials, password: 'x' },
        from(`198.51.100.${i}`),
      )
    }
    const elsewhere = await openBrowser(url).post('/login', credentials, from('192.0.2.1'))
    t.match(elsewhere.text, /Too many attempts/, 'elsewhere they wait')
    t.equal((await openBrowser(url).post('/login', credentials, from(own))).status, 303)
    const stranger = from('198.51.100.0')
    for (let i = 0; i < 9; i++)
      await openBrowser(url).post('/login', { email: 'n', password: 'x' }, stranger)
    const proof = { 'posthorn-password': goodPassword }
    t.equal(
      (await browser.post('/sudo', proof, stranger)).to,
      '/me',
      'at the address of strangers, too',
    )
    await clock.advance(30 * 86_400_000 + 1)
    for (let i = 0; i < 20; i++) {
      await openBrowser(url).post(
        '/login',
        { ...credentials, password: 'x' },
        from(`198.51.101.${i}`),
      )
    }
    await started.store.write((tx) => forgetPastEntries(tx, clock.now()))
    const late = await openBrowser(url).post('/login', credentials, from(own))
    t.match(late.text, /Too many attempts/, 'a place is known for 30 days')
  },
)

t.test('who came when too many log in did not fail, and who is known does not wait', async (t) => {
  let go = () => {}
  const opened = new Promise<void>((resolve) => {
    go = resolve
  })
  const derive: Derive = async (password, salt) => {
    if (password === 'stranger') await opened
    return Buffer.alloc(32, password === 'stranger' ? 1 : salt.length)
  }
  const started = await startPeople(t, { derive })
  const { url, clock } = started
  const browser = await firstOperator(t, started, clock)
  const strangers = Array.from({ length: 23 }, (_, i) =>
    openBrowser(url).post(
      '/login',
      { email: `a${i}@x.test`, password: 'stranger' },
      from(`203.0.113.${i}`),
    ),
  )
  const credentials = { email: 'olga@example.test', password: goodPassword }
  const attempt = (at: string) => openBrowser(url).post('/login', credentials, from(at))
  t.match((await Promise.race(strangers)).text, tooMany, 'no place is left')
  for (let i = 0; i < 12; i++) t.match((await attempt('192.0.2.1')).text, tooMany, 'no wait')
  t.equal((await browser.post('/login', credentials)).status, 303, 'at a known place')
  t.equal((await browser.post('/sudo', { 'posthorn-password': goodPassword })).to, '/me')
  go()
  await Promise.all(strangers)
  t.equal((await attempt('192.0.2.1')).status, 303)
})

t.test('a password that nobody can have costs its scrypt and no more', async (t) => {
  const seen: string[] = []
  const derive: Derive = async (password) => {
    seen.push(password)
    return Buffer.alloc(32)
  }
  const passwords = makePasswords(derive)
  const stored = await passwords.hash('a good one', 'one')
  // To sort 31,000 marks took a second, in which nobody else was answered.
  const marks = `a${'\u0315'.repeat(15_500)}${'\u0316'.repeat(15_500)}`
  t.same(await passwords.check(marks, stored), { isRight: false, isOld: false })
  t.same(await passwords.checkOwn(marks, null, 'one'), { isRight: false, isOld: false })
  t.same(seen, ['a good one', '', ''])
})

t.test('one person has one place in the line, and so many attempts a minute', async (t) => {
  let go = () => {}
  const wait = new Promise<void>((resolve) => {
    go = resolve
  })
  const passwords = makePasswords(async () => {
    await wait
    return Buffer.alloc(32)
  })
  const first = passwords.checkOwn('right', null, 'eve')
  for (let n = 0; n < 30; n++) {
    await t.rejects(passwords.checkOwn('right', null, 'eve'), /Your last attempt is still/)
  }
  const ada = passwords.checkOwn('right', null, 'ada')
  go()
  await Promise.all([first, ada])

  const clock = new FakeClock()
  const limits = makeFailureLimits(clock)
  const from = { who: 'proof eve' }
  for (let n = 0; n < 30; n++) {
    t.equal(limits.take(from), 0)
    limits.forgive(from)
  }
  t.equal(limits.take(from), 60_000, 'right ones count too')
  t.equal(limits.take({ who: 'proof ada' }), 0)
  await clock.advance(60_000)
  t.equal(limits.take(from), 0)
})
