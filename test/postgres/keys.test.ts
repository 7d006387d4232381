// Thorough, turn 5: idempotency keys over PostgreSQL: many at once in two orders, and through kills of the appliance and of the server.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { noPostgres, startPostgres } from '../support/postgres.js'
import { cliEntry, type Serving, serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'
import { thoroughly } from '../support/thorough.js'

const keys = thoroughly(300, 1_000)
const clients = 50
// Of a slow machine, through a kill and the start after it.
const patienceMs = 90_000

t.test('a key is one mail', { skip: noPostgres ?? false }, async (t) => {
  const server = await startPostgres(t)
  const ask = async (database: string, text: string) => {
    const client = new pg.Client(`${server.url}/${database}`)
    await client.connect()
    return (await client.query(text).finally(() => client.end())).rows
  }
  await ask('postgres', 'create database mail')
  const env = {
    POSTHORN_STORE_URL: `${server.url}/mail`,
    POSTHORN_STORE_TRUST_DURABILITY: 'true',
  }
  const dataDir = makeTempDir(t)
  const made = spawnSync(
    process.execPath,
    [cliEntry, 'init', '--sandbox', '--json', '--data', dataDir],
    { encoding: 'utf8', env: { ...process.env, ...env } },
  )
  t.equal(made.status, 0, made.stderr)
  const { apiKey } = JSON.parse(made.stdout)
  writeFileSync(
    join(dataDir, 'posthorn.toml'),
    '[outbound]\nroute = "sandbox"\n[http.rate_limit]\nrequests = 0\n',
  )
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
  /** The mail of a key; undefined where the answer is none, or says to come again. */
  const send = async ({ url }: Serving, key: string): Promise<string | undefined> => {
    const answer = await fetch(`${url}/v1/emails/send`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify({
        from: 'a@example.test',
        to: `${key}@example.org`,
        subject: key,
        html: '<p>Hello',
        scheduledAt,
      }),
    }).catch(() => undefined)
    const body = await answer?.json().catch(() => undefined)
    if (answer === undefined || body === undefined) return undefined
    if (answer.status === 200) return (body as { id: string }).id
    // Under way in another request (409), or the database is away (503).
    if (answer.status !== 409 && answer.status !== 503) {
      throw new Error(`${answer.status} ${JSON.stringify(body)}`)
    }
    return undefined
  }
  /** Sends all of them, `clients` at once, until `isOver`. Each that was answered is noted with its mail. */
  const sendAll = async (
    posthorn: Serving,
    order: readonly string[],
    told: Map<string, Set<string>>,
    isOver = () => false,
  ) => {
    const left = [...order]
    const until = Date.now() + patienceMs
    const one = async () => {
      for (let key = left.shift(); key !== undefined && !isOver(); key = left.shift()) {
        const id = await send(posthorn, key)
        if (id === undefined) {
          left.push(key)
          if (Date.now() > until) throw new Error(`No answer for ${key}: ${posthorn.log()}`)
          await new Promise((resolve) => setTimeout(resolve, 20))
          continue
        }
        const ids = told.get(key) ?? new Set()
        told.set(key, ids.add(id))
      }
    }
    await Promise.all(Array.from({ length: clients }, one))
  }
  const mailsOf = async () =>
    new Map(
      (await ask('mail', 'select subject, id from emails')).map(({ subject, id }) => [subject, id]),
    )
  const check = async (of: string, told: Map<string, Set<string>>) => {
    const stored = await ask('mail', `select id from emails where subject like '${of}%'`)
    t.equal(told.size, keys, 'each was answered')
    t.equal(stored.length, keys, 'each key is one mail')
    const mails = await mailsOf()
    const others = [...told].filter(([key, ids]) => ids.size !== 1 || !ids.has(mails.get(key)))
    t.same(others, [], 'and each answer told that one')
  }
  const named = (of: string) => Array.from({ length: keys }, (_, n) => `${of}-${n}`)

  let posthorn = await serve(t, dataDir, env)

  await t.test('at once, in two orders', async () => {
    const told = new Map<string, Set<string>>()
    const order = named('orders')
    await Promise.all([
      sendAll(posthorn, order, told),
      sendAll(posthorn, [...order].reverse(), told),
    ])
    await check('orders', told)
  })

  await t.test('through kills of the appliance and crashes of the server', async () => {
    const told = new Map<string, Set<string>>()
    const order = named('kills')
    const some = async (share: number, end: () => unknown) => {
      let isOver = false
      const sent = sendAll(posthorn, order, told, () => isOver)
      while (told.size < keys * share) await new Promise((resolve) => setTimeout(resolve, 2))
      await end()
      isOver = true
      await sent
    }
    await some(0.2, () => posthorn.kill('SIGKILL'))
    posthorn = await serve(t, dataDir, env)
    await some(0.5, () => server.crash())
    server.start()
    await some(0.7, () => posthorn.kill('SIGKILL'))
    posthorn = await serve(t, dataDir, env)
    await sendAll(posthorn, [...order].reverse(), told)
    await check('kills', told)
  })
  await posthorn.kill('SIGTERM')
})
