import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { boolean, enums, type Infer, is, nullable, optional, string, type } from 'superstruct'
import { OperatorError } from '../errors/index.js'
import { removeDurably, writeDurably } from '../store/index.js'

/** What an upgrade does to a running appliance, in this order. Each step may be begun again. */
export const steps = [
  'stop',
  'hold',
  'copy',
  'switch',
  'migrate',
  'start',
  'judge',
  'release',
  'tidy',
] as const
export type SwitchStep = (typeof steps)[number]

const Shape = type({
  dataDir: string(),
  /** The release to go back to, and the one that is to run. */
  from: string(),
  to: string(),
  /** `back`: the new release was given up; `why` says the reason. */
  direction: enums(['forward', 'back']),
  step: enums(steps),
  /** The new release changes the schema, so that the old one needs the database of before. */
  migrates: boolean(),
  /** The backup that was made first; null: there is none. */
  backup: nullable(string()),
  why: optional(string()),
})

/** What a killed upgrade had under way. It is written durably before each step. */
export type Journal = Infer<typeof Shape>

const journalFile = (prefix: string) => join(prefix, 'upgrade.json')

/** Undefined: no upgrade was broken off. */
export function readJournal(prefix: string): Journal | undefined {
  const file = journalFile(prefix)
  if (!existsSync(file)) return undefined
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
  if (is(value, Shape)) return value
  throw new OperatorError(
    `${file} was written by a release that works differently: run the 'posthorn upgrade' of the release that wrote it`,
  )
}

export function writeJournal(prefix: string, journal: Journal): void {
  // Everybody may read it from its first moment on: the appliance, which runs as another user, tells by it that the
  // upgrade was broken off.
  const umask = process.umask(0o022)
  try {
    writeDurably(journalFile(prefix), `${JSON.stringify(journal, undefined, 2)}\n`)
  } finally {
    process.umask(umask)
  }
}

export const endJournal = (prefix: string): void => removeDurably(journalFile(prefix))
