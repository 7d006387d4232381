import { counted, shownBytes } from '../amounts/index.js'
import { findBackups, problemOfDirectory } from '../backup/index.js'
import { readJobStandings } from '../calendar/index.js'
import { type Clock, hourMs, utcTime } from '../clock/index.js'
import { isSupported, runtimeInUse, wayToFixes } from '../config/index.js'
import {
  type DiskRoom,
  diskRoom,
  isOutOfRoom,
  reserveBytesOf,
  reservedBytes,
  scarceBytes,
} from '../store/index.js'
import { type DoctorDeps, type Finding, findingsOf } from './finding.js'

/** Whether its makers still fix the Node that this runs on. */
export async function checkRuntime({ clock }: { clock: Clock }): Promise<Finding[]> {
  const runtime = runtimeInUse()
  const of = findingsOf('runtime', runtime.name)
  const { node } = process.versions
  if (isSupported(runtime, clock.now())) {
    return [of.ok(`Node ${node} gets fixes until ${runtime.supportEnds}`)]
  }
  const found = `Node ${node} got fixes of its security until ${runtime.supportEnds}, and gets none now`
  return [of.warn(found, wayToFixes(runtime))]
}

const GiB = 1024 ** 3

/** Room on the disk of the data directory. */
export async function checkDisk({
  dataDir,
  config,
}: Pick<DoctorDeps, 'dataDir' | 'config'>): Promise<Finding[]> {
  // A sandbox keeps no reserve, and takes mail until the disk is full; with a database on a server there is no
  // reserve either.
  const hasReserve = config.outbound.route !== 'sandbox' && config.store.url === ''
  const reserved = hasReserve ? await reservedBytes(dataDir) : undefined
  return [judgeDisk(dataDir, await diskRoom(dataDir), reserved)]
}

/**
 * Two bounds, because the sufficient share differs: 10 % of a small disk is little, of a large one it
 * lasts for months. `reserved` is the size of the kept reserve; undefined if none should exist.
 */
export function judgeDisk(dataDir: string, room: DiskRoom, reserved: number | undefined): Finding {
  const { freeBytes, totalBytes } = room
  const of = findingsOf('disk', dataDir)
  const found = `${shownBytes(freeBytes)} of ${shownBytes(totalBytes)} free`
  const fix = `make room on the disk, or a larger one: 'df -h ${dataDir}', 'du -xh --max-depth=2 / | sort -h'`
  if (reserved !== undefined && isOutOfRoom(room, reserved, false)) {
    const needed = shownBytes(1.5 * reserveBytesOf(totalBytes) - reserved)
    return of.fail(`${found}: with less than ${needed} Posthorn takes no mail (503)`, fix)
  }
  if (reserved !== undefined && isOutOfRoom(room, reserved, true)) {
    const needed = shownBytes(2 * reserveBytesOf(totalBytes) - reserved)
    const words = `${found}: if mail was refused for want of room (503), it is until ${needed} are free`
    return freeBytes < scarceBytes ? of.fail(words, fix) : of.warn(words, fix)
  }
  // A full disk stops acceptance; a tenth is a warning in time, and enough on a large disk anyway.
  if (freeBytes < scarceBytes) return of.fail(found, fix)
  if (freeBytes < Math.min(totalBytes / 10, 10 * GiB)) return of.warn(found, fix)
  return of.ok(found)
}

/** Whether there is a backup that is not too old. `checkJobs` tells how its jobs ended. */
export async function checkBackups({ config, clock }: DoctorDeps): Promise<Finding[]> {
  const { dir, maxAge } = config.backup
  const of = findingsOf('backup', dir === '' ? 'backup.dir' : dir)
  if (dir === '') {
    const found =
      config.store.url === ''
        ? 'no backups are made'
        : 'no backups are made of the appliance key and the settings, without which the PostgreSQL is worth little'
    return [of.warn(found, 'set backup.dir, best a directory of another disk')]
  }
  const fix = "'posthorn job run backup', and look at its result: 'posthorn job show backup'"
  const problem = await problemOfDirectory(dir)
  const open = problem === undefined ? [] : [of.warn(problem.found, problem.fix)]
  const [newest] = await findBackups(dir, clock.now())
  if (newest === undefined) return [...open, of.fail('there is no backup yet', fix)]
  const ageMs = clock.now() - newest.madeAt
  const words = `the newest is ${counted(Math.floor(ageMs / hourMs), 'hour')} old`
  return [...open, ageMs > maxAge ? of.fail(words, fix) : of.ok(words)]
}

/** Whether anybody is told when something goes wrong. */
export async function checkOperator({ config }: Pick<DoctorDeps, 'config'>): Promise<Finding[]> {
  const { notify, command } = config.operator
  const of = findingsOf('operator', notify || 'operator.notify')
  if (notify !== '') return [of.ok('gets mail when something is wrong')]
  if (command.length > 0) return [of.ok('not set; operator.command is told what is wrong')]
  return [
    of.warn(
      'not set, so nobody is told when something is wrong',
      "set operator.notify to your mail address, best of another provider, and try it: 'posthorn notice test'",
    ),
  ]
}

/** Whether periodic work is done: the last run of each job of the calendar, and whether the next one came. */
export async function checkJobs({ read, config, clock }: DoctorDeps): Promise<Finding[]> {
  const now = clock.now()
  const standings = await readJobStandings(read, config.jobs, now)
  const findings = standings.flatMap(({ name, last, dueAt, isOverdue }): Finding[] => {
    const of = findingsOf('jobs', name)
    if (isOverdue && dueAt !== null) {
      const found = `has not run since it was due at ${utcTime(dueAt)}`
      return [of.fail(found, "see whether the appliance runs: 'systemctl status posthorn'")]
    }
    if (last?.result !== 'failed' && last?.result !== 'timed out') return []
    const found = `the last run, at ${utcTime(last.beganAt)}, ${last.result}: ${last.error}`
    return [of.fail(found, `fix the cause and run it again: 'posthorn job run ${name}'`)]
  })
  if (findings.length > 0) return findings
  return [findingsOf('jobs', 'the calendar').ok(`${standings.length} jobs, none failed or overdue`)]
}
