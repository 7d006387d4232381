import { Option } from 'commander'
import { type Account, findAccount, listAccounts } from '../accounts/index.js'
import { type Clock, systemClock } from '../clock/index.js'
import { packageVersion } from '../config/index.js'
import { exitStatus, OperatorError } from '../errors/index.js'
import type { DatabasePlace, Read, Store } from '../store/index.js'
import { askAppliance, overviewMs } from './ask.js'
import { audited, rememberAccount } from './audited.js'
import { besideAppliance } from './away.js'
import {
  becomeOwner,
  type CommandPlace,
  databaseOf,
  nodeNameOfPlace,
  requireDataDir,
} from './place.js'

/** What a command works with once the database is open. */
export interface CliDeps {
  store: Store
  clock: Clock
}

/**
 * Opens the database of an initialised data directory during `work`. A database of another schema is refused: a
 * command never changes what an appliance of another version serves, or may go back to. While an upgrade holds the
 * appliance, a command may read, and each write throws an OperatorError.
 */
export async function withStore<T>(
  place: CommandPlace,
  work: (deps: CliDeps) => T | Promise<T>,
  /** True for the command that tells how to go on with a database that went back. */
  { accepts = false }: { accepts?: boolean } = {},
): Promise<T> {
  // First of all, as the appliance could not open what root made in the data directory.
  const database = databaseOf(place)
  const nodeName = nodeNameOfPlace(place)
  becomeOwner(place)
  await requireDataDir(place)
  // Loaded only here: loading the database takes longer than a refusal or --help as a whole.
  const { commandSlot, gatherAlone, makeTurns, openStore } = await import('../store/index.js')
  const { openOwnKey, rememberKey } = await import('../app/own-database.js')
  const key = await openOwnKey(database).catch(async (error: unknown) => {
    throw await besideAppliance(place, error)
  })
  await refuseOtherSchema(place)
  // Turns order threads; a running appliance is another process, which SQLite itself keeps apart.
  const clock = systemClock
  const store = await openStore({
    ...database,
    clock,
    turns: makeTurns(),
    slot: commandSlot,
  })
  try {
    // After the check of the schema: another release may keep the key elsewhere.
    await rememberKey(store, key, database)
    // In this order, so that a write that an upgrade refuses does not reach the audit log.
    const held = await unlessHeld(store, place.dataDir)
    const isAsked = database.url !== undefined && !accepts
    const whole = isAsked ? { ...held, write: await unlessBack(held, database, nodeName) } : held
    const seen = audited(whole, clock)
    const { write } = seen
    return await work({ store: { ...seen, byRow: write, gather: gatherAlone(write) }, clock })
  } finally {
    await store.close()
  }
}

/** A write to a database that has forgotten its last commits may contradict them. */
async function unlessBack(
  store: Store,
  database: DatabasePlace,
  nodeName: string,
): Promise<Store['write']> {
  const { lastBeatOf, readLastBeat, saysBack, wentBack } = await import('../nodes/index.js')
  const ms = wentBack(readLastBeat(database.dataDir), await lastBeatOf(store.read, nodeName))
  if (ms === undefined) return store.write
  return async () => {
    throw new OperatorError(saysBack(database, ms), { status: exitStatus.misplaced })
  }
}

/** An upgrade may still restore the previous database, and writes made since would be lost. */
async function unlessHeld(store: Store, dataDir: string): Promise<Store> {
  const { heldRelease } = await import('../release/index.js')
  return {
    ...store,
    write: async (work, aloneWith) => {
      const held = heldRelease(dataDir)
      if (held === undefined) return await store.write(work, aloneWith)
      throw new OperatorError(
        `An upgrade to ${held} is under way, which may still put the database back as it was: nothing was changed. Run this again when it has ended; if 'posthorn upgrade' was broken off, run that first`,
      )
    },
  }
}

/**
 * A command of another release could read columns that mean something else, or write rows that the
 * running appliance does not understand. So the command does nothing, and says which of the two is
 * older, as the advice differs.
 */
async function refuseOtherSchema(place: CommandPlace): Promise<void> {
  const { databaseCalled, latestSchema, sayUnreleased, schemaState } = await import(
    '../store/index.js'
  )
  const { kind, schema, writtenBy } = await schemaState(databaseOf(place))
  // Another node's release may have added to the schema.
  if (kind === 'same' || kind === 'ahead') return
  if (kind === 'unreleased') throw new OperatorError(sayUnreleased(databaseOf(place)))
  const { isServed } = await import('../app/lock.js')
  const { dataDir } = place
  const version = packageVersion()
  const running = isServed(dataDir)
    ? ((await askAppliance(place, { overview: true }, overviewMs))?.overview?.version ?? 'unknown')
    : undefined
  const theirs = writtenBy === undefined ? 'another version' : `version ${writtenBy}`
  const served =
    running === undefined
      ? 'No appliance runs on it'
      : running === 'unknown'
        ? 'An appliance runs on it, which does not tell its version'
        : `An appliance of version ${running} runs on it`
  const { findBrokenUpgrade } = await import('../release/index.js')
  const broken = findBrokenUpgrade(dataDir)
  const toDo =
    kind === 'newer'
      ? 'use the command of the release that wrote it'
      : running === undefined
        ? "start the appliance ('systemctl start posthorn'), which brings the database up to date, or run 'posthorn init', and then run the command again"
        : "restart it ('systemctl restart posthorn'), which brings the database up to date, or use the command of its own release"
  throw new OperatorError(
    `This command is Posthorn ${version} (schema ${await latestSchema()}). ${databaseCalled(databaseOf(place))} is of ${theirs} (schema ${schema ?? 'none'}), which is ${kind}. ${served}${broken ? `. ${broken.says}: ${broken.fix}` : `: ${toDo}`}`,
  )
}

/** For commands about the things of one account. */
export const accountOption = () =>
  new Option('--account <id>', 'id or name of the account (default: the only one)')

/** The account that was named, or the only one. */
export async function chosenAccount(read: Read, named: string | undefined): Promise<Account> {
  const account = await namedOrOnly(read, named)
  rememberAccount(account.id)
  return account
}

/**
 * With one account nobody should have to name it; with several, a guess could change the wrong one.
 */
async function namedOrOnly(read: Read, named: string | undefined): Promise<Account> {
  if (named !== undefined) return findAccount(read, named)
  const accounts = await listAccounts(read)
  const [only, ...others] = accounts
  if (only === undefined) {
    throw new OperatorError("There is no account yet; 'posthorn account create NAME' makes one")
  }
  if (others.length > 0) {
    const list = accounts.map(({ id, name }) => `\n  ${id}  ${name}`).join('')
    throw new OperatorError(`There are several accounts; choose one by --account:${list}`)
  }
  return only
}
