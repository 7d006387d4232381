import { integer, table, text } from './table.js'

/** The names of an account's contact events, and how often each came. */
const eventNames = table(
  'event_names',
  {
    account_id: text(),
    name: text(),
    count: integer(),
    last_at: integer(),
    /** The last event of the name, in `automation_events` as long as that is kept. */
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
