// Issue 46: what one appliance answers, two answer behind one address: each request goes to the other one than the last.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { noPostgres, startPostgres } from '../support/postgres.js'

t.setTimeout(1_800_000)
const at = (file: string) => fileURLToPath(new URL(`../${file}`, import.meta.url))

// Those that look into one process, or into bytes that a proxy writes anew.
const ofOne = ['damaged-rows', 'header-bytes', 'openapi', 'overload', 'rate-limit', 'client']

const all = () =>
  readdirSync(at('contract'))
    .filter((file) => file.endsWith('.test.js') && !ofOne.includes(file.slice(0, -8)))
    .map((file) => `contract/${file}`)

t.test('the contract, of two nodes', { skip: noPostgres ?? false }, async (t) => {
  const server = await startPostgres(t)
  // Each operation of the API, with ids of one asked of the other.
  // By hand, ALL=1: every file of the contract, which takes a quarter of an hour.
  const more = process.env.ALL === undefined ? ['contract/send.test.js'] : all()
  const files = ['client/journey.test.js', ...more]
  for (const file of files) {
    t.ok(existsSync(at(file)), file)
    const child = spawn(process.execPath, [at(file)], {
      env: { ...process.env, PH_STORE: 'postgres', PH_NODES: '2', PH_POSTGRES: server.url },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [said, , [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ])
    t.equal(status, 0, `${file}\n${status === 0 ? '' : said.slice(-4_000)}`)
  }
})
