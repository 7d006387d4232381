import t, { type Test } from 'tap'
// Entered past the door: what is asked here is what one batch makes of results.
import { makeResults, type PostedJob } from '../../src/webhooks/results.js'
import type { Job } from '../../src/webhooks/settle.js'
import { poison } from '../support/poison.js'
import { countStatements } from '../support/statements.js'
import { webhookRig } from '../support/webhooks.js'

async function open(t: Test, count: number) {
  const rig = await webhookRig(t)
  const { store } = rig
  const endpoint = await rig.endpoint('https://hooks.test/', ['email.delivered'])
  const emailId = await rig.mail()
  for (let i = 0; i < count; i++) await rig.land(emailId, 'delivered')
  const jobs: Job[] = await store.read
    .selectFrom('webhook_jobs')
    .selectAll()
    .orderBy('id')
    .execute()
  t.equal(jobs.length, count)
  const write = makeResults(store)
  const base = { attempts: 1, now: 7_000, dueAt: undefined, failedBefore: false }
  const left = () => store.read.selectFrom('webhook_jobs').selectAll().orderBy('id').execute()
  return {
    rig,
    store,
    jobs,
    left,
    write: (results: readonly PostedJob[]) => Promise.all(results.map((one) => write(one))),
    taken: (job: Job): PostedJob => ({
      ...base,
      job,
      answer: { kind: 'taken', status: 204, response: '' },
    }),
    failed: (job: Job, dueAt?: number): PostedJob => ({
      ...base,
      job,
      attempts: 5,
      dueAt,
      answer: { kind: 'failed', error: 'No answer', cause: null },
    }),
    standing: () =>
      store.read
        .selectFrom('webhook_endpoints')
        .select(['failures', 'failing_since', 'enabled'])
        .where('id', '=', endpoint.id)
        .executeTakeFirstOrThrow(),
    logged: () => rig.deliveries(endpoint.id),
  }
}

t.test('results that come together are written by a few statements', async (t) => {
  const { write, taken, failed, jobs, left, logged } = await open(t, 50)
  const counts = countStatements(t)
  const made = () => [...counts.values()].reduce((sum, times) => sum + times, 0)
  await write(jobs.slice(0, 10).map((job) => failed(job, 9_000)))
  t.ok(made() > 0 && made() <= 6, `${made()} statements put 10 off`)
  counts.clear()
  await write(jobs.map(taken))
  t.ok(made() <= 10, `${made()} statements end 50`)
  t.same(await left(), [])
  t.equal((await logged()).filter(({ outcome }) => outcome === 'delivered').length, 50)
})

t.test('what came of an attempt stands beside the job that waits for another', async (t) => {
  const { write, failed, jobs, left } = await open(t, 2)
  const [one, two] = jobs
  if (one === undefined || two === undefined) return
  await write([failed(one, 9_000), failed(two, 10_000)])
  const told = { attempts: 5, status: null, response: null, error: 'No answer', tried_at: 7_000 }
  t.match(await left(), [
    { ...one, ...told, due_at: 9_000 },
    { ...two, ...told, due_at: 10_000 },
  ])
})

t.test(
  'failures in a row are counted in their order, and the thirtieth of a day disables',
  async (t) => {
    const { write, taken, failed, jobs, standing } = await open(t, 61)
    const forgets = { failedBefore: true }
    const [first, ...rest] = jobs
    if (first === undefined) return
    const day = 86_400_000
    const results = rest.map((job, i) => ({
      ...failed(job),
      now: i === 29 ? 0 : i < 58 ? 7_000 : day,
    }))
    results.splice(29, 0, { ...taken(first), ...forgets })
    const told = await write(results.slice(0, 59))
    t.same(told.filter(Boolean), [], '29, a success, 29')
    t.match(await standing(), { failures: 29, failing_since: 0, enabled: 1 })
    t.same(await write(results.slice(59)), [true, false])
    t.match(await standing(), { failures: 31, enabled: 0 })
  },
)

t.test('a result that cannot be written keeps no other', async (t) => {
  const { store, write, taken, jobs, left } = await open(t, 5)
  const bad = jobs[2]
  await poison(store, 'insert on webhook_deliveries', `new.id = ${bad?.id}`)
  await t.rejects(write(jobs.map(taken)), /poisoned/)
  // Its halves may be written one after the other.
  await store.write(async () => {})
  t.same(
    (await left()).map(({ id }) => id),
    [bad?.id],
  )
})
