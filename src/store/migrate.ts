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
import { nodeInvites } from './migrations/0245-node-invites.js'
import { rolling } from './migrations/0246-rolling.js'
import { operatorKeys } from './migrations/0250-operator-keys.js'
import { siteBrakes } from './migrations/0255-site-brakes.js'
import { restOfVersions } from './migrations/0260-rest-of-versions.js'
import { meantEnds } from './migrations/0262-meant-ends.js'
import { receiving } from './migrations/0268-receiving.js'
import { unfinishedDrafts } from './migrations/0270-unfinished-drafts.js'
import { leftOut } from './migrations/0271-left-out.js'
import { movedCounts } from './migrations/0272-moved-counts.js'
import { sharedByNodes } from './migrations/0276-shared-by-nodes.js'
import { unfinishedVersions } from './migrations/0290-unfinished-versions.js'
import { auditTarget } from './migrations/0296-audit-target.js'
import { goneNames } from './migrations/0300-gone-names.js'
import { refusedArrivals } from './migrations/0305-refused-arrivals.js'
import { formAlarms } from './migrations/0325-form-alarms.js'
import { contactShelves } from './migrations/0330-contact-shelves.js'
import { membersBySegment } from './migrations/0331-members-by-segment.js'
import { markedLoss } from './migrations/0332-went-back.js'
import { type DatabasePlace, databaseCalled } from './place.js'
import { type Tables, tables } from './schema/index.js'
import { baseline, type SchemaState, sayUnreleased, whyNotBeside } from './schema-state.js'
import { type ServerFacts, unfitServer } from './server-weakness.js'
import { openConnection } from './sqlite/connection.js'
import { kyselyOver } from './sqlite/driver.js'
import { databaseFile } from './sqlite/files.js'
import { sqliteTables } from './sqlite/make-tables.js'
import { readSchemaState } from './sqlite/schema-state.js'

const noted: Migration = { up: async () => {} }

/**
 * In order, forward only; a released migration is never edited. The first one makes a new database
 * (`migrationsOfNew`). On a server the release before goes on beside this one, so a migration only adds: tables,
 * columns with a default or without a value, indexes. Removals and changes of meaning are a later migration, which is
 * listed in `contracting`.
 */
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
  '0245-node-invites': nodeInvites,
  '0246-rolling': rolling,
  '0250-operator-keys': operatorKeys,
  '0255-site-brakes': siteBrakes,
  '0260-rest-of-versions': restOfVersions,
  '0262-meant-ends': meantEnds,
  '0268-receiving': receiving,
  '0270-unfinished-drafts': unfinishedDrafts,
  '0271-left-out': leftOut,
  '0272-moved-counts': movedCounts,
  '0276-shared-by-nodes': sharedByNodes,
  '0290-unfinished-versions': unfinishedVersions,
  '0296-audit-target': auditTarget,
  '0300-gone-names': goneNames,
  '0305-refused-arrivals': refusedArrivals,
  '0325-form-alarms': formAlarms,
  '0330-contact-shelves': contactShelves,
  '0331-members-by-segment': membersBySegment,
  '0332-went-back': markedLoss,
}

/**
 * Migrations after which earlier releases cannot work. On a server they wait until the operator says that no earlier
 * release comes back (`contractStore`); migrations of the next release run only after them.
 */
const contracting: ReadonlySet<string> = new Set<string>()

/** What a release knows; tests have others. */
export interface Steps {
  migrations: Readonly<Record<string, Migration>>
  contracting: ReadonlySet<string>
}

/** What this release knows. */
export const ownSteps: Steps = { migrations, contracting }

const namesOf = ({ migrations }: Steps) => Object.keys(migrations)

/**
 * A new database is made from `schema/` as it is now, which already has the changes of the migrations after the
 * first: they are noted and not run.
 */
function migrationsOfNew(words: TableWords, { migrations }: Steps): Record<string, Migration> {
  const make: Migration = { up: (db) => makeTables(db, tables, words) }
  const names = Object.keys(migrations)
  return Object.fromEntries(names.map((name) => [name, name === baseline ? make : noted]))
}

export const knowsSchema = (name: string): boolean => Object.hasOwn(migrations, name)

/** The name of the last migration of this release. */
export const latestSchema = (steps = ownSteps): string => namesOf(steps).at(-1) ?? ''

/** How the database's schema relates to this release; see `SchemaState`. */
export async function schemaState(
  { dataDir, url }: DatabasePlace,
  steps = ownSteps,
): Promise<SchemaState> {
  const known = { names: namesOf(steps), contracting: steps.contracting }
  if (url === undefined) return readSchemaState(dataDir, known)
  return await (await import('./postgres/found.js')).readPostgresState(url, known)
}

/**
 * Brings the database to the present schema, under a lock, all or nothing, and notes which release did. Runs at every
 * start. Throws an `OperatorError` for a database of a newer release or from before the first one, and where it would
 * change a database in use by an appliance of another version. On a server, a database to which the next release has
 * added is left as it is, and migrations that remove something wait.
 */
