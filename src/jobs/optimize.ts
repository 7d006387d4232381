import { runPeriodic } from '../app/periodic.js'
import { giveBackPages } from '../store/index.js'

await runPeriodic('optimize', async ({ store, signal }) => {
  const { before, after } = await giveBackPages(store, signal)
  const givenBackBytes = (before.total - after.total) * before.bytesEach
  return {
    summary: `${givenBackBytes} bytes of the database were free and are given back`,
    figures: { givenBackBytes },
  }
})
