import { runPeriodic } from '../app/periodic.js'
import { giveBackPages, isRemote } from '../store/index.js'

// Only gives pages back. It takes no statistics (PRAGMA optimize, ANALYZE): all query plans were
// made and measured without them, and at night, when the queue is nearly empty, statistics would
// call it tiny and so mislead the planner by day.
await runPeriodic('optimize', async ({ store, signal }) => {
  if (isRemote(store.read)) {
    return { summary: 'Nothing was to be done: the autovacuum of PostgreSQL uses free pages again' }
  }
  const { before, after } = await giveBackPages(store, signal)
  const givenBackBytes = (before.total - after.total) * before.bytesEach
  const freeBytes = after.free * after.bytesEach
  const inMb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
  const problems = before.shrinks
    ? []
    : [
        "The database was made by an older Posthorn and cannot shrink: its free pages are used again. To make it shrink, stop the appliance, run 'posthorn database vacuum' once, and start it again",
      ]
  return {
    summary: `${inMb(givenBackBytes)} of the database are given back to the disk, ${inMb(freeBytes)} stay free for new mail`,
    problems,
    figures: { givenBackBytes, freeBytes },
  }
})