export async function migrateStore(
  place: DatabasePlace,
  isServed = () => false,
  steps = ownSteps,
): Promise<ServerFacts | undefined> {
  const { dataDir, url } = place
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const facts = await requireFit(place, { isNew: false })
  const state = await schemaState(place, steps)
  refuseUnreadable(place, state)
  if (state.kind === 'ahead') return facts
  if (state.kind !== 'same' && isServed()) {
    throw new OperatorError(
      `The appliance that serves ${dataDir} is older than this command: restart it ('systemctl restart posthorn'), which brings its database up to date, and then run the command again`,
    )
  }
  const dueFor = (words: TableWords) =>
    state.kind === 'none' ? migrationsOfNew(words, steps) : migrationsNow(steps, state)
  if (url !== undefined) {
    const { withConnection } = await import('./postgres/server.js')
    const { postgresTables } = await import('./postgres/make-tables.js')
    const { careForTables } = await import('./postgres/table-care.js')
    const { quietenMails } = await import('./postgres/rare-status.js')
    const { makeTurnTables } = await import('./postgres/alone.js')
    await withConnection(url, async (db) => {
      await bringUp(db, place, { due: dueFor(postgresTables), steps })
      await quietenMails(db)
      await makeTurnTables(db)
      await careForTables(db)
    })
    return facts
  }
  const db = kyselyOver<Tables>(openConnection(databaseFile(dataDir), { busyTimeoutMs: 10_000 }))
  try {
    await bringUp(db, place, { due: dueFor(sqliteTables), steps })
  } finally {
    await db.destroy()
  }
  return undefined
}

/** Checks the server before anything is made, there or here; a file is always fit. `isNew`: its tables are still to be made. */
export async function requireFit(
  place: DatabasePlace,
  { isNew }: { isNew: boolean },
): Promise<ServerFacts | undefined> {
  if (place.url === undefined) return undefined
  const { readServerFacts } = await import('./postgres/server-facts.js')
  const facts = await readServerFacts(place.url, systemClock)
  const unfit = unfitServer(facts, isNew)
  if (unfit === undefined) return facts
  throw new OperatorError(`${databaseCalled(place)} is of no use: ${unfit}`, {
    status: exitStatus.misplaced,
  })
}

/** The migrations that have to have run after a start: all except those at the end that wait. */
function migrationsNow(
  { migrations, contracting }: Steps,
  { uncontracted, rolling }: SchemaState,
): Record<string, Migration> {
  const names = Object.keys(migrations)
  const waits = (name: string, at: number) =>
    uncontracted.includes(name) ||
    (rolling !== undefined && names.slice(at).every((later) => contracting.has(later)))
  return Object.fromEntries(Object.entries(migrations).filter(([name], at) => !waits(name, at)))
}

/** The migrations that `posthorn database contract` would run; empty: there is nothing to remove. */
export const contractsOf = async (place: DatabasePlace, steps = ownSteps) =>
  (await schemaState(place, steps)).uncontracted

/**
 * Removes what earlier releases needed. To be called when none of them is alive; from then on none starts, because
 * this is noted first.
 */
export async function contractStore(place: DatabasePlace, steps = ownSteps): Promise<void> {
  const { url } = place
  if (url === undefined) return
  const { withConnection } = await import('./postgres/server.js')
  await withConnection(url, (db) => bringUp(db, place, { due: steps.migrations, steps }))
}

/** Notes the removal before it is done. */
export async function noteContract(place: DatabasePlace, steps = ownSteps): Promise<void> {
  const { url } = place
  if (url === undefined) return
  const { withConnection } = await import('./postgres/server.js')
  await withConnection(url, (db) => noteRelease(db, steps, Object.keys(steps.migrations)))
}

async function bringUp(
  db: Kysely<Tables>,
  place: DatabasePlace,
  { due, steps }: { due: Readonly<Record<string, Migration>>; steps: Steps },
): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...due }) } })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) {
    throw new OperatorError(`${databaseCalled(place)} cannot be brought up to date`, {
      cause: error,
    })
  }
  await noteRelease(db, steps, Object.keys(due))
}

/**
 * Notes which release has brought the database to its state, and what was removed, unless that is already noted last.
 */
async function noteRelease(
  db: Kysely<Tables>,
  steps: Steps,
  done: readonly string[],
): Promise<void> {
  const own = {
    version: packageVersion(),
    migration: latestSchema(steps),
    contracted: done.findLast((name) => steps.contracting.has(name)) ?? '',
  }
  const written = await db
    .selectFrom('releases')
    .select(['version', 'migration', 'contracted'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  const isSame =
    written?.version === own.version &&
    written.migration === own.migration &&
    written.contracted === own.contracted
  if (!isSame) await db.insertInto('releases').values(own).execute()
}

function refuseUnreadable(place: DatabasePlace, state: SchemaState): void {
  const { kind, schema, writtenBy, rolling } = state
  const status = exitStatus.misplaced
  if (kind === 'unreleased') throw new OperatorError(sayUnreleased(place), { status })
  if (kind !== 'newer') return
  const why = rolling && whyNotBeside(rolling, latestSchema())
  const cause = why === undefined ? 'cannot read it' : causes[why]
  const writer = writtenBy === undefined ? 'a newer Posthorn' : `Posthorn ${writtenBy}`
  throw new OperatorError(
    `${databaseCalled(place)} was written by ${writer} (schema ${schema}). This is Posthorn ${packageVersion()}, which knows no schema after ${latestSchema()} and ${cause}: start ${writtenBy ?? 'the newer one'} again, or restore the backup that was made before the upgrade`,
    { status },
  )
}

const causes = {
  contracted: "cannot work with it since 'posthorn database contract' was run",
  'two behind': 'is two schemas behind, while only one may be beside the next',
} as const
