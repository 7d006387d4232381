import type { QueueClass } from '../../store/index.js'
import { keptFrom } from '../shaping/index.js'
import { classes } from './waiting.js'

/**
 * Lets a number of mails through at once. A fifth of the places is for transactional mail alone, which also goes
 * first among those that wait.
 */
export interface Bottleneck {
  pass<T>(of: QueueClass, work: () => Promise<T>): Promise<T>
  /** How many wait. */
  waiting(): number
}

/**
 * `onPassed`: called when a mail is through. p-queue has priorities too, but can keep no places free for one of
 * them.
 */
export function makeBottleneck(most: number, onPassed = () => {}): Bottleneck {
  const line = makeLine<() => void>()
  let inside = 0
  const mayEnter = (of: QueueClass) => inside < most - keptFrom(of, most)
  const next = () => {
    inside--
    const resolve = line.take(mayEnter)
    if (resolve !== undefined) {
      inside++
      resolve()
    }
    onPassed()
  }
  return {
    async pass(of, work) {
      if (mayEnter(of)) inside++
      else await new Promise<void>((resolve) => line.add(of, resolve))
      try {
        return await work()
      } finally {
        next()
      }
    },
    waiting: line.length,
  }
}

/** Those who wait, in the order in which they came, transactional mail before automations' and campaigns'. */
export function makeLine<T>() {
  const waiting: Record<QueueClass, T[]> = { 0: [], 1: [], 2: [] }
  return {
    add: (of: QueueClass, one: T) => void waiting[of].push(one),
    length: () => waiting[0].length + waiting[1].length + waiting[2].length,
    /** How many would go before a mail of the class that came now. */
    before(of: QueueClass): number {
      let count = 0
      for (const one of classes) if (one <= of) count += waiting[one].length
      return count
    },
    /** The first, if its class may go. */
    take(mayGo: (of: QueueClass) => boolean = () => true): T | undefined {
      const of = classes.find((one) => waiting[one].length > 0)
      return of === undefined || !mayGo(of) ? undefined : waiting[of].shift()
    },
  }
}
