import { existsSync } from 'node:fs'
import { tryLockFile } from '../store/index.js'
import { heldRelease, upgradeLock } from './hold.js'
import { readJournal } from './journal.js'
import { ownPrefix } from './layout.js'

/** An upgrade that was killed, and that nobody has finished or undone yet. */
export interface BrokenUpgrade {
  /** In words: `The upgrade from 0.1.0 to 0.2.0 was broken off (step 'copy')`. */
  says: string
  /** What finishes it, or undoes it. */
  fix: string
}

/**
 * The upgrade of a data directory that was broken off; undefined where none was, or one is under way. Its journal
 * tells, if this process may read it; else the hold, which exists from the second step on.
 */
export function findBrokenUpgrade(dataDir: string): BrokenUpgrade | undefined {
  const says = leftBy(dataDir)
  if (says === undefined || isUnderWay(dataDir)) return undefined
  return { says, fix: "'posthorn upgrade' finishes it, or goes back to the release before" }
}

function leftBy(dataDir: string): string | undefined {
  const prefix = ownPrefix()
  const journal = prefix === undefined ? undefined : readable(prefix)
  if (journal !== undefined && journal.dataDir === dataDir) {
    const { from, to, step, direction } = journal
    const at = direction === 'back' ? `on its way back to ${from}` : `at the step '${step}'`
    return `The upgrade from ${from} to ${to} was broken off ${at}`
  }
  const held = heldRelease(dataDir)
  return held === undefined ? undefined : `An upgrade to ${held} was broken off`
}

/** The hold tells of a journal that only root may read, or that a different kind of release wrote. */
function readable(prefix: string) {
  try {
    return readJournal(prefix)
  } catch {
    return undefined
  }
}

function isUnderWay(dataDir: string): boolean {
  // The first upgrade makes this file, and it stays.
  if (!existsSync(upgradeLock(dataDir))) return false
  const unlock = tryLockFile(upgradeLock(dataDir))
  unlock?.()
  return unlock === undefined
}
