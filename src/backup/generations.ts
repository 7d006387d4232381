import { dayMs } from '../clock/index.js'
import type { FoundBackup } from './names.js'

export interface Keep {
  /** Of so many days, weeks (from Monday) and months that have backups, the newest backup of each stays. */
  daily: number
  weekly: number
  monthly: number
}

/** Which of the backups, newest first, have had their time, in UTC. The newest of all always stays. */
export function expiredBackups(found: readonly FoundBackup[], keep: Keep): FoundBackup[] {
  const day = (at: number) => Math.floor(at / dayMs)
  const kept = new Set(found.slice(0, 1))
  for (const [most, periodOf] of [
    [keep.daily, day],
    // Day 0 was a Thursday.
    [keep.weekly, (at: number) => Math.floor((day(at) + 3) / 7)],
    [keep.monthly, (at: number) => new Date(at).toISOString().slice(0, 7)],
  ] as const) {
    const newest = new Map<number | string, FoundBackup>()
    for (const backup of found) {
      const period = periodOf(backup.madeAt)
      if (!newest.has(period) && newest.size < most) newest.set(period, backup)
    }
    for (const backup of newest.values()) kept.add(backup)
  }
  return found.filter((backup) => !kept.has(backup))
}
