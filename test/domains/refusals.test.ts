// Issue 39 B1: a refusal costs nothing, and pairs are made one at a time, apart from the threads that sync.
import type { Worker } from 'node:worker_threads'
import t from 'tap'
import { startPosthorn } from '../support/posthorn.js'

/** How many threads that make pairs were started, and how many lived at once. */
function watchPairs() {
  const seen = { made: 0, alive: 0, most: 0 }
  process.on('worker', (thread: Worker) => {
    // A name is known to the thread alone; its limits are those of key-pair.ts.
    if (thread.resourceLimits?.maxYoungGenerationSizeMb !== 2) return
    seen.made++
    seen.alive++
    seen.most = Math.max(seen.most, seen.alive)
    thread.once('exit', () => seen.alive--)
  })
  return seen
}

t.test('what is refused makes no key pair, and what is not makes one at a time', async (t) => {
  const posthorn = await startPosthorn(t)
  const seen = watchPairs()
  const add = (name: string, key?: string) =>
    posthorn.call('POST', '/v1/domains', { body: { name }, ...(key && { key }) })
  const statuses = async (asked: Promise<{ status: number }>[]) =>
    (await Promise.all(asked)).map(({ status }) => status)

  const other = await posthorn.addAccount('Other')
  t.equal((await add('first.test', other.apiKey)).status, 201)
  t.equal(seen.made, 1, 'a domain that is added has a pair, made in a thread of its own')
  // The plan of other accounts allows one domain.
  const refused = Array.from({ length: 30 }, (_, i) => add(`more${i}.test`, other.apiKey))
  t.same(new Set(await statuses(refused)), new Set([403]))
  t.same(new Set(await statuses([add('no domain'), add('a b.test')])), new Set([422]))
  t.equal((await add('sender.test')).status, 409)
  t.equal(seen.made, 1, 'none of these has made one')

  const twice = [1, 2, 3, 4].map(() => add('same.test'))
  t.same((await statuses(twice)).toSorted(), [201, 409, 409, 409])
  t.equal(seen.made, 2, 'of the same request at once one has')

  const many = Array.from({ length: 8 }, (_, i) => add(`many${i}.test`))
  const answers = await statuses(many)
  t.ok(answers.includes(429), 'more than wait for one account are told to come again')
  t.equal(seen.made, 2 + answers.filter((status) => status === 201).length)
  t.equal(seen.most, 1, 'no two at once')
})
