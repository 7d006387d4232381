// Adds one to a row many times, each time with a read and a write: a lost update would show.
import { workerData } from 'node:worker_threads'
import { systemClock } from '../../src/clock/index.js'
import { openStore } from '../../src/store/index.js'

const { dataDir, turns, slot, times } = workerData as {
  dataDir: string
  turns: SharedArrayBuffer
  slot: number
  times: number
}
const store = await openStore({ dataDir, clock: systemClock, turns, slot })
for (let i = 0; i < times; i++) {
  await store.write(async (tx) => {
    const row = await tx
      .selectFrom('accounts')
      .select('created_at')
      .where('id', '=', 'counter')
      .executeTakeFirstOrThrow()
    await tx
      .updateTable('accounts')
      .set({ created_at: row.created_at + 1 })
      .where('id', '=', 'counter')
      .execute()
  })
}
await store.close()
