import { blob, integer, type RowOf, table, text } from './table.js'

/** A mail that came to a return path or the feedback address and is not yet read; it is deleted afterwards. */
const inboundSpool = table(
  'inbound_spool',
  {
    /** Rises with the time of arrival. */
    id: integer().primaryKey(),
    received_at: integer(),
    remote_address: text(),
    /** Empty for the null sender. */
    mail_from: text(),
    /** How the client called itself. */
    helo: text(),
    /** JSON array of the addresses it was accepted for. */
    recipients: text(),
    /** When it is to be read. */
    due_at: integer(),
    /** How often it was put off: reading it was broken off, or the delivery that it is about was not yet written. */
    tries: integer(),
    /** The beginning of the mail, as far as it will be examined. */
    raw: blob(),
    /** Since when it is left to the operator, with the reason; without a reason it is to be read again. */
    parked_at: integer().orNull(),
    fault: text().orNull(),
    /** The appliance that reads it. */
    node: integer().ofOwnNode(),
  },
  {
    indexes: {
      inbound_spool_parked: { on: ['parked_at'], where: (row) => row('parked_at', 'is not', null) },
    },
  },
)

export interface InboundSpoolRow extends RowOf<typeof inboundSpool> {}

/** Mail to postmaster@ or abuse@. */
const operatorMails = table('operator_mails', {
  /** Rises with the time of arrival. */
  id: integer().primaryKey(),
  received_at: integer(),
  recipient: text(),
  /** Empty for the null sender. */
  mail_from: text(),
  header_from: text(),
  subject: text(),
  remote_address: text(),
  size_bytes: integer(),
  /** 1: it waits to be forwarded. */
  to_forward: integer(),
})

export interface OperatorMailRow extends RowOf<typeof operatorMails> {}

const operatorMailSources = table('operator_mail_sources', {
  id: integer().primaryKey().references('operator_mails', 'cascade'),
  raw: blob(),
})

export interface OperatorMailSourceRow extends RowOf<typeof operatorMailSources> {}

export const inboundTables = [inboundSpool, operatorMails, operatorMailSources] as const
