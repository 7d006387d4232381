// Thorough, turn 5: a database that is really put back to a moment before mail left: what the appliance knows it has sent does not go twice.
import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { fakeMx } from '../support/fake-mx.js'
import { shapedTo } from '../support/outbound.js'
import { noPostgres, postgresProgram, startPostgres } from '../support/postgres.js'
import { cliEntry, type Serving, serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'

const mails = 12

t.test(
  'mail that left before a database was put back',
  { skip: noPostgres ?? false },
  async (t) => {
    const server = await startPostgres(t)
    const ask = async (database: string, text: string) => {
      const client = new pg.Client(`${server.url}/${database}`)
      await client.connect()
      return await client.query(text).finally(() => client.end())
    }
    const url = `${server.url}/mail`
    const env = { POSTHORN_STORE_URL: url, POSTHORN_STORE_TRUST_DURABILITY: 'true' }
    const dataDir = makeTempDir(t)
    const run = (...args: string[]) =>
      spawnSync(process.execPath, [cliEntry, ...args, '--data', dataDir], {
        encoding: 'utf8',
        env: { ...process.env, ...env },
      })
    await ask('postgres', 'create database mail')
    const made = run('init', '--sandbox', '--json')
    t.equal(made.status, 0, made.stderr)
    const { apiKey } = JSON.parse(made.stdout)
    const mx = await fakeMx(t)
    writeFileSync(
      join(dataDir, 'posthorn.toml'),
      `[outbound]\nroute = "direct"\nport = ${mx.port}\nallow_private_addresses = true\nthreads = 1\nwarm_up = "off"\n` +
        `[http.rate_limit]\nrequests = 0\n[dns.static."mx.test"]\na = ["127.0.0.1"]\n` +
        `[dns.static."*"]\nmx = [{ preference = 10, exchange = "mx.test" }]\n`,
    )
    writeFileSync(join(dataDir, 'shaping.toml'), shapedTo({}))

    /** Accepts mails that leave in some seconds; a copy of the database is made before. */
    const sendAndCopy = async (posthorn: Serving, name: string) => {
      const scheduledAt = new Date(Date.now() + 6_000).toISOString()
      const emails = Array.from({ length: mails }, (_, n) => ({
        from: 'a@example.test',
        to: `${name}-${n}@d${n % 3}.test`,
        subject: 'Hello',
        html: '<p>Hello',
        scheduledAt,
      }))
      const answer = await fetch(`${posthorn.url}/v1/emails/batch`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ emails }),
      })
      t.equal(answer.status, 200)
      const dump = execFileSync(postgresProgram('pg_dump'), [url])
      await ask('postgres', `create database ${name}`)
      execFileSync(postgresProgram('psql'), ['-q', `${server.url}/${name}`], {
        input: dump,
        stdio: ['pipe', 'ignore', 'inherit'],
      })
      const before = mx.messages.length
      await mx.waitForMessages(before + mails, 30_000)
      // Until all are settled, and a sign of life after that is on the disk.
      const waits = async () => (await ask('mail', 'select 1 from queue')).rowCount !== 0
      while (await waits()) await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const putBack = async (name: string) => {
      // Nobody comes in between: who is connected would hold up the renaming.
      await ask('postgres', 'alter database mail with allow_connections false')
      await ask(
        'postgres',
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'mail'",
      )
      await ask('postgres', `alter database mail rename to gone_${name}`)
      await ask('postgres', `alter database ${name} rename to mail`)
    }
    const journals = () => readdirSync(dataDir).filter((name) => name.startsWith('lately-'))
    const statuses = async () =>
      (await ask('mail', 'select status, count(*)::int as mails from emails group by status')).rows

    await t.test('is settled anew by the next start, after a kill', async (t) => {
      const first = await serve(t, dataDir, env)
      await sendAndCopy(first, 'before_kill')
      await first.kill('SIGKILL')
      t.same(journals(), ['lately-0.jsonl'])
      // What a crash has cut off.
      appendFileSync(join(dataDir, 'lately-0.jsonl'), '{"id":1,"ema')
      await putBack('before_kill')
      t.equal((await ask('mail', 'select 1 from queue')).rowCount, mails)
      // So many signs of life are gone, though the file has not seen all of them.
      writeFileSync(
        join(dataDir, 'store.beat'),
        JSON.stringify({ beat: 1_000_000, at: Date.now() }),
      )
      t.match(run('serve', '--json').stderr, /went back by/)
      t.equal(run('database', 'accept', '--lost').status, 0)
      const second = await serve(t, dataDir, env)
      t.match(second.log(), `"deliveries":${mails}`)
      t.same(journals(), [])
      t.same(await statuses(), [{ status: 'delivered', mails }])
      t.equal((await ask('mail', 'select 1 from deliveries')).rowCount, mails)
      t.equal((await ask('mail', "select 1 from events where type = 'delivered'")).rowCount, mails)
      t.equal(mx.messages.length, mails, 'none came twice')
      await second.kill('SIGTERM')
    })

    await t.test('is not sent again by an appliance that lives on', async (t) => {
      const third = await serve(t, dataDir, env)
      await sendAndCopy(third, 'below')
      await putBack('below')
      t.equal((await third.exited).code, 78)
      t.match(third.log(), /went back by/)
      // A node that was away knows of no sign of life that is missing: the mark in the database keeps it back.
      const away = makeTempDir(t)
      cpSync(dataDir, away, {
        recursive: true,
        filter: (file) => !/store\.beat$|\.sock$|\.lock$/.test(file),
      })
      const elsewhere = (...args: string[]) =>
        spawnSync(process.execPath, [cliEntry, ...args, '--data', away], {
          encoding: 'utf8',
          env: { ...process.env, ...env },
        })
      t.match(elsewhere('serve', '--json').stderr, /went back by/)
      t.equal(run('database', 'accept', '--held').status, 0)
      t.match(elsewhere('database', 'accept', '--lost').stderr, /nothing to accept/)
      const fourth = await serve(t, dataDir, env)
      // Whatever was not settled by the one that lived on.
      t.same(await statuses(), [{ status: 'delivered', mails: 2 * mails }])
      t.equal(mx.messages.length, 2 * mails, 'none came twice')
      await fourth.kill('SIGTERM')
    })
  },
)
