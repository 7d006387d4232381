import { blob, integer, type RowOf, table, text } from './table.js'

/** The appliances over this database: one, unless it is on a server. Times are those of the database's clock. */
const nodes = table('nodes', {
  name: text().primaryKey(),
  /** 1 to 31: its number in the rows that it inserts (`ownNode`). */
  number: integer().default(1),
  /** Another number at each start, of all of them; an appliance that finds another one than its own has to end. */
  epoch: integer(),
  /** Until when it counts as alive without a further sign of life. */
  held_until: integer(),
  /** How many signs of life it has given. */
  beat: integer(),
  version: text(),
  /** The last migration that its release knows. */
  schema: text().default(''),
  /** A hash of the plans that it has read. */
  plans: text().default(''),
  /** 1: it works beside others that also do; 0: it must be the only one. */
  joins: integer<0 | 1>().default(0),
  /** Since when its epoch is over: it ended, or others took it for dead. Null while the epoch counts. */
  gone_at: integer().orNull(),
  /** It ended by itself, and gave the database back. */
  ended_well: integer<0 | 1>().default(0),
  started_at: integer().default(0),
  /** It accepts no new mail, and others take over what it has. */
  draining: integer<0 | 1>().default(0),
  /** By how many milliseconds its clock is ahead of the database's. */
  clock_ahead_ms: integer().default(0),
  /** How many deliveries others have taken over since it was gone. */
  taken_over: integer().default(0),
  /** Hashes of the operator's rule files that it uses, as JSON. */
  files: text().default('{}'),
  /** The address at which it gets the others' rings; empty: none. */
  address: text().default(''),
  /** When this number changes, the node looks for work. */
  wakes: integer().default(0),
  /** JSON of what it wants in the DNS of each domain and of certificates; empty: not told yet. */
  records: text().default(''),
  /** How much of the duties it takes, beside those of the others. */
  weight: integer().default(1),
})

export interface NodeRow extends RowOf<typeof nodes> {}

/** A duty that one of the nodes does for all, and which node has it. */
const duties = table('duties', {
  name: text().primaryKey(),
  /** The epoch of the node that has it, as long as that is alive. */
  epoch: integer(),
  since: integer(),
})

/** How many requests each node has counted in the present windows; the other nodes add them. */
const rates = table(
  'rates',
  {
    key: text(),
    /** When its window ends. */
    ends_at: integer(),
    /** The node's number. */
    node: integer(),
    count: integer(),
  },
  {
    primaryKey: ['key', 'ends_at', 'node'],
    isClustered: true,
    isUnlogged: true,
    indexes: { rates_end: ['ends_at', 'key', 'node'] },
  },
)

/** What a joining machine is given, sealed with a code that only its recipient knows. */
const nodeInvites = table(
  'node_invites',
  {
    /** Derived from the code, which cannot be derived from it. */
    lookup: text().primaryKey(),
    sealed: blob(),
    until: integer(),
  },
  { isClustered: true },
)

/** Which nodes have an address from which mail may leave, and which of them sends from it. */
const nodeAddresses = table(
  'node_addresses',
  {
    address: text(),
    /** The node's name. */
    node: text(),
    /** 1: the node sends from the address; at most one node does. */
    owner: integer<0 | 1>(),
  },
  { primaryKey: ['address', 'node'] },
)

export const nodesTables = [nodes, duties, rates, nodeAddresses, nodeInvites] as const
