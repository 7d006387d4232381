import { existsSync } from 'node:fs'
import type { Clock } from '../clock/index.js'
import {
  type ApplianceKey,
  createApplianceKeyFile,
  keyCheckOf,
  keyNameOf,
  openApplianceKey,
} from '../config/index.js'
import { signingKeys } from '../domains/index.js'
import { exitStatus, OperatorError } from '../errors/index.js'
import {
  commandSlot,
  type DatabasePlace,
  databaseCalled,
  findDatabase,
  makeTurns,
  migrateStore,
  openStore,
  requireFit,
  type Store,
  withoutSecrets,
} from '../store/index.js'
import { applianceKeyFile } from './files.js'
import { isServed } from './lock.js'

/*
 * A database and its appliance key belong together: with another key no domain signs, no webhook is sent, and every
 * link and return path that was ever mailed is refused. Whoever restores a backup may copy one without the other, in
 * the wrong order, or start in between. So the two are compared before anything is opened, and nothing is made where
 * one of them is missing.
 */

/** Opens the key of a data directory whose database belongs to that key; refuses any other directory. */
export async function openOwnKey(place: DatabasePlace): Promise<ApplianceKey> {
  const { dataDir } = place
  const found = await findDatabase(place)
  if (found.kind === 'unfinished') throw unfinished(place)
  if (found.kind !== 'there') {
    throw misplaced(
      place.url === undefined
        ? `There is an appliance.key in ${dataDir}, but posthorn.db is ${found.kind}. Put back the posthorn.db that belongs to this key, from the same backup; 'posthorn init' makes a new, empty database for the key. If the database is a PostgreSQL, its address is missing here: store.url in the settings, or POSTHORN_STORE_URL`
        : `${databaseCalled(place)} is ${found.kind}, but there is an appliance.key in ${dataDir}: restore the database, or name another one as store.url; 'posthorn init' makes what is missing in an empty one`,
    )
  }
  const key = openApplianceKey(applianceKeyFile(dataDir))
  // It may be an older key of the ring: from before a rotation that was broken off, or of a backup.
  if (found.keyCheck !== undefined && !key.checks.includes(found.keyCheck)) {
    throw foreign(place, found.keyCheck)
  }
  return key
}

/** For `init`, which may make what is missing: it makes a database for a key, but never another key for a database. */
export async function refuseForeignKey(place: DatabasePlace): Promise<void> {
  const { kind } = await findDatabase(place)
  if (kind === 'unfinished') throw unfinished(place)
  await requireFit(place, { isNew: kind === 'empty' })
  if (kind !== 'there') return
  if (existsSync(applianceKeyFile(place.dataDir))) await openOwnKey(place)
  else throw keyMissing(place)
}

/** A database that lacks a part, perhaps its queue or its log. */
export const unfinished = (place: DatabasePlace) =>
  misplaced(
    `A copy into ${withoutSecrets(place.url ?? '')} was begun and has not ended. Go on with it: 'posthorn database copy --to …' in the data directory that it was begun from, with store.url taken out of the settings until then. To give it up, drop that database`,
  )

/** A new key that was made silently would look as if all was well, and every DKIM key would be unreadable. */
export function keyMissing(place: DatabasePlace): OperatorError {
  const { dataDir, url } = place
  const there =
    url === undefined ? `There is a posthorn.db in ${dataDir}` : `${databaseCalled(place)} is there`
  const own = url === undefined ? 'posthorn.db' : 'it'
  return misplaced(
    `${there}, but no appliance.key${url === undefined ? '' : ` in ${dataDir}`}. Put back the appliance.key that belongs to it, from the same backup. Without that key nothing that is encrypted in the database can be read: if the key is lost for good, move ${own} away and begin with an empty database`,
  )
}

/** Notes in a migrated database which key belongs to it, unless it knows; refuses a key that opens nothing there. */
export async function rememberKey(
  store: Store,
  key: ApplianceKey,
  place: DatabasePlace,
): Promise<void> {
  const known = await store.read.selectFrom('appliance').select('id').executeTakeFirst()
  if (known !== undefined) return
  // A version that noted nothing made it: its sealed values tell.
  const sealed = await store.read
    .selectFrom('dkim_keys')
    .select('domain_id')
    .where('verified', '=', 1)
    .limit(1)
    .executeTakeFirst()
  if (sealed !== undefined) {
    await signingKeys(store.read, key, sealed.domain_id).catch((cause) => {
      throw foreign(place, undefined, cause)
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

const foreign = (place: DatabasePlace, check: string | undefined, cause?: unknown) =>
  misplaced(
    place.url === undefined
      ? `The database in ${place.dataDir} was made with another appliance.key than the one beside it. Put back both files from the same backup${keyNeeded(check)}`
      : `${databaseCalled(place)} was made with another appliance.key than the one in ${place.dataDir}. Put back the key that belongs to it; after a rotation the key file of the node that rotated it is copied to the others${keyNeeded(check)}`,
    cause,
  )

const keyNeeded = (check: string | undefined) =>
  check === undefined ? '' : `. It needs the key ${keyNameOf(check)}`

/** Status 78 (EX_CONFIG of sysexits.h): systemd does not start it again, since a new start would change nothing. */
const misplaced = (message: string, cause?: unknown) =>
  new OperatorError(message, {
    status: exitStatus.misplaced,
    ...(cause === undefined ? {} : { cause }),
  })

/**
 * The appliance key and the database of a data directory: makes what is missing, and brings the database up to date.
 * Refuses a key and a database that do not belong together before anything is made. Resolves with whether the database
 * was there.
 */
export async function makeDatabase(place: DatabasePlace, clock: Clock): Promise<boolean> {
  const { dataDir } = place
  const { kind } = await findDatabase(place)
  await refuseForeignKey(place)
  createApplianceKeyFile(applianceKeyFile(dataDir))
  await migrateStore(place, () => isServed(dataDir))
  const store = await openStore({ ...place, clock, turns: makeTurns(), slot: commandSlot })
  await openOwnKey(place)
    .then((key) => rememberKey(store, key, place))
    .finally(() => store.close())
  return kind === 'there'
}
