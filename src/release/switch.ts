import { join } from 'node:path'
import { messageOf, OperatorError } from '../errors/index.js'
import { copyDatabaseAside, dropCopy, hasCopy, putDatabaseBack } from './database-copy.js'
import { heldRelease, hold, liftHold } from './hold.js'
import { endJournal, type Journal, type SwitchStep, steps, writeJournal } from './journal.js'
import { type JudgeDeps, judge } from './judge.js'
import { commandOf, type Layout } from './layout.js'
import { runWell } from './run.js'

export interface SwitchDeps extends JudgeDeps {
  layout: Layout
  /** The options by which commands of a release find the data directory and the settings. */
  placeOptions: readonly string[]
  /** Whether an appliance has the data directory open. */
  isServed(): boolean
  /** Works in the data directory as the user who owns it: that user may have put links there. */
  asOwner<T>(work: () => T): T
  tell(progress: SwitchProgress): void
}

export type SwitchProgress =
  | { step: SwitchStep; state: 'begins' | 'done'; journal: Journal }
  /** The new release is given up. */
  | { step: 'back'; state: 'begins' | 'done'; journal: Journal }

/** The result: the new release runs, or the old one runs again. */
export type Switched =
  | { kind: 'upgraded'; journal: Journal }
  /** `asked`: the operator wanted that. */
  | { kind: 'went back'; journal: Journal; why: string; asked?: true }

// It was healthy before, so the time given for the new release says nothing about it.
const oldWithinMs = 300_000

/** Carries out an upgrade from a step on. Throws only where neither release could be brought to run. */
export async function goForward(
  deps: SwitchDeps,
  begun: Journal,
  from: SwitchStep = 'stop',
): Promise<Switched> {
  let journal = begun
  try {
    for (const step of steps.slice(steps.indexOf(from))) {
      journal = { ...journal, step }
      writeJournal(deps.layout.prefix, journal)
      deps.tell({ step, state: 'begins', journal })
      await actions[step](deps, journal)
      deps.tell({ step, state: 'done', journal })
    }
    return { kind: 'upgraded', journal }
  } catch (error) {
    if (journal.step === 'tidy') throw error
    return await goBack(deps, journal, messageOf(error))
  }
}

/** Finishes what a killed upgrade has left, or undoes it where it was on its way back. */
export async function resume(deps: SwitchDeps, journal: Journal): Promise<Switched> {
  const { dataDir, to, direction, why = 'it was given up' } = journal
  if (direction === 'back') return await goBack(deps, journal, why)
  // The old release may have run since, so that the copy of its database is out of date.
  if (deps.layout.current() !== to) return await goForward(deps, journal, 'stop')
  // The hold was lifted, here or by the appliance itself.
  if (heldRelease(dataDir) !== to) return await goForward(deps, journal, 'tidy')
  const isThere = deps.isServed() || (await deps.service.isActive())
  return await goForward(deps, journal, isThere ? 'judge' : 'migrate')
}

/**
 * Brings the old release back, with the database as it was. The database is put back only while nothing runs and the
 * hold is there: the new release has then taken and sent nothing. A new release without the hold stays.
 */
export async function goBack(deps: SwitchDeps, begun: Journal, why: string): Promise<Switched> {
  const { layout, service, asOwner } = deps
  const { dataDir, from, to } = begun
  const journal: Journal = { ...begun, direction: 'back', why }
  writeJournal(layout.prefix, journal)
  deps.tell({ step: 'back', state: 'begins', journal })
  await service.stop()
  refuseServed(deps, dataDir)
  await runWell('flock', [migrationLock(layout), 'true'])
  if (layout.current() === to) {
    if (heldRelease(dataDir) !== to) {
      await service.start()
      return await goForward(deps, { ...journal, direction: 'forward' }, 'tidy')
    }
    // Without a copy nothing was migrated.
    if (hasCopy(dataDir)) asOwner(() => putDatabaseBack(dataDir))
    layout.switchTo(from)
  }
  asOwner(() => liftHold(dataDir))
  await service.start()
  const still = await judge({ ...deps, timeoutMs: Math.max(deps.timeoutMs, oldWithinMs) }, from)
  asOwner(() => dropCopy(dataDir))
  endJournal(layout.prefix)
  deps.tell({ step: 'back', state: 'done', journal })
  if (still === undefined) return { kind: 'went back', journal, why }
  throw new OperatorError(
    `${to} did not become healthy (${why}), and ${from}, which is in use again, does not either: ${still}. Look at 'posthorn status' and the log`,
  )
}

const actions: Record<SwitchStep, (deps: SwitchDeps, journal: Journal) => Promise<void> | void> = {
  async stop(deps, { dataDir }) {
    await deps.service.stop()
    refuseServed(deps, dataDir)
  },
  // Before the copy: going back would lose what a command wrote after the copy.
  hold({ asOwner }, { dataDir, to }) {
    asOwner(() => hold(dataDir, to))
  },
  copy({ asOwner }, { dataDir, migrates }) {
    asOwner(() => (migrates ? copyDatabaseAside(dataDir) : dropCopy(dataDir)))
  },
  // Before the migration: the new release, which any start now runs, reads the database from before it and from after
  // it.
  switch({ layout }, { to }) {
    layout.switchTo(to)
  },
  async migrate({ layout, placeOptions }, { to, migrates }) {
    if (!migrates) return
    const command = commandOf(layout.treeOf(to))
    await runWell('flock', [migrationLock(layout), command, 'init', '--json', ...placeOptions])
  },
  start: ({ service }) => service.start(),
  async judge(deps, { to }) {
    const why = await judge(deps, to)
    if (why !== undefined) throw new OperatorError(`${to} does not become healthy: ${why}`)
  },
  release({ asOwner }, { dataDir }) {
    asOwner(() => liftHold(dataDir))
  },
  async tidy(deps, { dataDir, from, to }) {
    const { layout, service, asOwner } = deps
    asOwner(() => dropCopy(dataDir))
    layout.keepOnly(from)
    endJournal(layout.prefix)
    if (!(await service.isActive())) await service.start()
    const why = await judge(deps, to)
    if (why === undefined) return
    throw new OperatorError(
      `${to} was healthy and is in use, but is not healthy any more: ${why}. It may have taken mail, so nothing is put back by itself. Look at 'posthorn status' and the log; 'posthorn upgrade --back' goes back to ${from}`,
    )
  },
}

/**
 * Locked by flock(1). The migrating process inherits the lock: it lives on when the upgrade is killed, and would
 * migrate a database that was just put back.
 */
const migrationLock = ({ prefix }: { prefix: string }) => join(prefix, '.migrating')

function refuseServed({ isServed }: SwitchDeps, dataDir: string): void {
  if (!isServed()) return
  throw new OperatorError(
    `The service was stopped, and an appliance still runs on ${dataDir}: it was started in another way. Stop it first`,
  )
}
