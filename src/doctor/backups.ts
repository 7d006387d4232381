import { findBackups } from '../backup/index.js'
import type { DoctorDeps } from './deps.js'
import { type Finding, findingsOf } from './finding.js'

const hourMs = 3_600_000

/** Whether there is a backup, and not too old a one. How its jobs ended is said with those of others. */
export async function checkBackups({ config, clock }: DoctorDeps): Promise<Finding[]> {
  const { dir, maxAge } = config.backup
  const of = findingsOf('backup', dir === '' ? 'backup.dir' : dir)
  if (dir === '') {
    return [of.warn('no backups are made', 'set backup.dir, best a directory of another disk')]
  }
  const fix = "'posthorn job run backup', and look at its result: 'posthorn job show backup'"
  const [newest] = await findBackups(dir, clock.now())
  if (newest === undefined) return [of.fail('there is no backup yet', fix)]
  const ageMs = clock.now() - newest.madeAt
  const words = `the newest is ${Math.floor(ageMs / hourMs)} hours old`
  return [ageMs > maxAge ? of.fail(words, fix) : of.ok(words)]
}
