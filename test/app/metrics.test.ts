import t, { type Test } from 'tap'
import { makeLedger, makeTally } from '../../src/metrics/index.js'
import { isPostgres } from '../support/postgres.js'
import { type Posthorn, startPosthorn } from '../support/posthorn.js'

t.test('what real mails do is counted, in text that Prometheus reads', async (t) => {
  const posthorn = await startPosthorn(t)
  const to = ['a@one.test', 'b@two.test']
  const body = { from: 'Shop <shop@sender.test>', subject: 'Hi', html: '<p>Hi</p>' }
  const { json } = await posthorn.send({ ...body, to })
  await posthorn.until(json.id, ({ status }) => status === 'delivered')
  await posthorn.call('GET', '/v1/emails/no-uuid')
  await posthorn.call('GET', '/nothing/here')
  await posthorn.call('DELETE', '/v1/billing/plans')
  await fetch(`${posthorn.publicUrl}/`)
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
  await posthorn.send({ ...body, to: 'c@one.test', scheduledAt: tomorrow })

  // The threads tell every two seconds.
  const metrics = await untilCounted(
    posthorn,
    'posthorn_attempts_total',
    { outcome: 'delivered' },
    to.length,
  )
  t.equal(metrics.value('posthorn_attempts_total', { outcome: 'delivered' }), 2)
  const requests = (labels: object) => metrics.value('posthorn_http_requests_total', labels)
  const privately = { listener: 'private' }
  const send = { ...privately, method: 'POST', route: '/v1/emails/send' }
  t.equal(requests({ ...send, status: '200' }), 2)
  const read = { ...privately, method: 'GET', route: '/v1/emails/:id' }
  t.ok((requests({ ...read, status: '200' }) ?? 0) >= 1)
  t.equal(requests({ ...read, status: '404' }), 1)
  t.equal(requests({ ...privately, method: 'GET', route: 'unknown', status: '404' }), 1)
  const plans = { ...privately, route: '/v1/billing/plans' }
  t.equal(requests({ ...plans, method: 'DELETE', status: '405' }), 1)
  t.equal(requests({ listener: 'public', method: 'GET', route: '/', status: '200' }), 1)
  t.equal(metrics.value('posthorn_http_request_seconds_count', send), 2)

  const commits = metrics.value('posthorn_commits_total', {}) ?? 0
  t.ok(commits >= 4, `${commits} commits of main, outbound and sandbox`)
  t.ok((metrics.value('posthorn_commit_works_total', {}) ?? 0) >= commits)
  t.equal(metrics.value('posthorn_commit_seconds_count', {}), commits)
  if (!isPostgres) t.ok((metrics.value('posthorn_wal_bytes', {}) ?? 0) > 0)
  t.equal(metrics.find('posthorn_build_info').length, 1)
  t.ok((metrics.value('process_resident_memory_bytes', {}) ?? 0) > 1e7)
  t.notOk(metrics.text.includes('one.test'), 'no recipient')

  const others = { provider: 'other', outcome: 'delivered' }
  t.equal(metrics.value('posthorn_provider_attempts_total', others), 2)
  const accepted = await untilCounted(posthorn, 'posthorn_accepted_total', {}, 3)
  t.equal(accepted.value('posthorn_accepted_total', {}), 3, 'the scheduled one too')
  t.equal(accepted.find('posthorn_queue_deliveries').length, 3, 'a line a class')
  t.equal(accepted.find('posthorn_queue_due_seconds').length, 3)
  t.ok((accepted.value('posthorn_thread_cpu_seconds_total', { thread: 'outbound-0' }) ?? 0) > 0)
  t.ok((accepted.value('posthorn_thread_lag_seconds', { thread: 'main' }) ?? -1) >= 0)
  if (isPostgres) await wayThereIsCounted(t, posthorn)
  else {
    const turns = accepted.value('posthorn_turn_wait_seconds_count', {}) ?? 0
    t.ok(turns >= commits, 'a turn before each transaction')
  }

  const later = await scrape(posthorn)
  const own = { ...privately, method: 'GET', route: '/metrics', status: '200' }
  t.ok((later.value('posthorn_http_requests_total', own) ?? 0) > 0)
  for (const { name, labels, value } of metrics.samples) {
    if (/^posthorn_.*(_total|_count|_bucket)$/.test(name)) {
      t.ok((later.value(name, labels) ?? -1) >= value, `${name} only rises`)
    }
  }
  t.equal((await fetch(`${posthorn.publicUrl}/metrics`)).status, 404, 'not for the public')
})

