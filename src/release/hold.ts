import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../errors/index.js'
import { removeDurably, writeDurably } from '../store/index.js'

/*
 * The hold: a file in the data directory that names a release. While it is there, an appliance of that release takes
 * nothing and sends nothing, so the database may still be put back as it was. Removing the hold is the one step of an
 * upgrade after which there is no way back.
 */
const holdFile = (dataDir: string) => join(dataDir, 'upgrade.hold')

/** Whoever upgrades holds this lock, until its process ends in whatever way. */
export const upgradeLock = (dataDir: string) => join(dataDir, 'upgrade.lock')

// A name and a line end.
const longestBytes = 200

/** The name of the release that is held; undefined: none is. OperatorError where the hold is no plain file. */
export function heldRelease(dataDir: string): string | undefined {
  const file = holdFile(dataDir)
  const fd = openPlainly(file)
  if (fd === undefined) return undefined
  try {
    const found = fstatSync(fd)
    if (!found.isFile() || found.size > longestBytes) throw noHold(file)
    return readFileSync(fd, 'utf8').trim()
  } finally {
    closeSync(fd)
  }
}

/**
 * Root reads it in a folder of the service's user: a pipe there must not stop root, and a link must not lead elsewhere.
 */
function openPlainly(file: string): number | undefined {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants
  try {
    return openSync(file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT') return undefined
    // ENXIO: a socket.
    if (code === 'ELOOP' || code === 'ENXIO') throw noHold(file)
    throw error
  }
}

const noHold = (file: string) =>
  new OperatorError(
    `${file} was not written by 'posthorn upgrade': find out what made it, and remove it`,
  )

export const hold = (dataDir: string, name: string): void =>
  writeDurably(holdFile(dataDir), `${name}\n`)

export const liftHold = (dataDir: string): void => removeDurably(holdFile(dataDir))
