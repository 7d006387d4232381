import { mkdirSync } from 'node:fs'
import { type Migration, Migrator } from 'kysely'
import { packageVersion } from '../config/index.js'
import { exitStatus, OperatorError } from '../errors/index.js'
import * as mail from './migrations/0001-mail.js'
import * as templates from './migrations/0002-templates.js'
import * as billing from './migrations/0003-billing.js'
import * as audience from './migrations/0004-audience.js'
import * as idempotency from './migrations/0005-idempotency.js'
import * as marketingMail from './migrations/0006-marketing-mail.js'
import * as mtaSts from './migrations/0008-mta-sts.js'
import * as held from './migrations/0009-held.js'
import * as streams from './migrations/0010-streams.js'
import * as events from './migrations/0011-events.js'
import * as egress from './migrations/0012-egress.js'
import * as softBounces from './migrations/0013-soft-bounces.js'
import * as inbound from './migrations/0014-inbound.js'
import * as protection from './migrations/0015-protection.js'
import * as contacts from './migrations/0016-contacts.js'
import * as consent from './migrations/0017-consent.js'
import * as webhooks from './migrations/0018-webhooks.js'
import * as sources from './migrations/0019-sources.js'
import * as queueExpiry from './migrations/0020-queue-expiry.js'
import * as tracking from './migrations/0021-tracking.js'
import * as preferences from './migrations/0022-preferences.js'
import * as broadcasts from './migrations/0023-broadcasts.js'
import * as reports from './migrations/0024-reports.js'
import * as appliance from './migrations/0025-appliance.js'
import * as parkedReports from './migrations/0026-parked-reports.js'
import * as idempotentStatus from './migrations/0027-idempotent-status.js'
import * as automations from './migrations/0030-automations.js'
import * as automationOperations from './migrations/0031-automation-operations.js'
import * as fields from './migrations/0032-fields.js'
import * as contents from './migrations/0033-contents.js'
import * as submission from './migrations/0034-submission.js'
import * as keyLimits from './migrations/0035-key-limits.js'
import * as automationHours from './migrations/0037-automation-hours.js'
import * as figures from './migrations/0041-figures.js'
import * as jobs from './migrations/0042-jobs.js'
import * as backups from './migrations/0043-backups.js'
import * as retention from './migrations/0044-retention.js'
import * as alive from './migrations/0046-alive.js'
import * as tlsReports from './migrations/0047-tls-reports.js'
import * as dmarc from './migrations/0048-dmarc.js'
import * as notices from './migrations/0049-notices.js'
import * as noticeMails from './migrations/0050-notice-mails.js'
import * as woken from './migrations/0058-woken.js'
import * as keptEvents from './migrations/0059-kept-events.js'
import * as releases from './migrations/0060-releases.js'
import * as certificates from './migrations/0061-certificates.js'
import * as webhooksAside from './migrations/0062-webhooks-aside.js'
import * as certificateOrders from './migrations/0063-certificate-orders.js'
import * as people from './migrations/0064-people.js'
import * as auditLog from './migrations/0065-audit-log.js'
import * as campaignPauses from './migrations/0069-campaign-pauses.js'
import * as domainLooks from './migrations/0070-domain-looks.js'
import * as logSearch from './migrations/0072-log-search.js'
import * as doctorFindings from './migrations/0074-doctor-findings.js'
import * as templateSamples from './migrations/0075-template-samples.js'
import * as dashboardLists from './migrations/0076-dashboard-lists.js'
import * as provedPeople from './migrations/0077-proved-people.js'
import * as webhookAnswers from './migrations/0078-webhook-answers.js'
import * as deferredTranscripts from './migrations/0079-deferred-transcripts.js'
import * as looksAtMillions from './migrations/0080-looks-at-millions.js'
import * as putOffBy from './migrations/0081-put-off-by.js'
import * as deliverySources from './migrations/0083-delivery-sources.js'
import * as egressEvidence from './migrations/0084-egress-evidence.js'
import * as listsInOrder from './migrations/0085-lists-in-order.js'
import * as storedBytes from './migrations/0086-stored-bytes.js'
import * as courses from './migrations/0088-courses.js'
import * as unusedBodies from './migrations/0090-unused-bodies.js'
import * as webhooksThatFail from './migrations/0092-webhooks-that-fail.js'
import * as lateBounces from './migrations/0095-late-bounces.js'
import * as refusedAccounts from './migrations/0097-refused-accounts.js'
import * as accountLanguages from './migrations/0100-account-languages.js'
import type { Tables } from './schema.js'
import { openConnection } from './sqlite/connection.js'
import { kyselyOver } from './sqlite/driver.js'
import { databaseFile } from './sqlite/files.js'
import { readSchemaState, type SchemaState } from './sqlite/schema-state.js'