/** What a database on a server has in place of turns. */
async function wayThereIsCounted(t: Test, posthorn: Posthorn) {
  const metrics = await untilCounted(posthorn, 'posthorn_store_connected', {}, 1)
  const value = (name: string, labels = {}) => metrics.value(name, labels) ?? 0
  const seconds = 'posthorn_store_transaction_seconds_count'
  const kinds = ['write', 'by_row', 'gather'].map((kind) => value(seconds, { kind }))
  t.ok(
    kinds.every((count) => count > 0),
    `transactions of each kind: ${kinds}`,
  )
  t.equal(
    kinds.reduce((sum, count) => sum + count, 0),
    value('posthorn_commits_total'),
  )
  t.ok(value('posthorn_store_round_trips_total') > value('posthorn_commits_total'))
  t.ok(value('posthorn_store_connection_wait_seconds_count') > 0)
  t.ok(value('posthorn_store_beat') > 0)
}

t.test('they can be off', async (t) => {
  const posthorn = await startPosthorn(t, { env: { POSTHORN_METRICS_ENABLED: 'false' } })
  t.equal((await fetch(`${posthorn.url}/metrics`)).status, 404)
  const { json } = await posthorn.send({
    from: 'shop@sender.test',
    to: 'a@one.test',
    subject: 'Hi',
    html: '<p>Hi</p>',
  })
  await posthorn.until(json.id, ({ status }) => status === 'delivered')
})

t.test('threads add up; a dead one keeps its counts and loses its gauges', async (t) => {
  const one = makeTally()
  const two = makeTally()
  const ledger = makeLedger()
  one.count('posthorn_attempts_total', { outcome: 'delivered' }, 3)
  two.count('posthorn_attempts_total', { outcome: 'delivered' })
  two.count('posthorn_attempts_total', { outcome: 'bounced' })
  one.gauge('posthorn_connections', { site: 'mx.one.test' }, 4)
  two.gauge('posthorn_connections', { site: 'mx.two.test' }, 2)
  two.gauge('posthorn_connections', { site: 'mx.gone.test' }, 2)
  two.gauge('posthorn_connections', { site: 'mx.gone.test' }, 0)
  for (const seconds of [0.0004, 0.003, 99]) one.observe('posthorn_commit_seconds', {}, seconds)
  two.observe('posthorn_commit_seconds', {}, 0.003)
  ledger.add('one', structuredClone(one.take()))
  ledger.add('two', structuredClone(two.take()))
  ledger.add('one', structuredClone(one.take()))
  const values = (name: string) =>
    Object.fromEntries(
      ledger
        .series(name)
        .map(({ metricName, labels, value }) => [
          [metricName, ...Object.values(labels)].join(' ').slice(9),
          value,
        ]),
    )
  t.same(values('posthorn_attempts_total'), {
    'attempts_total delivered': 4,
    'attempts_total bounced': 1,
  })
  t.same(values('posthorn_connections'), {
    'connections mx.one.test': 4,
    'connections mx.two.test': 2,
  })
  t.match(values('posthorn_commit_seconds'), {
    'commit_seconds_bucket 0.0005': 1,
    'commit_seconds_bucket 0.0025': 1,
    'commit_seconds_bucket 0.005': 3,
    'commit_seconds_bucket 10': 3,
    'commit_seconds_bucket +Inf': 4,
    commit_seconds_count: 4,
    commit_seconds_sum: 0.0004 + 0.003 + 99 + 0.003,
  })
  ledger.forget('two')
  t.same(values('posthorn_connections'), { 'connections mx.one.test': 4 })
  t.match(values('posthorn_attempts_total'), { 'attempts_total bounced': 1 })
  t.same(values('posthorn_commits_total'), { commits_total: 0 }, 'there before the first')
})

