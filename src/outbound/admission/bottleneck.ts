import type { QueueClass } from '../../store/index.js'
import { keptFrom } from '../shaping/index.js'
import { classes } from './waiting.js'

/**
 * Lets so many through at once, a fifth of them transactional mail alone; of those who wait it goes
 * first.
 */
export type Bottleneck = <T>(of: QueueClass, work: () => Promise<T>) => Promise<T>

export function makeBottleneck(most: number): Bottleneck {
  const waiting: Record<QueueClass, (() => void)[]> = { 0: [], 1: [], 2: [] }
  let inside = 0
  const mayEnter = (of: QueueClass) => inside < most - keptFrom(of, most)
  const next = () => {
    inside--
    const of = classes.find((one) => waiting[one].length > 0)
    if (of === undefined || !mayEnter(of)) return
    inside++
    waiting[of].shift()?.()
  }
  return async (of, work) => {
    if (mayEnter(of)) inside++
    else await new Promise<void>((resolve) => waiting[of].push(resolve))
    try {
      return await work()
    } finally {
      next()
    }
  }
}
