// interface.md, Idempotency behaviour: a key is kept in the transaction of what it tells of.
import t from 'tap'
import { poison } from '../support/poison.js'
import { startPosthorn } from '../support/posthorn.js'

const posthorn = await startPosthorn(t)
const { call, store, accountId } = posthorn
const draft = { slug: 'welcome', subject: 'One', html: '<p>1</p>' }
await call('POST', '/v1/templates', { body: draft })
await call('PATCH', '/v1/templates/welcome', { body: { subject: 'Two' } })
const url = 'https://192.0.2.1/hook'
const endpoint = store.ids.uuid()
const count = async (table: 'webhook_jobs' | 'webhook_deliveries' | 'suppressions') => {
  const counted = store.read.selectFrom(table).select((eb) => eb.fn.countAll<number>().as('rows'))
  return (await counted.executeTakeFirstOrThrow()).rows
}

await store.write(async (tx) => {
  const made = { url, events: '["email.sent"]', secret: Buffer.alloc(64), old_secret: null }
  await tx
    .insertInto('webhook_endpoints')
    .values({
      ...made,
      id: endpoint,
      account_id: accountId,
      old_secret_until: null,
      enabled: 1,
      failures: 0,
      disabled_at: null,
      disabled_because: null,
      announced: 1,
      created_at: 0,
    })
    .execute()
  for (let id = 1; id <= 250; id++) {
    const about = { endpoint_id: endpoint, account_id: accountId, email_id: store.ids.uuid() }
    const failed = {
      outcome: 'failed',
      attempts: 5,
      status: 500,
      response: '',
      error: 'x',
    } as const
    await tx
      .insertInto('webhook_deliveries')
      .values({
        id,
        ...about,
        ...failed,
        event: 'email.sent',
        body: '{}',
        created_at: 0,
        ended_at: 0,
      })
      .execute()
  }
})

const effects = [
  {
    path: '/v1/templates/welcome/versions/1/restore',
    body: undefined,
    standing: async () => (await call('GET', '/v1/templates/welcome')).json.version,
  },
  {
    path: '/v1/suppressions/import',
    body: { suppressions: [{ email: 'gone@x.test' }] },
    standing: () => count('suppressions'),
  },
  {
    path: `/v1/webhooks/${endpoint}/deliveries/7/replay`,
    body: undefined,
    standing: () => count('webhook_jobs'),
  },
] as const

const post = (path: string, body: object | undefined, key: string) =>
  call('POST', path, { ...(body && { body }), headers: { 'idempotency-key': key } })
/** While `work` runs, no key can be kept. */
const withoutKeys = async <T>(work: () => Promise<T>): Promise<T> => {
  const heal = await poison(store, 'insert on idempotency_keys', 'new.key is not null')
  try {
    return await work()
  } finally {
    await heal()
  }
}

for (const { path, body, standing } of effects) {
  t.test(`${path.replace(endpoint, 'ID')}: without its key there is no effect`, async (t) => {
    const before = await standing()
    t.equal(
      (await withoutKeys(() => post(path, body, `key ${path}`.replace(' ', '-')))).status,
      500,
    )
    t.equal(await standing(), before)
    const first = await post(path, body, path)
    t.equal(first.status, 200)
    const after = await standing()
    t.not(after, before)
    const again = await post(path, body, path)
    t.same(again.json, first.json)
    t.equal(again.headers.get('idempotency-replay'), 'true')
    t.equal(await standing(), after)
  })
}

t.test('a replay of many that breaks off goes on, and none is sent twice by it', async (t) => {
  const path = `/v1/webhooks/${endpoint}/replay`
  const [jobs, failed] = [await count('webhook_jobs'), await count('webhook_deliveries')]
  t.equal((await withoutKeys(() => post(path, undefined, 'all'))).status, 500)
  const left = await count('webhook_deliveries')
  t.equal((await count('webhook_jobs')) - jobs, failed - left, 'each is at one place')
  const first = await post(path, undefined, 'all')
  t.same(first.json, { queued: left })
  t.equal(await count('webhook_jobs'), jobs + failed)
  t.same((await post(path, undefined, 'all')).json, first.json)
  t.equal(await count('webhook_jobs'), jobs + failed)
  t.equal(
    (await post(path.replace(/replay$/, 'deliveries/9/replay'), undefined, 'gone')).status,
    404,
  )
})
