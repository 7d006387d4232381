import { blob, integer, type RowOf, table, text } from './table.js'

/** The appliances over this database: one, unless it is on a server. Times are those of the database's clock. */
const nodes = table('nodes', {
  name: text().primaryKey(),
  /** 1 to 31: whose the rows are that it takes in (`ownNode`). */
  number: integer().default(1),
  /** Another number at each start, of all of them; whoever finds another one than its own has to end. */
  epoch: integer(),
  /** Until when it is taken for alive without a further sign of life. */
  held_until: integer(),
  /** How many signs of life it has given. */
  beat: integer(),
  version: text(),
  /** The last migration that its release knows. */
  schema: text().default(''),
  /** A hash of the plans that it has read. */
  plans: text().default(''),
  /** 1: it works beside others that say so too; 0: it is to be the only one. */
  joins: integer<0 | 1>().default(0),
  /** Since when its epoch counts no more: it ended, or others took it for dead. Null while it counts. */
  gone_at: integer().orNull(),
  /** It ended by itself, and gave the database back. */
  ended_well: integer<0 | 1>().default(0),
  started_at: integer().default(0),
  /** Takes no new mail, and others take over what it has. */
  draining: integer<0 | 1>().default(0),
  /** By how many milliseconds its clock is ahead of the database's. */
  clock_ahead_ms: integer().default(0),
  /** How many deliveries others have taken over since it is gone. */
  taken_over: integer().default(0),
  /** Hashes of the operator's rule files that it goes by, as JSON. */
  files: text().default('{}'),
  /** Where it hears the others' rings; empty: nowhere. */
  address: text().default(''),
  /** Another number: it is to look for what there is to do. */
  wakes: integer().default(0),
  /** JSON of what it wants in the DNS of each domain; empty: it has not said. */
  records: text().default(''),
  /** How much of the duties it takes, beside those of the others. */
  weight: integer().default(1),
})

export interface NodeRow extends RowOf<typeof nodes> {}

/** What one of the nodes does for all, and whose it is. */
const duties = table('duties', {
  name: text().primaryKey(),
  /** Of the node that has it, as long as that is alive. */
  epoch: integer(),
  since: integer(),
})

/** What nodes have counted of requests in windows that last, which the others count along. */
const rates = table(
  'rates',
  {
    key: text(),
    /** When its window ends. */
    ends_at: integer(),
    /** Its number. */
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

/** What a machine is given that joins: sealed with a code that nobody has but who was told it. */
const nodeInvites = table(
  'node_invites',
  {
    /** Made of the code, which cannot be made of it. */
    lookup: text().primaryKey(),
    sealed: blob(),
    until: integer(),
  },
  { isClustered: true },
)

/** Which nodes name an address that mail may leave from, and which of them it leaves from. */
const nodeAddresses = table(
  'node_addresses',
  {
    address: text(),
    /** The node's name. */
    node: text(),
    /** 1: it sends from it; of one address one node at most. */
    owner: integer<0 | 1>(),
  },
  { primaryKey: ['address', 'node'] },
)

export const nodesTables = [nodes, duties, rates, nodeAddresses, nodeInvites] as const
