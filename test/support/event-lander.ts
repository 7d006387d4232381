// Lands events of one account for ever, in three threads that take turns. Its parent kills it.
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { systemClock } from '../../src/clock/index.js'
import { loadConfig } from '../../src/config/index.js'
import { makeLandEvents } from '../../src/events/index.js'
import { makeProtection } from '../../src/protection/index.js'
import { makeTurns, openStore } from '../../src/store/index.js'
import { databaseIn } from './store.js'

interface Data {
  dataDir: string
  accountId: string
  turns: SharedArrayBuffer
  slot: number
}

const at = Date.parse('2026-11-21T12:00:00Z')

async function landForEver({ dataDir, accountId, turns, slot }: Data): Promise<void> {
  const store = await openStore({ ...(await databaseIn(dataDir)), clock: systemClock, turns, slot })
  const { protection } = loadConfig({ env: {} })
  const land = makeLandEvents([makeProtection(protection)])
  for (let i = 0; ; i++) {
    const bounced = i % 8 === 0
    await store.byRow((tx) =>
      land(tx, [
        {
          accountId,
          emailId: `${slot}-${i}`,
          deliveryId: i * 3 + slot,
          class: 0,
          at,
          recipient: `a${slot}-${i}@one.test`,
          reply: null,
          type: bounced ? 'bounced' : 'delivered',
          detail: bounced ? { bounceType: 'Permanent' } : null,
        },
      ]),
    )
  }
}

if (isMainThread) {
  const [, , dataDir = '', accountId = ''] = process.argv
  const turns = makeTurns()
  for (const slot of [0, 1, 2]) {
    const data: Data = { dataDir, accountId, turns, slot }
    new Worker(new URL(import.meta.url), { workerData: data })
  }
} else await landForEver(workerData as Data)
