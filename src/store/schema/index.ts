import type { Kysely } from 'kysely'
import { accountsTables } from './accounts.js'
import { applianceTables } from './appliance.js'
import { auditTables } from './audit.js'
import { automationDatesTables } from './automation-dates.js'
import { automationRunsTables } from './automation-runs.js'
import { automationsTables } from './automations.js'
import { billingTables } from './billing.js'
import { broadcastsTables } from './broadcasts.js'
import { calendarTables } from './calendar.js'
import { campaignFiguresTables } from './campaign-figures.js'
import { certificatesTables } from './certificates.js'
import { contactsTables } from './contacts.js'
import { contentsTables } from './contents.js'
import { deliveriesTables } from './deliveries.js'
import { dmarcTables } from './dmarc.js'
import { doctorTables } from './doctor.js'
import { domainsTables } from './domains.js'
import { emailsTables } from './emails.js'
import { eventNamesTables } from './event-names.js'
import { eventsTables } from './events.js'
import { formsTables } from './forms.js'
import { inboundTables } from './inbound.js'
import { nodesTables } from './nodes.js'
import { noticesTables } from './notices.js'
import { outboundTables } from './outbound.js'
import { peopleTables } from './people.js'
import { picturesTables } from './pictures.js'
import { protectionTables } from './protection.js'
import { receivingTables } from './receiving.js'
import { retentionTables } from './retention.js'
import { sandboxTables } from './sandbox.js'
import { segmentsTables } from './segments.js'
import { statsTables } from './stats.js'
import { submissionTables } from './submission.js'
import { suppressionTables } from './suppression.js'
import type { RowOf } from './table.js'
import { tasksTables } from './tasks.js'
import { templatesTables } from './templates.js'
import { tlsReportsTables } from './tls-reports.js'
import { topicsTables } from './topics.js'
import { webhooksTables } from './webhooks.js'

export type * from './accounts.js'
export type * from './appliance.js'
export type * from './audit.js'
export type * from './automation-dates.js'
export type * from './automation-runs.js'
export type * from './automations.js'
export type * from './billing.js'
export type * from './broadcasts.js'
export type * from './calendar.js'
export type * from './campaign-figures.js'
export type * from './certificates.js'
export type * from './contacts.js'
export type * from './contents.js'
export type * from './deliveries.js'
export type * from './dmarc.js'
export type * from './doctor.js'
export type * from './domains.js'
export type * from './emails.js'
export type * from './events.js'
export type * from './figure-counts.js'
export type * from './forms.js'
export type * from './inbound.js'
export type * from './nodes.js'
export type * from './notices.js'
export type * from './outbound.js'
export type * from './people.js'
export type * from './pictures.js'
export type * from './protection.js'
export type * from './receiving.js'
export type * from './retention.js'
export type * from './sandbox.js'
export type * from './segments.js'
export type * from './stats.js'
export type * from './submission.js'
export type * from './suppression.js'
export type * from './tasks.js'
export type * from './templates.js'
export type * from './tls-reports.js'
export type * from './topics.js'
export type * from './webhooks.js'

/** All tables, in the order in which they are made. */
export const tables = [
  ...applianceTables,
  ...nodesTables,
  ...accountsTables,
  ...peopleTables,
  ...auditTables,
  ...billingTables,
  ...domainsTables,
  ...templatesTables,
  ...contentsTables,
  ...picturesTables,
  ...emailsTables,
  ...deliveriesTables,
  ...eventsTables,
  ...submissionTables,
  ...sandboxTables,
  ...contactsTables,
  ...tasksTables,
  ...topicsTables,
  ...formsTables,
  ...segmentsTables,
  ...suppressionTables,
  ...outboundTables,
  ...tlsReportsTables,
  ...dmarcTables,
  ...certificatesTables,
  ...protectionTables,
  ...inboundTables,
  ...receivingTables,
  ...webhooksTables,
  ...broadcastsTables,
  ...automationsTables,
  ...automationRunsTables,
  ...automationDatesTables,
  ...eventNamesTables,
  ...statsTables,
  ...campaignFiguresTables,
  ...retentionTables,
  ...noticesTables,
  ...calendarTables,
  ...doctorTables,
] as const

type AnyTable = (typeof tables)[number]

/** The tables as Kysely knows them. */
export interface Tables extends RowsOf<AnyTable> {}

type RowsOf<T extends AnyTable> = { [Each in T as Each['name']]: RowOf<Each> }

export type Read = Kysely<Tables>
