import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { databaseFile } from '../../src/store/sqlite/files.js'
import { fillList } from './fill-list.js'
import { cpuSeconds, initDataDir, loadAverage, rsaSignatures, serveAppliance } from './rig.js'

/*
 * A rehearsal by the API, from the request to its answer, of a list in which four of ten are at some thousands of small domains;
 * and how far what it says of each site is from what the list has. The list is sorted by domain, as files often are. The rows
 * are written directly. To be held: 2 s for a million.
 *     node dist/test/bench/rehearsal.js --contacts 1000000 --times 5 --tree ../before
 */
const { values } = parseArgs({
  options: {
    contacts: { type: 'string', default: '1000000' },
    times: { type: 'string', default: '5' },
    tree: { type: 'string' },
  },
})
const contacts = Number(values.contacts)
const small = 4_000

/** How many are at each domain: five large ones, and small ones of which the nth has an nth of the first. */
function domains(): Map<string, number> {
  const found = new Map<string, number>()
  for (const [i, percent] of [25, 15, 10, 6, 4].entries()) {
    found.set(`large${i}.test`, Math.round((contacts * percent) / 100))
  }
  const harmonic = Array.from({ length: small }, (_, n) => 1 / (n + 1)).reduce((a, b) => a + b, 0)
  for (let n = 0; n < small; n++) {
    found.set(`small${n}.test`, Math.round((contacts * 0.4) / harmonic / (n + 1)))
  }
  return found
}

const sizes = domains()
const { dataDir, apiKey, accountId } = initDataDir()
const listId = await fillList(dataDir, accountId, 0)
fill()
const appliance = await serveAppliance({
  dataDir,
  apiKey,
  sinkPort: 9,
  tree: values.tree,
  connections: 20,
  // Each domain is a site of its own: its address is its mail host (RFC 5321 §5.1).
  dns: '[dns.static."*"]\na = ["127.0.0.1"]\n',
})
const ask = async (path: string, body: object) => {
  const answer = await fetch(appliance.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const json = (await answer.json()) as Told
  if (answer.status >= 300) throw new Error(JSON.stringify(json))
  return json
}
interface Told {
  id: string
  doneAt: string | null
  recipientCount: number
  sites: { site: string; recipients: number }[]
}

const draft = { listId, from: 'News <news@example.test>', subject: 'x', html: '<p>x</p>' }
const { id } = await ask('/v1/broadcasts', { ...draft, draft: true })
let told: Told | undefined
for (let i = 0; i < Number(values.times); i++) {
  const cpu = cpuSeconds(appliance.pid)
  const began = performance.now()
  told = await ask(`/v1/broadcasts/${id}/rehearse`, {})
  const took = Math.round(performance.now() - began)
  const used = Math.round((cpuSeconds(appliance.pid) - cpu) * 1_000)
  console.log(`${told.recipientCount} recipients: ${took} ms, ${used} of a processor`)
}
const off = (told?.sites ?? []).flatMap(({ site, recipients }) => {
  const has = sizes.get(site)
  return has === undefined ? [] : [{ site, recipients, has, times: recipients / has }]
})
const worst = off.sort((a, b) => Math.abs(Math.log(b.times)) - Math.abs(Math.log(a.times)))
console.log(`${off.length} sites; furthest off:`)
for (const one of worst.slice(0, 5)) {
  console.log(
    `  ${one.site}: ${one.recipients} told, ${one.has} there: ${one.times.toFixed(2)} times`,
  )
}
console.log(`${rsaSignatures()} RSA signatures/s, load ${loadAverage()}`)
await appliance.stop()
process.exit(0)

function fill(): void {
  const db = new Database(databaseFile(dataDir))
  db.pragma('synchronous = off')
  const contact = db.prepare(
    'insert into contacts (id, account_id, address, email, created_at) values (?, ?, ?, ?, 0)',
  )
  const member = db.prepare(
    'insert into list_members (list_id, contact_id, added_at) values (?, ?, 0)',
  )
  let n = 0
  db.transaction(() => {
    for (const [domain, size] of sizes) {
      for (let i = 0; i < size; i++, n++) {
        const key = `0191a000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
        const address = `p${n}@${domain}`
        contact.run(key, accountId, address, address)
        member.run(listId, key)
      }
    }
    db.prepare('update contact_lists set contact_count = ? where id = ?').run(n, listId)
  })()
  db.close()
}