t.test('however many sites and labels there are, the series stay few', async (t) => {
  const ledger = makeLedger()
  for (const thread of ['one', 'two']) {
    const tally = makeTally()
    for (let i = 1; i <= 500; i++) {
      tally.gauge('posthorn_connections', { site: `${thread}${i}.test` }, i)
    }
    for (let i = 0; i < 5_000; i++) tally.count('posthorn_throttled_total', { gate: `gate ${i}` })
    ledger.add(thread, tally.take())
  }
  const sites = ledger.series('posthorn_connections')
  t.equal(sites.length, 51)
  t.match(sites[0], { labels: { site: /^(one|two)500\.test$/ }, value: 500 })
  t.match(sites.at(-1), { labels: { site: 'other' } })
  t.equal(
    sites.reduce((sum, { value }) => sum + value, 0),
    (2 * 500 * 501) / 2,
    'all are counted',
  )
  const gates = ledger.series('posthorn_throttled_total')
  t.equal(gates.length, 2_001)
  t.equal(gates.find(({ labels }) => labels.gate === 'other')?.value, 6_000)
})

interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

async function untilCounted(posthorn: Posthorn, name: string, labels: object, atLeast = 1) {
  for (let tries = 0; tries < 100; tries++) {
    const metrics = await scrape(posthorn)
    if ((metrics.value(name, labels) ?? 0) >= atLeast) return metrics
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`${name} was never counted`)
}

async function scrape({ url }: Posthorn) {
  const response = await fetch(`${url}/metrics`)
  const type = response.headers.get('content-type')
  if (response.status !== 200 || type !== 'text/plain; version=0.0.4; charset=utf-8') {
    throw new Error(`${response.status} ${type}`)
  }
  const text = await response.text()
  const samples = parseExposition(text)
  const find = (name: string, labels: object = {}) =>
    samples.filter(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    )
  return {
    text,
    samples,
    find,
    value: (name: string, labels: object) => find(name, labels)[0]?.value,
  }
}

/** The text format, strictly: every sample belongs to the HELP and TYPE above it. */
function parseExposition(text: string): Sample[] {
  const samples: Sample[] = []
  const types = new Map<string, string>()
  let family = ''
  let helped = ''
  for (const line of text.trimEnd().split('\n')) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line)
    if (comment?.[1] === 'HELP') {
      helped = comment[2] ?? ''
      continue
    }
    if (comment !== null) {
      family = comment[2] ?? ''
      if (family !== helped) throw new Error(`No HELP above ${line}`)
      if (types.has(family)) throw new Error(`${family} comes twice`)
      if (!/^(counter|gauge|histogram|summary)$/.test(comment[3] ?? '')) throw new Error(line)
      types.set(family, comment[3] ?? '')
      continue
    }
    if (line === '') continue
    const match =
      /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)$/.exec(
        line,
      )
    if (match === null) throw new Error(`Not a sample: ${line}`)
    const [, name = '', labels = '', value = ''] = match
    const histogram = /^(.+)_(bucket|sum|count)$/.exec(name)?.[1]
    const owner = types.get(name) === undefined ? (histogram ?? name) : name
    if (owner !== family) throw new Error(`${line} is not of ${family}`)
    // Prometheus reads them by Go's ParseFloat, which takes prom-client's `Nan` too.
    if (!/^([+-]?(\d|Inf)|NaN)/i.test(value)) throw new Error(`No number: ${line}`)
    const pairs = [...labels.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)]
    samples.push({
      name,
      labels: Object.fromEntries(pairs.map(([, label = '', text = '']) => [label, text])),
      value: Number(value.replace('Inf', 'Infinity')),
    })
  }
  const keys = samples.map(({ name, labels }) => JSON.stringify([name, labels]))
  if (new Set(keys).size < keys.length) throw new Error('A series comes twice')
  return samples
}