/** In order, forward only; a released one is never edited. */
const migrations: Record<string, Migration> = {
  '0001-mail': mail,
  '0002-templates': templates,
  '0003-billing': billing,
  '0004-audience': audience,
  '0005-idempotency': idempotency,
  '0006-marketing-mail': marketingMail,
  '0008-mta-sts': mtaSts,
  '0009-held': held,
  '0010-streams': streams,
  '0011-events': events,
  '0012-egress': egress,
  '0013-soft-bounces': softBounces,
  '0014-inbound': inbound,
  '0015-protection': protection,
  '0016-contacts': contacts,
  '0017-consent': consent,
  '0018-webhooks': webhooks,
  '0019-sources': sources,
  '0020-queue-expiry': queueExpiry,
  '0021-tracking': tracking,
  '0022-preferences': preferences,
  '0023-broadcasts': broadcasts,
  '0024-reports': reports,
  '0025-appliance': appliance,
  '0026-parked-reports': parkedReports,
  '0027-idempotent-status': idempotentStatus,
  '0030-automations': automations,
  '0031-automation-operations': automationOperations,
  '0032-fields': fields,
  '0033-contents': contents,
  '0034-submission': submission,
  '0035-key-limits': keyLimits,
  '0037-automation-hours': automationHours,
  '0041-figures': figures,
  '0042-jobs': jobs,
  '0043-backups': backups,
  '0044-retention': retention,
  '0046-alive': alive,
  '0047-tls-reports': tlsReports,
  '0048-dmarc': dmarc,
  '0049-notices': notices,
  '0050-notice-mails': noticeMails,
  '0058-woken': woken,
  '0059-kept-events': keptEvents,
  '0060-releases': releases,
  '0061-certificates': certificates,
  '0062-webhooks-aside': webhooksAside,
  '0063-certificate-orders': certificateOrders,
  '0064-people': people,
  '0065-audit-log': auditLog,
  '0069-campaign-pauses': campaignPauses,
  '0070-domain-looks': domainLooks,
  '0072-log-search': logSearch,
  '0074-doctor-findings': doctorFindings,
  '0075-template-samples': templateSamples,
  '0076-dashboard-lists': dashboardLists,
  '0077-proved-people': provedPeople,
  '0078-webhook-answers': webhookAnswers,
  '0079-deferred-transcripts': deferredTranscripts,
  '0080-looks-at-millions': looksAtMillions,
  '0081-put-off-by': putOffBy,
  '0083-delivery-sources': deliverySources,
  '0084-egress-evidence': egressEvidence,
  '0085-lists-in-order': listsInOrder,
  '0086-stored-bytes': storedBytes,
  '0088-courses': courses,
  '0090-unused-bodies': unusedBodies,
  '0092-webhooks-that-fail': webhooksThatFail,
  '0095-late-bounces': lateBounces,
  '0097-refused-accounts': refusedAccounts,
  '0100-account-languages': accountLanguages,
}

export const knowsSchema = (name: string): boolean => Object.hasOwn(migrations, name)

/** The name of the last migration of this release. */
export const latestSchema = (): string => Object.keys(migrations).at(-1) ?? ''

/** How the database of `dataDir` stands to this release; see `SchemaState`. */
export const schemaState = (dataDir: string): SchemaState =>
  readSchemaState(dataDir, Object.keys(migrations))

/**
 * Brings the database to the present schema, under a lock, all or nothing, and notes which release did. Runs at every
 * start. Throws an `OperatorError` for a database of a newer release, and where it would change one that is being
 * served: by an appliance of another version.
 */
export async function migrateStore(dataDir: string, isServed = () => false): Promise<void> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const { kind, schema, writtenBy } = schemaState(dataDir)
  if (kind === 'newer') {
    const writer = writtenBy === undefined ? 'A newer Posthorn' : `Posthorn ${writtenBy}`
    throw new OperatorError(
      `${writer} has written the database in ${dataDir} (schema ${schema}). This is Posthorn ${packageVersion()}, which knows no schema after ${latestSchema()} and cannot read it: start ${writtenBy ?? 'the newer one'} again, or restore the backup that was made before the upgrade`,
      { status: exitStatus.misplaced },
    )
  }
  const isOld = kind !== 'same'
  if (isOld && isServed()) {
    throw new OperatorError(
      `The appliance that serves ${dataDir} is older than this command: restart it ('systemctl restart posthorn'), which brings its database up to date, and then run the command again`,
    )
  }
  const db = kyselyOver<Tables>(openConnection(databaseFile(dataDir), { busyTimeoutMs: 10_000 }))
  try {
    const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
    const { error } = await migrator.migrateToLatest()
    if (error !== undefined) {
      throw new OperatorError(`The database in ${dataDir} cannot be brought up to date`, {
        cause: error,
      })
    }
    const own = { version: packageVersion(), migration: latestSchema() }
    const last = db.selectFrom('releases').select(['version', 'migration']).orderBy('id', 'desc')
    const written = await last.limit(1).executeTakeFirst()
    if (written?.version !== own.version || written.migration !== own.migration) {
      await db.insertInto('releases').values(own).execute()
    }
  } finally {
    await db.destroy()
  }
}
