/** Resolves in the next turn of the event loop, behind whatever has come meanwhile. */
export { setImmediate as nextTurn } from 'node:timers/promises'
export { type BatchSize, makeBatchSize } from './batch-size.js'
export {
  type CountedTogether,
  makeSharedCounts,
  type SharedCounts,
  sharedWindowEnd,
  type WindowCount,
} from './counted-together.js'
export { makeInTurn } from './in-turn.js'
export { keepNewest } from './keep-newest.js'
export { onceATurn } from './once-a-turn.js'
export { someAtOnce } from './some-at-once.js'
