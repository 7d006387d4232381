import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { Test } from 'tap'
import { fakeMx } from './fake-mx.js'
import { shapedTo } from './outbound.js'
import { initSandbox } from './process.js'
import { type Install, makeInstall, makeTree } from './release-tree.js'
import { makeTempDir } from './store.js'

/**
 * A data directory that release 0.1.0 uses, and programs that send through it. `diskMiB`: it has a disk of its own,
 * which only root can mount.
 */
export async function installedRelease(t: Test, { diskMiB = 0 } = {}) {
  const dir = makeTempDir(t)
  const dataDir = join(dir, 'data')
  mkdirSync(dataDir)
  if (diskMiB > 0) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMiB}m`, 'tmpfs', dataDir])
    t.teardown(() => execFileSync('umount', ['-l', dataDir]))
  }
  const { apiKey } = initSandbox(dataDir)
  const mx = await fakeMx(t, { dot: { reply: '250 2.0.0 taken', delayMs: 15 } })
  writeFileSync(
    join(dataDir, 'posthorn.toml'),
    `[outbound]\nroute = "direct"\nport = ${mx.port}\nallow_private_addresses = true\n` +
      `threads = 1\nwarm_up = "off"\n` +
      // On a slow machine more new recipients get mail before the last kill than a new account may mail.
      `[protection.surges]\nminimum = 0\n` +
      `[outbound.retry.transactional]\nschedule = ["1s"]\n[http.rate_limit]\nrequests = 0\n` +
      `[http.private]\nport = 0\n[http.public]\nport = 0\nhost = "127.0.0.1"\n` +
      `[dns.static."*"]\nmx = [{ preference = 10, exchange = "mx.test" }]\n` +
      `[dns.static."mx.test"]\na = ["127.0.0.1"]\n`,
  )
  writeFileSync(join(dataDir, 'shaping.toml'), shapedTo({ connections: 5 }))
  const install = makeInstall(t, dir, dataDir)
  const first = await install.upgrade([makeTree(dir, { version: '0.1.0' }), '--yes'])
  t.equal(first.status, 0, first.stderr)
  await install.manage('start')
  while ((await install.appliance()) === undefined) await soon()
  return {
    install,
    dir,
    dataDir,
    apiKey,
    mx,
    mail: makeSenders(install, mx, apiKey, dataDir),
    /** The names of its tables that only future releases make. */
    tablesOfTomorrow() {
      const db = new Database(join(dataDir, 'posthorn.db'), { readonly: true })
      try {
        return db
          .prepare("select name from sqlite_schema where name like 'tomorrow%'")
          .pluck()
          .all()
      } finally {
        db.close()
      }
    },
  }
}

type Mx = Awaited<ReturnType<typeof fakeMx>>

function makeSenders(install: Install, mx: Mx, apiKey: string, dataDir: string) {
  const acknowledged = new Set<string>()
  let next = 0
  const send = async (isOver: () => boolean) => {
    let api: string | undefined
    while (!isOver()) {
      api ??= (await install.appliance().catch(() => undefined))?.api
      const to = `r${next++}@d${next % 8}.test`
      const response =
        api &&
        (await fetch(`${api}/v1/emails/send`, {
          method: 'POST',
          headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify({ from: 'a@example.test', to, subject: 'x', html: '<p>x</p>' }),
        }).catch(() => undefined))
      if (response && response.status === 200) acknowledged.add(to)
      else api = undefined
      await pause()
    }
  }
  return {
    acknowledged,
    /** Sends while `work` is done, and some mail more before and after it. */
    async during<T>(work: () => Promise<T>): Promise<T> {
      let over = false
      const senders = Promise.all([send(() => over), send(() => over)])
      const some = async () => {
        const wanted = acknowledged.size + 5
        while (acknowledged.size < wanted) await soon()
      }
      await some()
      const done = await work()
      await some()
      over = true
      await senders
      return done
    },
    /** Checks that all acknowledged mails have arrived, each once. */
    async arrived(t: Test) {
      const counts = new Map<string, number>()
      const hasAll = () => {
        counts.clear()
        for (const { to } of mx.messages) {
          const address = to[0] ?? ''
          counts.set(address, (counts.get(address) ?? 0) + 1)
        }
        return [...acknowledged].every((to) => counts.has(to))
      }
      // On a busy machine thousands are still on their way when the last kill is over.
      await mx.waitUntil(hasAll, 240_000).catch(() => {})
      const missing = [...acknowledged].filter((to) => !counts.has(to))
      t.same(missing, [], 'none is lost')
      // On somebody else's machine a fault may show only once, so the state of the mail must be told then.
      if (missing.length > 0) {
        const db = new Database(join(dataDir, 'posthorn.db'), { readonly: true })
        for (const table of ['queue', 'deliveries']) {
          const rows = db.prepare(`select * from ${table} where recipient = ?`)
          t.comment(
            table,
            missing.slice(0, 3).flatMap((to) => rows.all(to)),
          )
        }
        db.close()
      }
      t.same(
        [...counts].filter(([, count]) => count > 1),
        [],
        'none came twice',
      )
      t.ok(acknowledged.size > 0, `${acknowledged.size} were acknowledged`)
    },
  }
}

/**
 * For the environment of a command that ends itself by kill -9 when it has given a file this name, whose text has all
 * of these words. The command writes its journal in this way before each step.
 */
export function killAt(dir: string, name: string, words: readonly string[] = []) {
  const file = join(dir, `kill-${randomUUID()}.mjs`)
  writeFileSync(
    file,
    `import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
const { renameSync, readFileSync } = fs
fs.renameSync = (from, to) => {
  renameSync(from, to)
  if (!to.endsWith('/${name}')) return
  const words = ${JSON.stringify(words)}
  if (words.length === 0 || words.every((word) => readFileSync(to, 'utf8').includes(word))) {
    process.kill(process.pid, 'SIGKILL')
  }
}
syncBuiltinESMExports()
`,
  )
  return { NODE_OPTIONS: `--import ${file}` }
}

/** The same, before a step of an upgrade. */
export const killAtStep = (dir: string, step: string, direction = 'forward') =>
  killAt(dir, 'upgrade.json', [`"step": "${step}"`, `"direction": "${direction}"`])

// There is always mail in flight, and never a backlog that the test would wait for.
const pause = () => new Promise((resolve) => setTimeout(resolve, 80))

export const soon = () => new Promise((resolve) => setTimeout(resolve, 20))
