import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { exitStatus, messageOf, OperatorError } from '../errors/index.js'

/*
 * The file of the appliance key: one key a line, the newest first. Behind each older key stands until when it is
 * understood.
 */

/** A key as it stands in the file. */
interface KeptKey {
  /** 32 bytes. */
  secret: Buffer
  /** In ms; null for the newest key, which has no end. */
  until: number | null
}

/** The line of a key. */
export const keyLine = (secret: Buffer, until: number | null = null): string =>
  `${secret.toString('base64')}${until === null ? '' : ` until ${new Date(until).toISOString()}`}\n`

/** The keys of the file, the newest first. `named` is what messages call it. */
export function readKeyFile(file: string, named = file): KeptKey[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new OperatorError(
      `Cannot read the appliance key ${named}: ${messageOf(error)}. 'posthorn init' makes one; after a restore, put the old one back`,
      { status: exitStatus.misplaced },
    )
  }
  const keys = text.trim().split('\n').map(keyIn)
  const isWhole = keys.every(
    ({ secret, until }, i) => secret.length === 32 && (i === 0) === (until === null),
  )
  if (isWhole) return keys
  throw new OperatorError(
    `The appliance key ${named} is damaged: expected 32 bytes in base64, and older keys in lines of their own with their end. Put it back from a backup`,
    { status: exitStatus.misplaced },
  )
}

function keyIn(line: string): KeptKey {
  const [, base64 = '', end] = /^([A-Za-z0-9+/=]+)(?: until (\S+))?\s*$/.exec(line) ?? []
  const until = end === undefined ? null : Date.parse(end)
  // An end that is no date makes the line a damaged one.
  const isSound = until === null || !Number.isNaN(until)
  return { secret: Buffer.from(isSound ? base64 : '', 'base64'), until }
}

/** Puts a new key first, whole or not at all; the key before is understood until `until`. */
export function addNewestKey(file: string, until: number): void {
  const [newest, ...older] = readKeyFile(file)
  if (newest === undefined) return
  const before = older.map((one) => ({ ...one, until: Math.min(one.until ?? until, until) }))
  writeKeys(file, [{ secret: randomBytes(32), until: null }, { ...newest, until }, ...before])
}

/** The older keys are understood until `until`, and no longer than they were to be. */
export function endOlderKeys(file: string, until: number): void {
  const [newest, ...older] = readKeyFile(file)
  if (newest === undefined) return
  writeKeys(file, [
    newest,
    ...older.map((one) => ({ ...one, until: Math.min(one.until ?? until, until) })),
  ])
}

/** Removes older keys whose time is over; answers whether there was one. */
export function dropEndedKeys(file: string, now: number): boolean {
  const keys = readKeyFile(file)
  const left = keys.filter(({ until }) => until === null || until > now)
  if (left.length === keys.length) return false
  writeKeys(file, left)
  return true
}

/** Writes a new file that replaces the old one: after a kill one of both is there. */
function writeKeys(file: string, keys: readonly KeptKey[]): void {
  const written = `${file}.new`
  rmSync(written, { force: true })
  const text = keys.map(({ secret, until }) => keyLine(secret, until)).join('')
  writeFileSync(written, text, { flag: 'wx', mode: 0o600, flush: true })
  renameSync(written, file)
  const dir = openSync(dirname(file), 'r')
  try {
    fsyncSync(dir)
  } finally {
    closeSync(dir)
  }
}
