import { mkdirSync } from 'node:fs'
import { type Kysely, type Migration, Migrator } from 'kysely'
import { systemClock } from '../clock/index.js'
import { packageVersion } from '../config/index.js'
import { exitStatus, OperatorError } from '../errors/index.js'
import { makeTables, type TableWords } from './make-tables.js'
import { contactNames } from './migrations/0102-contact-names.js'
import { peopleCounts } from './migrations/0105-people-counts.js'
import { tasks } from './migrations/0106-tasks.js'
import { segments } from './migrations/0107-segments.js'
import { forms } from './migrations/0110-forms.js'
import { engagement } from './migrations/0115-engagement.js'
import { erasures } from './migrations/0117-erasures.js'
import { timeZones } from './migrations/0120-time-zones.js'
import { formMails } from './migrations/0121-form-mails.js'
import { erasureMails } from './migrations/0125-erasure-mails.js'
import { newestContacts } from './migrations/0126-newest-contacts.js'
import { campaignAudience } from './migrations/0130-campaign-audience.js'
import { campaignFigures } from './migrations/0135-campaign-figures.js'
import { blocks } from './migrations/0139-blocks.js'
import { campaignPace } from './migrations/0140-campaign-pace.js'
import { campaignNotice } from './migrations/0141-campaign-notice.js'
import { doubleOptIn } from './migrations/0142-double-opt-in.js'
import { contactChanges } from './migrations/0143-contact-changes.js'
import { campaignVariants } from './migrations/0144-campaign-variants.js'
import { pictures } from './migrations/0145-pictures.js'
import { campaignCalendar } from './migrations/0148-campaign-calendar.js'
import { campaignArchive } from './migrations/0149-campaign-archive.js'
import { campaignTested } from './migrations/0150-campaign-tested.js'
import { fillByContact } from './migrations/0154-fill-by-contact.js'
import { campaignMailed } from './migrations/0155-campaign-mailed.js'
import { contactFields } from './migrations/0160-contact-fields.js'
import { whyLeft } from './migrations/0161-why-left.js'
import { nodesTable } from './migrations/0170-nodes.js'
import { automationPages } from './migrations/0171-automation-pages.js'
import { eventNames } from './migrations/0172-event-names.js'
import { automationDrafts } from './migrations/0175-automation-drafts.js'
import { whyLeftBy } from './migrations/0182-why-left-by.js'
import { automationDates } from './migrations/0183-automation-dates.js'
import { severalNodes } from './migrations/0190-several-nodes.js'
import { countedTogether } from './migrations/0191-counted-together.js'
import { handedIn } from './migrations/0200-handed-in.js'
import { surges } from './migrations/0201-surges.js'
import { siteOrders } from './migrations/0202-site-orders.js'
import { dkimRotation } from './migrations/0203-dkim-rotation.js'
import { testInbox } from './migrations/0210-test-inbox.js'
import { identities } from './migrations/0220-identities.js'
import { testDraws } from './migrations/0230-test-draws.js'
import { providerOfPeople } from './migrations/0231-provider-of-people.js'
import { rings } from './migrations/0240-rings.js'
import { egressByNode } from './migrations/0241-egress-by-node.js'
import { nodeAddresses } from './migrations/0242-node-addresses.js'
import { operatorKeys } from './migrations/0250-operator-keys.js'
import { siteBrakes } from './migrations/0255-site-brakes.js'
import { type DatabasePlace, databaseCalled } from './place.js'
import { type Tables, tables } from './schema/index.js'
import { baseline, type SchemaState, sayUnreleased } from './schema-state.js'
import { type ServerFacts, unfitServer } from './server-weakness.js'
import { openConnection } from './sqlite/connection.js'
import { kyselyOver } from './sqlite/driver.js'
import { databaseFile } from './sqlite/files.js'
import { sqliteTables } from './sqlite/make-tables.js'
import { readSchemaState } from './sqlite/schema-state.js'

const noted: Migration = { up: async () => {} }

/** In order, forward only; a released one is never edited. The first makes a new database (`migrationsOfNew`). */
const migrations: Record<string, Migration> = {
  [baseline]: noted,
  '0102-contact-names': contactNames,
  '0105-people-counts': peopleCounts,
  '0106-tasks': tasks,
  '0107-segments': segments,
  '0110-forms': forms,
  '0115-engagement': engagement,
  '0117-erasures': erasures,
  '0120-time-zones': timeZones,
  '0121-form-mails': formMails,
  '0125-erasure-mails': erasureMails,
  '0126-newest-contacts': newestContacts,
  '0130-campaign-audience': campaignAudience,
  '0135-campaign-figures': campaignFigures,
  '0139-blocks': blocks,
  '0140-campaign-pace': campaignPace,
  '0141-campaign-notice': campaignNotice,
  '0142-double-opt-in': doubleOptIn,
  '0143-contact-changes': contactChanges,
  '0144-campaign-variants': campaignVariants,
  '0145-pictures': pictures,
  '0148-campaign-calendar': campaignCalendar,
  '0149-campaign-archive': campaignArchive,
  '0150-campaign-tested': campaignTested,
  '0154-fill-by-contact': fillByContact,
  '0155-campaign-mailed': campaignMailed,
  '0160-contact-fields': contactFields,
  '0161-why-left': whyLeft,
  '0170-nodes': nodesTable,
  '0171-automation-pages': automationPages,
  '0172-event-names': eventNames,
  '0175-automation-drafts': automationDrafts,
  '0182-why-left-by': whyLeftBy,
  '0183-automation-dates': automationDates,
  '0190-several-nodes': severalNodes,
  '0191-counted-together': countedTogether,
  '0200-handed-in': handedIn,
  '0201-surges': surges,
  '0202-site-orders': siteOrders,
  '0203-dkim-rotation': dkimRotation,
  '0210-test-inbox': testInbox,
  '0220-identities': identities,
  '0230-test-draws': testDraws,
  '0231-provider-of-people': providerOfPeople,
  '0240-rings': rings,
  '0241-egress-by-node': egressByNode,
  '0242-node-addresses': nodeAddresses,
  '0250-operator-keys': operatorKeys,
  '0255-site-brakes': siteBrakes,
}

