import { dayMs } from '../clock/index.js'
import { notice, openOfKind, settled } from '../notices/index.js'
import { type DiskRoom, diskRoom, type Read, readPages, uuidTime } from '../store/index.js'
import type { Ages } from './old-rows.js'
import type { RetentionDeps } from './slices.js'
import { readState, setState } from './state.js'
import { stripLargest } from './strip-largest.js'

/** `readDisk` is for tests. */
interface DiskDeps extends RetentionDeps {
  dataDir: string
  ages: Ages
  readDisk?: (dataDir: string) => Promise<DiskRoom>
}

/**
 * While the disk is fuller than its share, deletes the oldest bodies of the account that stores most, if they are old
 * enough, before the disk is full and mail is refused. Free pages of the database count as free, as they are used
 * first. The operator is told, and urgently when nothing more may be deleted. Resolves with how many mails had a body.
 */
export async function keepDiskShare(
  deps: DiskDeps,
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<number> {
  const { store, ages, dataDir } = deps
  const isOver = async () => (await fullShare(deps)) > ages.diskShare
  let gone = 0
  if (await isOver()) {
    // Bodies older than `bodies` are deleted anyway.
    const until = now - Math.min(ages.bodiesAtLeast, ages.bodies)
    const isEnough = async () => !(await isOver())
    const early = await stripLargest(deps, { until, signal, isEnough })
    gone = early.gone
    const { early_through: before } = await readState(store.read)
    if (early.throughId > before) {
      await store.write((tx) => setState(tx, { early_through: early.throughId }))
    }
  }
  if (signal.aborted) return gone
  // One notice for all of it: it rises, falls and is settled under this key.
  const about = { kind: 'retention', key: 'disk share', now } as const
  const full = await fullShare(deps)
  const isFull = full > ages.diskShare
  const burns = (await openOfKind(store.read, about.kind)).some(
    ({ key, severity }) => key === about.key && severity === 'burning',
  )
  const fix = `df -h ${dataDir}; a larger disk, or lower ages in [retention]`
  if (isFull) {
    const text = `The disk of ${dataDir} is ${percent(full)} full, above retention.disk_share (${percent(ages.diskShare)}), and no body is left that may go: mail is refused when it is full`
    await store.write((tx) => notice(tx, { ...about, severity: 'burning', text, fix }))
    return gone
  }
  const isEarly = await stillEarly(store.read, now - ages.bodies)
  if (gone > 0 || (burns && isEarly)) {
    const { early_through: through } = await readState(store.read)
    const days = Math.floor((now - uuidTime(through)) / dayMs)
    const mails = gone > 0 ? `${gone} mails` : 'mails'
    // There is room again: the notice is no longer urgent, although bodies that should have been
    // kept are gone.
    const text = `The disk of ${dataDir} was over retention.disk_share (${percent(ages.diskShare)}): the bodies of ${mails} that were ${days} days old or older, of the accounts that store most, were deleted early`
    await store.write((tx) => notice(tx, { ...about, severity: 'daily', text, fix }))
  } else if (!isEarly) {
    await store.write((tx) => settled(tx, about))
  }
  return gone
}

/** In millionths, like the settings' percentages. */
async function fullShare({ store, dataDir, readDisk = diskRoom }: DiskDeps): Promise<number> {
  const { totalBytes, freeBytes } = await readDisk(dataDir)
  const { free, bytesEach } = await readPages(store.read)
  if (totalBytes === 0) return 0
  return Math.floor(((totalBytes - freeBytes - free * bytesEach) / totalBytes) * 1_000_000)
}

/** Whether bodies are gone that would be kept if there were room. */
async function stillEarly(read: Read, until: number): Promise<boolean> {
  const { early_through: through } = await readState(read)
  return through !== '' && uuidTime(through) > until
}

/** Rounded down, as 79.9 % is not yet 80 %. */
const percent = (millionths: number) => `${Math.floor(millionths / 10_000)}%`
