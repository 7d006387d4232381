import { integer, table, text } from './table.js'

/** The appliances that hold a database which is not in a data directory; times are those of the database's clock. */
const nodes = table('nodes', {
  name: text().primaryKey(),
  /** Another number at each start; whoever finds another one than its own has lost the database. */
  epoch: integer(),
  /** Until when it holds the database without a further sign of life. */
  held_until: integer(),
  /** How many signs of life it has given. */
  beat: integer(),
  version: text(),
})

export const nodesTables = [nodes] as const