/**
 * A new database is made of `schema/` as it is now, which says already what the migrations after the first change in
 * older ones: they are noted and not run.
 */
function migrationsOfNew(words: TableWords): Record<string, Migration> {
  const make: Migration = { up: (db) => makeTables(db, tables, words) }
  const names = Object.keys(migrations)
  return Object.fromEntries(names.map((name) => [name, name === baseline ? make : noted]))
}

export const knowsSchema = (name: string): boolean => Object.hasOwn(migrations, name)

/** The name of the last migration of this release. */
export const latestSchema = (): string => Object.keys(migrations).at(-1) ?? ''

/** How the database stands to this release; see `SchemaState`. */
export async function schemaState({ dataDir, url }: DatabasePlace): Promise<SchemaState> {
  const known = Object.keys(migrations)
  if (url === undefined) return readSchemaState(dataDir, known)
  return await (await import('./postgres/found.js')).readPostgresState(url, known)
}

/**
 * Brings the database to the present schema, under a lock, all or nothing, and notes which release did. Runs at every
 * start. Throws an `OperatorError` for a database of a newer release or of before the first, and where it would change
 * one that is being served: by an appliance of another version.
 */
export async function migrateStore(
  place: DatabasePlace,
  isServed = () => false,
): Promise<ServerFacts | undefined> {
  const { dataDir, url } = place
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const facts = url === undefined ? undefined : await requireFit(place, url)
  const state = await schemaState(place)
  refuseUnreadable(place, state)
  if (state.kind !== 'same' && isServed()) {
    throw new OperatorError(
      `The appliance that serves ${dataDir} is older than this command: restart it ('systemctl restart posthorn'), which brings its database up to date, and then run the command again`,
    )
  }
  const dueFor = (words: TableWords) =>
    state.kind === 'none' ? migrationsOfNew(words) : migrations
  if (url !== undefined) {
    const { withConnection } = await import('./postgres/server.js')
    const { postgresTables } = await import('./postgres/make-tables.js')
    const { careForTables } = await import('./postgres/table-care.js')
    const { quietenMails } = await import('./postgres/rare-status.js')
    await withConnection(url, async (db) => {
      await bringUp(db, dueFor(postgresTables), place)
      await quietenMails(db)
      await careForTables(db)
    })
    return facts
  }
  const db = kyselyOver<Tables>(openConnection(databaseFile(dataDir), { busyTimeoutMs: 10_000 }))
  try {
    await bringUp(db, dueFor(sqliteTables), place)
  } finally {
    await db.destroy()
  }
  return undefined
}

/** Before anything is made there. */
async function requireFit(place: DatabasePlace, url: string): Promise<ServerFacts> {
  const { readServerFacts } = await import('./postgres/server-facts.js')
  const facts = await readServerFacts(url, systemClock)
  const unfit = unfitServer(facts)
  if (unfit === undefined) return facts
  throw new OperatorError(`${databaseCalled(place)} is of no use: ${unfit}`, {
    status: exitStatus.misplaced,
  })
}

async function bringUp(
  db: Kysely<Tables>,
  due: Record<string, Migration>,
  place: DatabasePlace,
): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => due } })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) {
    throw new OperatorError(`${databaseCalled(place)} cannot be brought up to date`, {
      cause: error,
    })
  }
  const own = { version: packageVersion(), migration: latestSchema() }
  const last = db.selectFrom('releases').select(['version', 'migration']).orderBy('id', 'desc')
  const written = await last.limit(1).executeTakeFirst()
  if (written?.version !== own.version || written.migration !== own.migration) {
    await db.insertInto('releases').values(own).execute()
  }
}

function refuseUnreadable(place: DatabasePlace, { kind, schema, writtenBy }: SchemaState): void {
  const status = exitStatus.misplaced
  if (kind === 'unreleased') throw new OperatorError(sayUnreleased(place), { status })
  if (kind !== 'newer') return
  const writer = writtenBy === undefined ? 'a newer Posthorn' : `Posthorn ${writtenBy}`
  throw new OperatorError(
    `${databaseCalled(place)} was written by ${writer} (schema ${schema}). This is Posthorn ${packageVersion()}, which knows no schema after ${latestSchema()} and cannot read it: start ${writtenBy ?? 'the newer one'} again, or restore the backup that was made before the upgrade`,
    { status },
  )
}
