import { runPeriodic } from '../app/periodic.js'
import { forgetOldCounts } from '../protection/index.js'

// Bounce and complaint counts have a row a day, kept only for as long as protection looks back.
await runPeriodic('rollover', async ({ store, clock, config, signal }) => {
  const figures = await forgetOldCounts({ store, clock }, config.protection.window, signal)
  const { accounts, addresses } = figures
  return {
    summary: `Old counts deleted: of accounts ${accounts}, of addresses ${addresses}`,
    figures,
  }
})
