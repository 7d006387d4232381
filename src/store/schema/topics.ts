import { integer, type RowOf, table, text } from './table.js'

const topics = table(
  'topics',
  {
    id: text().primaryKey(),
    account_id: text().references('accounts'),
    name: text(),
    /** The name as it is compared, whatever its case. */
    name_key: text(),
    /** May be empty. */
    description: text(),
    position: integer(),
    archived: integer(),
    /** How many addresses have left it. */
    opted_out: integer().default(0),
    created_at: integer(),
  },
  { unique: [['account_id', 'name_key']] },
)

export interface TopicRow extends RowOf<typeof topics> {}

/** By address: an opt-out outlives the contact and the topic. */
const topicOptOuts = table(
  'topic_opt_outs',
  {
    account_id: text(),
    /** The whole address in lower case. */
    address: text(),
    topic_id: text(),
    opted_out_at: integer(),
  },
  {
    primaryKey: ['account_id', 'address', 'topic_id'],
    indexes: { topic_opt_outs_topic: ['topic_id', 'opted_out_at'] },
  },
)

export const topicsTables = [topics, topicOptOuts] as const
