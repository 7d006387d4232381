import t from 'tap'
import { Posthorn, QuotaError, type SendEmail, type Sent } from '../../src/client/index.js'

const mail = (to: string): SendEmail => ({ from: 'a@b.test', to, subject: 'S', html: '<p>H</p>' })

interface Batch {
  key: string
  to: string[]
}

/** A client of a server that answers batches as `answer` says; undefined: it takes all of them. */
function batching(answer: (batch: Batch) => { status: number; body: object } | undefined) {
  const batches: Batch[] = []
  const fetch = async (_url: string, init: RequestInit) => {
    const { emails } = JSON.parse(String(init.body)) as { emails: { to: string }[] }
    const key = new Headers(init.headers as Record<string, string>).get('idempotency-key') ?? ''
    const batch = { key, to: emails.map(({ to }) => to) }
    batches.push(batch)
    const { status, body } = answer(batch) ?? {
      status: 200,
      body: { queued: batch.to.length, ids: batch.to.map((to) => `id-${to}`) },
    }
    return Response.json(body, { status })
  }
  return { batches, posthorn: new Posthorn({ url: 'http://posthorn.test', fetch, retries: 0 }) }
}

async function all<T>(results: AsyncIterable<T>): Promise<{ results: T[]; thrown: unknown }> {
  const taken: T[] = []
  try {
    for await (const one of results) taken.push(one)
    return { results: taken, thrown: undefined }
  } catch (thrown) {
    return { results: taken, thrown }
  }
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `${index}@d.test`)

t.test('a source of any length goes in batches of 100, each with a key of its place', async (t) => {
  const { batches, posthorn } = batching(() => undefined)
  async function* source() {
    for (const to of names(250)) yield mail(to)
  }
  const { results } = await all(posthorn.emails.sendMany(source(), { idempotencyKey: 'march' }))
  t.same(
    results,
    names(250).map((to, index) => ({ index, id: `id-${to}` })),
  )
  t.same(
    batches.map(({ key, to }) => [key, to.length]),
    [
      ['march-0', 100],
      ['march-100', 100],
      ['march-200', 50],
    ],
  )
})

t.test('large mails go in smaller batches', async (t) => {
  const { batches, posthorn } = batching(() => undefined)
  const large = { ...mail('a@d.test'), html: 'x'.repeat(2 * 1024 * 1024) }
  await all(posthorn.emails.sendMany(Array(5).fill(large)))
  t.same(
    batches.map(({ to }) => to.length),
    [2, 2, 1],
  )
})

t.test('no more than two are under way, and no more is read than is needed', async (t) => {
  let read = 0
  let underWay = 0
  let most = 0
  const fetch = async (_url: string, init: RequestInit) => {
    most = Math.max(most, ++underWay)
    await new Promise((resolve) => setImmediate(resolve))
    underWay--
    const { emails } = JSON.parse(String(init.body)) as { emails: unknown[] }
    return Response.json({ queued: emails.length, ids: emails.map(() => 'id') })
  }
  function* source() {
    for (; read < 2_000; read++) yield mail('a@d.test')
  }
  const posthorn = new Posthorn({ url: 'http://posthorn.test', fetch })
  for await (const { index } of posthorn.emails.sendMany(source())) if (index === 50) break
  t.equal(most, 2)
  t.ok(read <= 400, `${read} of 2,000 were read`)
})

t.test(
  'what is invalid is reported, and the rest of its batch is sent under its key',
  async (t) => {
    const { batches, posthorn } = batching(({ to }) => {
      const errors = to.flatMap((one, index) =>
        one.startsWith('bad') ? [{ index, error: `${one} is not an email address` }] : [],
      )
      if (errors.length === 0) return undefined
      return { status: 422, body: { code: 'validation_error', error: 'Some are wrong', errors } }
    })
    const to = ['0@d.test', 'bad1', '2@d.test', 'bad3']
    const sent = posthorn.emails.sendMany(to.map(mail), { idempotencyKey: 'k' })
    const { results, thrown } = await all(sent as AsyncIterable<Sent<string>>)
    t.equal(thrown, undefined)
    t.match(results, [
      { index: 0, id: 'id-0@d.test' },
      { index: 1, error: { message: 'bad1 is not an email address', code: 'validation_error' } },
      { index: 2, id: 'id-2@d.test' },
      { index: 3, error: { message: 'bad3 is not an email address' } },
    ])
    t.same(batches.slice(1), [{ key: 'k-0', to: ['0@d.test', '2@d.test'] }])
  },
)

