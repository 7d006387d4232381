import { integer, type RowOf, table, text } from './table.js'

/** A saved rule about people, with the number of its members; the counters change with them. */
const segments = table(
  'segments',
  {
    id: text().primaryKey(),
    account_id: text().references('accounts'),
    name: text(),
    /** JSON, as `rules/rule.ts` has it. */
    rule: text(),
    /** How many members there are; then those who are not mailed, by the strongest reason. */
    count: integer(),
    unsubscribed: integer(),
    bounced: integer(),
    complained: integer(),
    suppressed: integer(),
    /**
     * `filling`: all contacts are being looked at; `deleted`: its rows are deleted in slices, and then the segment.
     */
    state: text<'filling' | 'current' | 'deleted'>(),
    /** The id of the contact up to whom contacts were looked at. */
    cursor: text(),
    /** Goes up when the rule changes, so that nothing is written by an older one. */
    revision: integer(),
    /** How deeply its rule refers to other segments: segments that refer to none come first. */
    depth: integer(),
    /** When it was last brought up to date. */
    as_of: integer(),
    created_at: integer(),
  },
  {
    indexes: {
      segments_account: ['account_id', 'created_at', 'id'],
      segments_state: ['state', 'depth', 'id'],
      // Shows that the clock was set back.
      segments_as_of: ['as_of'],
    },
  },
)

export interface SegmentRow extends RowOf<typeof segments> {}

/**
 * The members of a segment. There is no index by contact: a change of somebody who is in many segments would write a
 * page of it in each write, and the key finds them in each of the account's segments, a hundred at most.
 */
const segmentMembers = table(
  'segment_members',
  {
    segment_id: text().references('segments'),
    contact_id: text(),
    since: integer(),
    /** Why they are not mailed; null: they are mailed. */
    why: text<'unsubscribe' | 'bounce' | 'complaint' | 'manual'>().orNull(),
  },
  {
    primaryKey: ['segment_id', 'contact_id'],
    isClustered: true,
  },
)

export interface SegmentMemberRow extends RowOf<typeof segmentMembers> {}

/** Contacts who have changed since segments last looked at them. */
const segmentChanges = table(
  'segment_changes',
  {
    /** Rises in the order in which changes were committed. */
    id: integer().numberedKey('rising'),
    account_id: text(),
    /** Null: any of the account's contacts may have changed. */
    contact_id: text().orNull(),
  },
  { indexes: { segment_changes_account: ['account_id', 'id'] } },
)

/** When a segment's rule may have another result for a contact just because time has passed. */
const segmentDue = table(
  'segment_due',
  {
    at: integer(),
    segment_id: text(),
    contact_id: text(),
  },
  {
    primaryKey: ['segment_id', 'contact_id'],
    isClustered: true,
    indexes: { segment_due_at: ['at', 'segment_id', 'contact_id'] },
  },
)

export const segmentsTables = [segments, segmentMembers, segmentChanges, segmentDue] as const
