import { integer, type ValuesOf } from './table.js'

/** What `stats` counts, as `stats/README.md` defines it. */
export const figureCounts = {
  mails: integer(),
  accepted: integer(),
  suppressed: integer(),
  answered: integer(),
  delivered: integer(),
  relayed: integer(),
  bounced_hard: integer(),
  bounced_soft: integer(),
  failed: integer(),
  deferred: integer(),
  complained: integer(),
  complained_unproved: integer(),
  unsubscribed: integer(),
  opened: integer(),
  opened_unique: integer(),
  opened_machine: integer(),
  clicked: integer(),
  clicked_unique: integer(),
  clicked_machine: integer(),
}

export interface FigureCounts extends ValuesOf<typeof figureCounts> {}
