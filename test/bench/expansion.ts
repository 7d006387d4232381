import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { loadPlans, readBilling } from '../../src/billing/index.js'
import {
  type BroadcastInput,
  createBroadcast,
  expandBroadcasts,
} from '../../src/broadcasts/index.js'
import { systemClock as clock } from '../../src/clock/index.js'
import { loadConfig, packageFile } from '../../src/config/index.js'
import { createList } from '../../src/contacts/index.js'
import { joinBacklog, makeBacklogMemory } from '../../src/deliveries/index.js'
import { silentLog } from '../../src/log/index.js'
import type { Store } from '../../src/store/index.js'
import { openRenderer } from '../../src/templates/index.js'
import { attachmentRules } from '../support/attachment-rules.js'
import { initSandbox } from '../support/process.js'
import { fillList, openBeside } from './fill-list.js'
import { loadAverage, quantile, report, rsaSignatures } from './rig.js'

/*
 * How many mails a second are made of a campaign to one list, to three lists less two others, and to one list at a rate
 * that holds nothing up; in turn, in one process. To be held: 0.8 of one list. Who is left out is looked at as well, so that
 * it is also said by those who are looked at.
 *     node dist/test/bench/expansion.js --contacts 16000 --rounds 3
 */
const { values } = parseArgs({
  options: {
    contacts: { type: 'string', default: '16000' },
    rounds: { type: 'string', default: '3' },
  },
})
const contacts = Number(values.contacts)
const rounds = Number(values.rounds)
const root = mkdtempSync(join(tmpdir(), 'posthorn-bench-'))
const dataDir = join(root, 'data')
const usual = { from: 'News <news@example.test>', subject: 'News', html: '<p>{{ firstName }}</p>' }

async function main(): Promise<void> {
  const { accountId } = initSandbox(dataDir)
  const whole = await fillList(dataDir, accountId, contacts)
  const store = await openBeside(dataDir)
  const plans = loadPlans(packageFile('config/plans.toml'))
  const renderer = openRenderer({ log: silentLog, clock })
  const { retry } = loadConfig({ env: {} }).outbound
  const backlog = joinBacklog(makeBacklogMemory())
  const shares = [0.6, 0.6, 0.5, 0.05, 0.05]
  const { ids, looked } = await partsOf(store, accountId, whole, shares)
  const [a = '', b = '', c = '', d = '', e = ''] = ids
  const ways: Record<string, Partial<BroadcastInput>> = {
    'one list': { listId: whole },
    'three lists less two': { audience: { lists: [a, b, c], withoutLists: [d, e] } },
    'one list at a rate': { listId: whole, rate: 1_000_000 },
  }
  const made: Record<string, { perSecond: number[]; cpuMs: number[]; mails: number }> = {}
  for (let round = 0; round <= rounds; round++) {
    for (const [name, given] of Object.entries(ways)) {
      const deps = { store, clock, plans, renderer, attachments: attachmentRules, expand: () => {} }
      const billing = await readBilling(store.read, plans, accountId)
      const { id } = await createBroadcast(deps, billing, { ...usual, ...given })
      const began = performance.now()
      const before = process.cpuUsage()
      await expandBroadcasts(
        { ...deps, log: silentLog, backlog, maxQueued: 1e9, retry, ring: () => {} },
        new AbortController().signal,
      )
      const { user, system } = process.cpuUsage(before)
      const seconds = (performance.now() - began) / 1_000
      const { recipients: mails } = await store.read
        .selectFrom('broadcasts')
        .select('recipients')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      // The first of each warms up.
      if (round === 0) continue
      const one = made[name] ?? { perSecond: [], cpuMs: [], mails }
      made[name] = one
      one.perSecond.push(mails / seconds)
      one.cpuMs.push((user + system) / 1_000 / mails)
    }
  }
  const plain = quantile(made['one list']?.cpuMs ?? [], 0.5)
  const several = made['three lists less two']
  const aLook = (quantile(several?.cpuMs ?? [], 0.5) * (several?.mails ?? 0)) / looked
  report([
    ['contacts, rounds, load average', `${contacts}, ${rounds}, ${loadAverage()}`],
    ['RSA-2048 signatures/s', String(rsaSignatures())],
    [
      'three lists less two, of those who are looked at',
      `${looked} people, ratio ${(plain / aLook).toFixed(2)}`,
    ],
    ...Object.entries(made).map(([name, { perSecond, cpuMs, mails }]): [string, string] => [
      `${name}: ${mails} mails`,
      `${quantile(perSecond, 0.5).toFixed(0)}/s, ${(1_000 * quantile(cpuMs, 0.5)).toFixed(0)} µs of a processor a mail, ratio ${(plain / quantile(cpuMs, 0.5)).toFixed(2)}`,
    ]),
  ])
  await renderer.close()
  await store.close()
}

/** Lists with these shares of the whole one, who overlap as chance has it, and how many the first three have together. */
async function partsOf(store: Store, accountId: string, whole: string, shares: number[]) {
  const rows = await store.read
    .selectFrom('list_members')
    .selectAll()
    .where('list_id', '=', whole)
    .execute()
  const ids: string[] = []
  const together = new Set<string>()
  for (const [n, share] of shares.entries()) {
    const { id } = await createList({ store, clock }, accountId, `Part ${n}`)
    ids.push(id)
    // The same in each run: by the contact's place.
    const some = rows.filter((_, at) => ((at + 1) * (7_919 + 2 * n)) % 1_000 < share * 1_000)
    if (n < 3) for (const { contact_id } of some) together.add(contact_id)
    for (let at = 0; at < some.length; at += 500) {
      const slice = some.slice(at, at + 500).map((row) => ({ ...row, list_id: id }))
      await store.write((tx) => tx.insertInto('list_members').values(slice).execute())
    }
    const count = { contact_count: some.length }
    await store.write((tx) =>
      tx.updateTable('contact_lists').set(count).where('id', '=', id).execute(),
    )
  }
  return { ids, looked: together.size }
}

try {
  await main()
} finally {
  rmSync(root, { recursive: true, force: true })
}
