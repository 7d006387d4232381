import { integer, table, text } from './table.js'

/** By what names events of contacts came to an account, and how often. */
const eventNames = table(
  'event_names',
  {
    account_id: text(),
    name: text(),
    count: integer(),
    last_at: integer(),
    /** The last one, in `automation_events` as long as it is kept. */
    sample_id: integer(),
  },
  { primaryKey: ['account_id', 'name'], isClustered: true },
)

/** How far `automation_events` are counted by name; one row, of id 1. */
const eventNamesThrough = table(
  'event_names_through',
  {
    id: integer().primaryKey(),
    event_id: integer(),
  },
  { seed: [{ id: 1, event_id: 0 }] },
)

export const eventNamesTables = [eventNames, eventNamesThrough] as const
