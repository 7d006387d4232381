import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { systemClock as clock } from '../../src/clock/index.js'
import { loadConfig, makeApplianceKey } from '../../src/config/index.js'
import { generateDkimKeyPair } from '../../src/dkim/index.js'
import { staticResolver } from '../../src/dns/index.js'
import { keyRow } from '../../src/domains/domain.js'
import {
  checkRotations,
  domainRecords,
  listDomains,
  recordSettings,
  toPublish,
} from '../../src/domains/index.js'
import { silentLog } from '../../src/log/index.js'
import { makeTurns, openStore } from '../../src/store/index.js'
import { initDataDir, loadAverage, quantile, report, rsaSignatures } from './rig.js'

/*
 * Domains whose keys are all replaced at one time: what a page of 50 of them with their records takes, and how long it takes until
 * they are signed with the new keys once the records are in a DNS that answers after some milliseconds. The keys are one pair,
 * written directly: how long a pair takes is a matter of the processor (`compose-sign.ts`). To be held: 1 s a page of 50.
 *     node dist/test/bench/rotation.js --domains 1000 --answer-ms 10
 */
const { values } = parseArgs({
  options: {
    domains: { type: 'string', default: '1000' },
    'answer-ms': { type: 'string', default: '10' },
  },
})
const count = Number(values.domains)
const answerMs = Number(values['answer-ms'])
const pageSize = 50
const { dataDir, accountId } = initDataDir()
const store = await openStore({ dataDir, clock, turns: makeTurns(), slot: 0 })
const key = makeApplianceKey(Buffer.alloc(32, 7))
const pairs = {
  'rsa-sha256': await generateDkimKeyPair('rsa-sha256'),
  'ed25519-sha256': await generateDkimKeyPair('ed25519-sha256'),
} as const

await fill()
const settings = recordSettings(loadConfig({ env: {} }))
const spent = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

const pages: { passed: number; cpu: number }[] = []
const records: Record<string, { txt: string[] }> = {}
for (let after: string | undefined, more = true; more; ) {
  const began = { at: performance.now(), cpu: spent() }
  const some = await listDomains(store.read, accountId, { after, limit: pageSize })
  for (const domain of some) JSON.stringify(toPublish(domain, settings, clock.now()))
  pages.push({ passed: performance.now() - began.at, cpu: spent() - began.cpu })
  for (const { host, type, value } of some.flatMap((one) => domainRecords(one, settings))) {
    if (type === 'TXT') records[host] = { txt: [value] }
  }
  after = some.at(-1)?.name
  more = some.length === pageSize
}

const answers = staticResolver(records)
const txt = async (name: string) => {
  await new Promise((go) => setTimeout(go, answerMs))
  return await answers.txt(name)
}
const { signal } = new AbortController()
const began = { at: performance.now(), cpu: spent() }
await checkRotations({ store, clock, log: silentLog, resolver: { ...answers, txt }, signal })
const passed = performance.now() - began.at
const cpu = spent() - began.cpu
const { waiting } = await store.read
  .selectFrom('dkim_keys')
  .select((eb) => eb.fn.countAll<number>().as('waiting'))
  .where('stage', '=', 'next')
  .executeTakeFirstOrThrow()
const ms = (value: number) => value.toFixed(1)
const times = pages.map((page) => page.passed)
report([
  ['RSA-2048 signatures/s, load average', `${rsaSignatures()}, ${loadAverage()}`],
  [
    'a page of 50 with its records, ms: p50, max',
    `${ms(quantile(times, 0.5))}, ${ms(Math.max(...times))}`,
  ],
  [
    '… of a processor, p50',
    ms(
      quantile(
        pages.map((page) => page.cpu),
        0.5,
      ),
    ),
  ],
  [`${count} domains are signed with their new keys after, ms`, ms(passed)],
  [
    '… for 50 of them: passed, of a processor',
    `${ms((passed * pageSize) / count)}, ${ms((cpu * pageSize) / count)}`,
  ],
  ['keys that still wait', String(waiting)],
])
await store.close()
process.exit(waiting === 0 ? 0 : 1)

/** Verified domains, each with its keys and those that are to come. */
async function fill(): Promise<void> {
  const now = clock.now()
  for (let n = 0; n < count; n += 100) {
    const ids = Array.from({ length: Math.min(100, count - n) }, () => store.ids.uuid())
    const domains = ids.map((id, i) => ({
      id,
      account_id: accountId,
      name: `d${String(n + i).padStart(6, '0')}.test`,
      status: 'verified' as const,
      trusted: 0,
      return_path: 1,
      created_at: now,
      verified_at: now,
    }))
    const keys = ids.flatMap((domainId) =>
      (['current', 'next'] as const).flatMap((stage) =>
        (['rsa-sha256', 'ed25519-sha256'] as const).map((algorithm) => ({
          ...keyRow(
            { id: store.ids.uuid(), domainId, stem: stage, now, key },
            algorithm,
            pairs[algorithm],
          ),
          stage,
          verified: stage === 'current' ? 1 : 0,
        })),
      ),
    )
    await store.write(async (tx) => {
      await tx.insertInto('domains').values(domains).execute()
      await tx.insertInto('dkim_keys').values(keys).execute()
    })
  }
}
