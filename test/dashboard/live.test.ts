import t from 'tap'
import { makeLive } from '../../src/dashboard/live/live.js'
import { FakeClock } from '../support/clock.js'
import { logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'

function start() {
  const clock = new FakeClock()
  let commits = 1
  let asked = 0
  const store = {
    commits() {
      asked++
      return commits
    },
  }
  const live = makeLive({ store, clock })
  const ended = new Set<string>()
  const open = (sessionId: string, personId = sessionId) => {
    const gone = new AbortController()
    const lasts = async () => !ended.has(sessionId)
    const stream = live.open({ sessionId, personId, lasts }, gone.signal)
    const events = stream?.[Symbol.asyncIterator]()
    return { isOpen: stream !== undefined, next: async () => (await events?.next())?.value, gone }
  }
  return { clock, open, ended, commit: () => commits++, asked: () => asked }
}

t.test('a commit is told to all who listen, and silence every five seconds', async (t) => {
  const { clock, open, commit } = start()
  const [one, two] = [open('a'), open('b')]
  t.match(await one.next(), 'retry')
  await two.next()
  const told = [one.next(), two.next()]
  commit()
  await clock.advance(2_000)
  t.same(await Promise.all(told), ['event: changed\ndata:\n\n', 'event: changed\ndata:\n\n'])
  const silence = one.next()
  await clock.advance(5_000)
  t.equal(await silence, ':\n\n')
})

t.test('nothing is asked of the database while nobody listens', async (t) => {
  const { clock, open, asked } = start()
  const one = open('a')
  await one.next()
  const last = one.next()
  one.gone.abort()
  await last
  t.equal(await one.next(), undefined, 'the stream ends when its client goes')
  const before = asked()
  await clock.advance(60_000)
  t.equal(asked(), before)
})

t.test('a session has two streams, the appliance a hundred', async (t) => {
  const { open } = start()
  const own: boolean[] = []
  for (let tab = 0; tab < 3; tab++) {
    const { isOpen, next } = open('a')
    own.push(isOpen)
    await next()
  }
  t.same(own, [true, true, false])
  for (let more = 0; more < 98; more++) await open(`session ${more}`).next()
  t.notOk(open('last').isOpen)
})

t.test('streams that are asked for at once are counted before they begin', async (t) => {
  const { open } = start()
  const [one, two, three] = [open('a'), open('a'), open('a')]
  t.same([one.isOpen, two.isOpen, three.isOpen], [true, true, false])
  one.gone.abort()
  t.ok(open('a').isOpen, 'whose client has gone makes room')
})

t.test('a person has six streams, by whatever many log-ins', async (t) => {
  const { open } = start()
  const own: boolean[] = []
  for (let logIns = 0; logIns < 7; logIns++) {
    const { isOpen, next } = open(`session ${logIns}`, 'ann')
    own.push(isOpen)
    await next()
  }
  t.same(own, [true, true, true, true, true, true, false])
})

t.test('a stream ends soon after its session', async (t) => {
  const { clock, open, commit, ended } = start()
  const one = open('a')
  await one.next()
  ended.add('a')
  const told: unknown[] = []
  let next = one.next()
  for (let seconds = 0; seconds < 40; seconds += 2) {
    commit()
    await clock.advance(2_000)
    told.push(await next)
    next = one.next()
  }
  t.ok(told.includes('event: changed\ndata:\n\n'))
  t.equal(told.at(-1), undefined)
})

t.test('the events come from the appliance, to who is logged in alone', async (t) => {
  const posthorn = await startPosthorn(t)
  const owner = await logIn(posthorn, posthorn.accountId, 'owner')
  t.equal((await fetch(`${posthorn.url}/live`, { redirect: 'manual' })).status, 303)
  const response = await fetch(`${posthorn.url}/live`, { headers: { cookie: owner.cookie } })
  t.equal(response.headers.get('content-type'), 'text/event-stream')
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  await posthorn.send({ from: 'a@sender.test', to: 'b@example.test', subject: 'x', text: 'x' })
  let text = ''
  while (!text.includes('event: changed')) text += (await reader?.read())?.value ?? ''
  t.match(text, 'event: changed')
  const more = await Promise.all(
    [1, 2].map(() => fetch(`${posthorn.url}/live`, { headers: { cookie: owner.cookie } })),
  )
  const statuses = more.map(({ status }) => status)
  t.same(statuses.sort(), [200, 204], 'a third of one log-in looks by itself, and nothing is wrong')
  await posthorn.appliance.close()
  t.ok(true, 'the open stream holds up no stop')
  for (const one of more) await one.body?.cancel().catch(() => {})
  await reader?.cancel().catch(() => {})
})

t.test('the events of the appliance end after the log-out', async (t) => {
  const clock = new FakeClock(Date.now())
  const posthorn = await startPosthorn(t, { clock })
  const owner = await logIn(posthorn, posthorn.accountId, 'owner', clock.now())
  const response = await fetch(`${posthorn.url}/live`, { headers: { cookie: owner.cookie } })
  let ended = false
  void response.text().then(
    () => {
      ended = true
    },
    () => {},
  )
  const pass = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed += 5) {
      await clock.advance(5_000)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  await pass(60)
  t.notOk(ended, 'it goes on with its session')
  t.equal((await owner.post('/logout')).status, 303)
  await pass(60)
  t.ok(ended)
})
