import { existsSync } from 'node:fs'
import type { Clock } from '../clock/index.js'
import {
  type ApplianceKey,
  createApplianceKeyFile,
  keyCheckOf,
  openApplianceKey,
} from '../config/index.js'
import { signingKeys } from '../domains/index.js'
import { exitStatus, OperatorError } from '../errors/index.js'
import {
  commandSlot,
  findDatabase,
  makeTurns,
  migrateStore,
  openStore,
  type Store,
} from '../store/index.js'
import { applianceKeyFile } from './files.js'
import { isServed } from './lock.js'

/*
 * A database and its appliance key belong together: with another key no domain signs, no webhook is sent,
 * and every link and return path that was ever mailed is refused. Who restores a backup may copy one
 * without the other, in the wrong order, or start in between; so the two are compared before anything
 * is opened, and nothing is made where one of them is missing.
 */

/** Opens the key of a data directory whose database is that key's; refuses any other directory. */
export function openOwnKey(dataDir: string): ApplianceKey {
  const found = findDatabase(dataDir)
  if (found.kind !== 'there') {
    throw misplaced(
      `There is an appliance.key in ${dataDir}, but posthorn.db is ${found.kind}. Put back the posthorn.db that belongs to this key, from the same backup; 'posthorn init' makes a new, empty database for the key`,
    )
  }
  const key = openApplianceKey(applianceKeyFile(dataDir))
  if (found.keyCheck !== undefined && found.keyCheck !== keyCheckOf(key)) throw foreign(dataDir)
  return key
}

/** For `init`, which may make what is missing: a database for a key, but no other key for a database. */
export function refuseForeignKey(dataDir: string): void {
  if (findDatabase(dataDir).kind !== 'there') return
  if (existsSync(applianceKeyFile(dataDir))) openOwnKey(dataDir)
  else throw keyMissing(dataDir)
}

/**
 * Making a new key silently would look as if all was well, and every DKIM key would be unreadable.
 */
export function keyMissing(dataDir: string): OperatorError {
  return misplaced(
    `There is a posthorn.db in ${dataDir}, but no appliance.key. Put back the appliance.key that belongs to it, from the same backup. Without that key nothing that is encrypted in the database can be read: if the key is lost for good, move posthorn.db away and begin with an empty database`,
  )
}

/** Notes in a migrated database which key is its own, unless it knows; refuses one that opens nothing there. */
export async function rememberKey(store: Store, key: ApplianceKey, dataDir: string): Promise<void> {
  const known = await store.read.selectFrom('appliance').select('id').executeTakeFirst()
  if (known !== undefined) return
  // Made by a version that noted nothing: what is sealed in it tells.
  const sealed = await store.read
    .selectFrom('dkim_keys')
    .select('domain_id')
    .where('verified', '=', 1)
    .limit(1)
    .executeTakeFirst()
  if (sealed !== undefined) {
    await signingKeys(store.read, key, sealed.domain_id).catch((cause) => {
      throw foreign(dataDir, cause)
    })
  }
  const row = { id: 1, key_check: keyCheckOf(key) }
  await store.write((tx) =>
    tx
      .insertInto('appliance')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  )
}

const foreign = (dataDir: string, cause?: unknown) =>
  misplaced(
    `The database in ${dataDir} was made with another appliance.key than the one beside it. Put back both files from the same backup`,
    cause,
  )

/**
 * Status 78 (EX_CONFIG of sysexits.h): systemd does not start it again, since a new start would
 * change nothing.
 */
const misplaced = (message: string, cause?: unknown) =>
  new OperatorError(message, {
    status: exitStatus.misplaced,
    ...(cause === undefined ? {} : { cause }),
  })

/**
 * The appliance key and the database of a data directory: makes what is missing, and brings the database up to date.
 * Refuses a key and a database that do not belong together before anything is made.
 */
export async function makeDatabase(dataDir: string, clock: Clock): Promise<void> {
  refuseForeignKey(dataDir)
  createApplianceKeyFile(applianceKeyFile(dataDir))
  await migrateStore(dataDir, () => isServed(dataDir))
  const store = await openStore({ dataDir, clock, turns: makeTurns(), slot: commandSlot })
  await rememberKey(store, openOwnKey(dataDir), dataDir).finally(() => store.close())
}