t.test(
  'a run that is repeated sends nothing twice, even where other items are invalid now',
  async (t) => {
    // As the server has it: a key that succeeded answers its body alone, and others with a 409.
    const kept = new Map<string, string>()
    const mailed: string[] = []
    let bad = ['1@d.test']
    const { posthorn } = batching(({ key, to }) => {
      const before = kept.get(key)
      if (before === to.join()) return undefined
      if (before !== undefined) {
        return { status: 409, body: { code: 'invalid_idempotent_request', error: 'Used' } }
      }
      const errors = to.flatMap((one, index) => (bad.includes(one) ? [{ index, error: 'No' }] : []))
      if (errors.length > 0) {
        return { status: 422, body: { code: 'validation_error', error: 'Some', errors } }
      }
      kept.set(key, to.join())
      mailed.push(...to)
      return undefined
    })
    const run = () => all(posthorn.emails.sendMany(names(150).map(mail), { idempotencyKey: 'k' }))
    await run()
    bad = []
    const { results, thrown } = await run()
    t.equal(thrown, undefined)
    t.equal(new Set(mailed).size, mailed.length, 'nobody was mailed twice')
    t.match(results[0], { error: { code: 'invalid_idempotent_request' } })
    t.match(results[149], { id: 'id-149@d.test' }, 'batches that were whole are answered as before')
  },
)

t.test('at a cap it sends what still fits, yields it, and says where it stopped', async (t) => {
  let room = 105
  const { batches, posthorn } = batching(({ to }) => {
    if (to.length <= room) {
      room -= to.length
      return undefined
    }
    const body = { code: 'daily_quota_exceeded', error: 'Used up', canSend: room }
    return { status: 429, body }
  })
  const sent = posthorn.emails.sendMany(names(300).map(mail), {
    idempotencyKey: 'k',
    concurrency: 1,
  })
  const { results, thrown } = await all(sent)
  t.equal(results.length, 105)
  t.type(thrown, QuotaError)
  t.match(thrown, { stoppedAt: 105, period: 'daily', canSend: 5 })
  t.same(
    batches.map(({ key, to }) => [key, to.length]),
    [
      ['k-0', 100],
      ['k-100', 100],
      ['k-100', 5],
    ],
    'nothing more is sent',
  )
})

t.test('recipients count, not mails, against what can be sent', async (t) => {
  const { batches, posthorn } = batching(({ to }) =>
    to.length > 2
      ? { status: 402, body: { code: 'monthly_quota_exceeded', error: 'Used', canSend: 5 } }
      : undefined,
  )
  const three = { ...mail(''), to: ['a@d.test', 'b@d.test', 'c@d.test'] }
  const two = { ...mail('a@d.test'), cc: ['b@d.test'] } as SendEmail
  const { thrown } = await all(posthorn.emails.sendMany([three, two, mail('d@d.test')]))
  t.match(thrown, { stoppedAt: 2 })
  t.equal(batches[1]?.to.length, 2)
})

t.test('a list is fetched page by page, and no further than it is read', async (t) => {
  const asked: string[] = []
  const fetch = async (url: string) => {
    const cursor = new URL(url).searchParams.get('cursor') ?? ''
    asked.push(cursor)
    const at = Number(cursor)
    const contacts = [{ email: `${at}a` }, { email: `${at}b` }]
    const nextCursor = at < 2 ? String(at + 1) : null
    return Response.json({ contacts, hasMore: at < 2, nextCursor })
  }
  const posthorn = new Posthorn({ url: 'http://posthorn.test', fetch })
  const list = posthorn.contacts.list('x', { limit: 2 })
  t.same(asked, [], 'nothing is asked for before somebody wants it')
  t.equal((await list).nextCursor, '1')
  const seen: string[] = []
  for await (const { email } of list) {
    seen.push(email)
    if (email === '1a') break
  }
  t.same(seen, ['0a', '0b', '1a'])
  t.same(asked, ['', '1'], 'the first page was fetched once, the third never')
  const pages = []
  for await (const { contacts } of posthorn.contacts.list('x').pages()) pages.push(contacts.length)
  t.same(pages, [2, 2, 2])
})
