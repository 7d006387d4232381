// Writes pairs of rows for ever and tells its parent about each pair that is on disk. The parent kills it.
import { systemClock } from '../../src/clock/index.js'
import { makeTurns, openStore } from '../../src/store/index.js'

const store = await openStore({
  dataDir: process.argv[2] ?? '',
  clock: systemClock,
  turns: makeTurns(),
  slot: 0,
})

async function writeForEver(lane: number): Promise<void> {
  for (let i = 0; ; i++) {
    const name = `${lane}-${i}`
    await store.write(async (tx) => {
      await tx
        .insertInto('accounts')
        .values({ id: `${name}-1`, name, created_at: 0 })
        .execute()
      await tx
        .insertInto('accounts')
        .values({ id: `${name}-2`, name, created_at: 0 })
        .execute()
    })
    process.send?.(name)
  }
}

await Promise.all([0, 1, 2, 3, 4].map(writeForEver))
