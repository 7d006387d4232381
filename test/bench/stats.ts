import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { systemClock } from '../../src/clock/index.js'
import { questionOf, readStats, rollUp } from '../../src/stats/index.js'
import { makeTurns, openStore } from '../../src/store/index.js'
import { databaseFile } from '../../src/store/sqlite/files.js'
import { initSandbox } from '../support/process.js'
import { fillLog } from './fill-log.js'
import { rsaSignatures } from './rig.js'

/*
 * How fast a log of before is counted, and how long a question takes beside it, with what the machine can
 * do at that moment (RSA-2048 signatures a second).
 *     node dist/test/bench/stats.js --mails 200000 --questions 300
 */
const { values } = parseArgs({
  options: {
    mails: { type: 'string', default: '200000' },
    questions: { type: 'string', default: '300' },
  },
})
const mails = Number(values.mails)
const questions = Number(values.questions)
const root = mkdtempSync(join(tmpdir(), 'posthorn-bench-'))
const dataDir = join(root, 'data')
try {
  const { accountId } = initSandbox(dataDir)
  fillLog(dataDir, mails)
  spread(dataDir)
  const store = await openStore({ dataDir, clock: systemClock, turns: makeTurns(), slot: 0 })
  console.log(`${rsaSignatures()} RSA signatures/s`)
  const began = performance.now()
  while (await rollUp(store)) {}
  const seconds = (performance.now() - began) / 1_000
  console.log(
    `counted ${mails} mails and ${2 * mails} events in ${seconds.toFixed(1)} s: ${Math.round((3 * mails) / seconds)} rows/s, without rests`,
  )
  for (const [name, input] of [
    ['a month by day', { from: '2025-11-01', to: '2025-11-30' }],
    ['a year by day', { from: '2025-01-01', to: '2025-12-31' }],
    ['a year by provider', { from: '2025-01-01', to: '2025-12-31', groupBy: 'provider' }],
  ] as const) {
    const tookMs: number[] = []
    for (let n = 0; n < questions; n++) {
      const asked = performance.now()
      await readStats(store.read, accountId, questionOf(input, systemClock.now()))
      tookMs.push(performance.now() - asked)
    }
    tookMs.sort((a, b) => a - b)
    const at = (share: number) => tookMs[Math.floor(share * (tookMs.length - 1))]?.toFixed(1)
    console.log(`${name}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`)
  }
  console.log(`${rsaSignatures()} RSA signatures/s`)
  await store.close()
} finally {
  rmSync(root, { recursive: true, force: true })
}

/** Lays the mails over a year, each with a delivery and an open. */
function spread(dir: string): void {
  const db = new Database(databaseFile(dir))
  db.pragma('synchronous = off')
  const stepMs = Math.floor((365 * 86_400_000) / mails)
  db.exec(
    `update emails set created_at = created_at + (created_at - ${Date.UTC(2025, 0, 1)}) * ${stepMs - 1}`,
  )
  for (const [type, detail] of [
    ['delivered', 'null'],
    ['opened', `'{"first":true}'`],
  ]) {
    db.exec(
      `insert into events (account_id, email_id, delivery_id, recipient, class, type, at, detail)
       select e.account_id, e.id, d.id, d.recipient, 0, '${type}', e.created_at, ${detail}
       from deliveries d join emails e on e.id = d.email_id order by d.id`,
    )
  }
  db.close()
}
