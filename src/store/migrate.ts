import { mkdirSync } from 'node:fs'
import { type Migration, Migrator } from 'kysely'
import { OperatorError } from '../errors/index.js'
import { databaseFile, kyselyOver, openConnection } from './dialect.js'
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
}

export const knowsSchema = (name: string): boolean => Object.hasOwn(migrations, name)

/**
 * Brings the database to the present schema, under a lock, all or nothing. Runs at every start. Throws an
 * `OperatorError` where it would change a database that is being served: by an appliance of another version.
 */
export async function migrateStore(dataDir: string, isServed = () => false): Promise<void> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const db = kyselyOver<unknown>(openConnection(databaseFile(dataDir), { busyTimeoutMs: 10_000 }))
  try {
    const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
    const pending = (await migrator.getMigrations()).filter(({ executedAt }) => !executedAt)
    if (pending.length > 0 && isServed()) {
      throw new OperatorError(
        `The appliance that serves ${dataDir} is older than this command: restart it ('systemctl restart posthorn'), which brings its database up to date, and then run the command again`,
      )
    }
    const { error } = await migrator.migrateToLatest()
    if (error !== undefined) {
      throw new OperatorError(`The database in ${dataDir} cannot be brought up to date`, {
        cause: error,
      })
    }
  } finally {
    await db.destroy()
  }
}
