import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { pause, systemClock } from '../../src/clock/index.js'
import { changeContact, createList } from '../../src/contacts/index.js'
import { silentLog } from '../../src/log/index.js'
import type { Rule } from '../../src/rules/index.js'
import {
  countPeople,
  createSegment,
  keepSegments,
  listSegments,
  requireSegment,
  segmentsWait,
} from '../../src/segments/index.js'
import { makeTurns, openStore } from '../../src/store/index.js'
import { initSandbox } from '../support/process.js'
import { quantile, report, rsaSignatures } from './rig.js'

/*
 * Segments of an account with many contacts: how long one takes to fill, its count, the answer to a rule that is being
 * edited, and how far many of them are behind changes, with what the machine can do at that moment. Changes and
 * upkeep share one thread here; an appliance has two.
 *     node dist/test/bench/segments.js --contacts 100000 --segments 100 --changes 1000 --seconds 5
 */
const { values } = parseArgs({
  options: {
    contacts: { type: 'string', default: '100000' },
    segments: { type: 'string', default: '100' },
    changes: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '5' },
  },
})
const [contacts, aSecond, seconds] = [
  Number(values.contacts),
  Number(values.changes),
  Number(values.seconds),
]
const segments = Number(values.segments)
const towns = ['Lagos', 'Abuja', 'Jos', 'Kano']
const root = mkdtempSync(join(tmpdir(), 'posthorn-bench-'))
const dataDir = join(root, 'data')

async function main(): Promise<void> {
  const { accountId } = initSandbox(dataDir)
  const clock = systemClock
  const store = openStore({ dataDir, clock, turns: makeTurns(), slot: 0 })
  const deps = { store, clock, log: silentLog }
  const list = await createList(deps, accountId, 'Readers')
  const ids = Array.from({ length: contacts }, () => store.ids.uuid())
  const word = (n: number) => `${((n * 7_919) % 1_679_616).toString(36)}${n}`
  for (let at = 0; at < contacts; at += 500) {
    await store.write(async (tx) => {
      const some = ids.slice(at, at + 500)
      const rows = some.map((id, n) => ({
        id,
        account_id: accountId,
        address: `${word(at + n)}@x.test`,
        email: `${word(at + n)}@x.test`,
        first_name: null,
        last_name: null,
        name_key: null,
        last_name_key: null,
        phone: null,
        created_at: at,
        changed_at: null,
        metadata: JSON.stringify({ town: towns[(at + n) % 4], points: (at + n) % 1_000 }),
      }))
      await tx.insertInto('contacts').values(rows).execute()
      const members = some.filter((_, n) => n % 3 !== 0)
      await tx
        .insertInto('list_members')
        .values(
          members.map((id) => ({
            list_id: list.id,
            contact_id: id,
            added_at: 1,
            import_id: null,
            line: null,
          })),
        )
        .execute()
    })
  }
  await store.write((tx) =>
    tx.insertInto('contact_totals').values({ account_id: accountId, contacts }).execute(),
  )
  const ruleOf = (n: number): Rule => ({
    all: [
      { field: 'contact.metadata.town', operator: 'eq', value: towns[n % 4] ?? '' },
      { field: 'contact.metadata.points', operator: 'gte', value: (n * 10) % 1_000 },
      { field: `list.${list.id}`, operator: 'eq', value: true },
    ],
  })
  const never = new AbortController().signal
  const took = async (work: () => Promise<unknown>) => {
    const began = performance.now()
    await work()
    return performance.now() - began
  }
  const tookCpu = async (work: () => Promise<unknown>) => {
    const began = process.cpuUsage()
    const ms = await took(work)
    const { user, system } = process.cpuUsage(began)
    return { ms, cpuMs: (user + system) / 1_000 }
  }
  const shown = ({ ms, cpuMs }: { ms: number; cpuMs: number }) =>
    `${(ms / 1_000).toFixed(1)} s, ${(cpuMs / 1_000).toFixed(1)} s of a processor`
  const many = async (n: number, work: (at: number) => Promise<unknown>) => {
    const times: number[] = []
    for (let at = 0; at < n; at++) times.push(await took(() => work(at)))
    return times
  }
  const first = await createSegment(deps, accountId, { name: 'First', rule: ruleOf(0) })
  const filled = await tookCpu(() => keepSegments(deps, never))
  const counts = await many(300, () => requireSegment(store.read, accountId, first.id))
  const edits = await many(50, (at) =>
    countPeople({ read: store.read, clock }, accountId, ruleOf(at)),
  )
  for (let n = 1; n < segments; n++) {
    await createSegment(deps, accountId, { name: `Segment ${n}`, rule: ruleOf(n) })
  }
  const all = await tookCpu(() => keepSegments(deps, never))
  let isOver = false
  const upkeep = (async () => {
    while (!isOver || (await segmentsWait(deps))) {
      await keepSegments(deps, never)
      await pause(clock, 50)
    }
  })()
  let changed = 0
  const beganCpu = process.cpuUsage()
  const began = performance.now()
  while (performance.now() - began < seconds * 1_000) {
    const due = Math.min(((performance.now() - began) / 1_000) * aSecond, seconds * aSecond)
    const some = Array.from({ length: Math.max(0, Math.floor(due) - changed) }, () => changed++)
    await Promise.all(
      some.map((n) => {
        const metadata = { town: towns[(n * 3) % 4], points: (n * 17) % 1_000 }
        return changeContact(deps, accountId, ids[(n * 7_919) % contacts] ?? '', { metadata })
      }),
    )
    await pause(clock, 10)
  }
  const lasted = (performance.now() - began) / 1_000
  isOver = true
  const behind = await took(() => upkeep)
  const used = process.cpuUsage(beganCpu)
  const cpuMs = (used.user + used.system) / 1_000
  const [made] = await listSegments(store.read, accountId)
  report([
    ['this machine', `${rsaSignatures()} RSA signatures/s`],
    ['contacts', String(contacts)],
    ['a first fill', shown(filled)],
    [`${segments - 1} more`, shown(all)],
    ['count of a saved one, p99 (bar: 5 ms)', `${quantile(counts, 0.99).toFixed(2)} ms`],
    ['answer to an edited rule, p99 (bar: 200 ms)', `${quantile(edits, 0.99).toFixed(0)} ms`],
    ['changes', `${changed} in ${lasted.toFixed(1)} s: ${Math.round(changed / lasted)} a second`],
    [
      `${segments} segments up to date after the last (bar: 10 s)`,
      `${(behind / 1_000).toFixed(1)} s`,
    ],
    [
      'changes and upkeep',
      `${(cpuMs / Math.max(1, changed)).toFixed(2)} ms of a processor a change`,
    ],
    ['members of one', String(made?.count)],
  ])
  await store.close()
}

try {
  await main()
} finally {
  rmSync(root, { recursive: true, force: true })
}
