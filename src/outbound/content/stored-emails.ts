import { sql } from 'kysely'
import { keepNewest } from '../../bounded/index.js'
import { idsOf, lookUpTogether, prepared, type Read } from '../../store/index.js'

/** A mail with its body, and what of its account and campaign goes into it. */
export interface StoredEmail {
  id: string
  domain_id: string
  from_header: string
  to_list: string
  reply_to: string | null
  subject: string
  message_id: string
  created_at: number
  scheduled_at: number | null
  html: string | null
  text: string | null
  account_id: string
  account_name: string
  account_language: string | null
  /** For the footer of marketing mail; null where there is none, and in other mail. */
  postal_address: string | null
  type: 'transactional' | 'marketing'
  topic_id: string | null
  body_id: number | null
  attachments: string | null
  broadcast_id: string | null
  automation_step_id: number | null
  extras: string | null
  broadcast_extras: string | null
  preview_text: string | null
  /** 1: the mail belongs to a campaign that its recipients may see in a browser. */
  archive: 0 | 1 | null
}

// Mails that are read in one query, all of one turn of the event loop. Each may bring a body of megabytes, and only a
// few are composed at once.
const mostFound = 12

/**
 * Reads mails by their ids; undefined for one that is gone. When several mails share a body, its content is read once
 * and kept for the next ones: it never changes, and a campaign's is the same for a million mails.
 */
export function makeStoredEmails(read: Read): (id: string) => Promise<StoredEmail | undefined> {
  const bodies = makeSharedBodies()
  return lookUpTogether(async (emailIds: readonly string[]) => {
    const kept = bodies.kept()
    const ids = { emailIds: JSON.stringify(emailIds), kept: JSON.stringify([...kept.keys()]) }
    const rows = await storedEmails(read, ids)
    const found = new Map<string, StoredEmail>()
    for (const email of rows) {
      const { body_id: bodyId } = email
      const content = bodyId === null ? undefined : kept.get(bodyId)
      if (content !== undefined) Object.assign(email, content)
      else if (bodyId !== null) bodies.read(bodyId, email)
      found.set(email.id, email)
    }
    return emailIds.map((id) => found.get(id))
  }, mostFound)
}

/** Mails by their ids. */
const storedEmails = prepared<{ emailIds: string; kept: string }, StoredEmail>(
  (db, { emailIds, kept }) =>
    db
      .selectFrom('emails')
      .leftJoin('bodies', 'bodies.id', 'emails.body_id')
      .innerJoin('accounts', 'accounts.id', 'emails.account_id')
      .leftJoin('broadcasts', 'broadcasts.id', 'emails.broadcast_id')
      // For most mails `variant` is null, and nothing is looked up.
      .leftJoin('broadcast_variants', (join) =>
        join
          .onRef('broadcast_variants.broadcast_id', '=', 'emails.broadcast_id')
          .onRef('broadcast_variants.key', '=', 'emails.variant'),
      )
      .leftJoin('brands', (join) =>
        join.onRef('brands.account_id', '=', 'emails.account_id').on('type', '=', 'marketing'),
      )
      .select(['emails.id', 'emails.domain_id', 'emails.from_header', 'to_list', 'emails.reply_to'])
      .select(['emails.subject', 'message_id', 'emails.created_at', 'emails.scheduled_at'])
      .select([unlessKept('html', kept), unlessKept('text', kept), unlessKept('attachments', kept)])
      .select(['emails.account_id', 'accounts.name as account_name'])
      .select(['accounts.language as account_language', 'brands.postal_address'])
      .select(['type', 'emails.topic_id'])
      .select(['emails.body_id', 'emails.broadcast_id', 'automation_step_id'])
      .select(['emails.extras', 'broadcasts.extras as broadcast_extras', 'broadcasts.archive'])
      .select(({ fn }) =>
        fn
          .coalesce('broadcast_variants.preview_text', 'broadcasts.preview_text')
          .as('preview_text'),
      )
      .where('emails.id', 'in', idsOf(emailIds, 'text')),
)

/**
 * The column of a body, unless the body is kept. A kept one is not read: the last column stands behind all others, so
 * SQLite would read all their pages to find it.
 */
const unlessKept = <Column extends keyof Content>(column: Column, kept: string) =>
  sql<string | null>`case when emails.body_id in ${idsOf(kept, 'integer')} then null
    else ${sql.ref(`bodies.${column}`)} end`.as<Column>(column)

/** What a body holds. */
type Content = Pick<StoredEmail, 'html' | 'text' | 'attachments'>

// Only a few bodies are on their way to many recipients at the same time.
const maxKept = 16
const maxKeptChars = 256 * 1024
// Bodies that were read for one mail. Most belong to no other mail, and are not kept.
const maxOnce = 200

/** The content of bodies that were read for several mails: 4 Mi characters at most. */
function makeSharedBodies() {
  const kept = new Map<number, Content>()
  const once = new Map<number, true>()
  return {
    /** The bodies that are kept now, by their ids; a copy, which later changes do not reach. */
    kept: (): ReadonlyMap<number, Content> => new Map(kept),
    /** A body was read for a mail; when it is read a second time, it is kept. */
    read(id: number, { html, text, attachments }: Content) {
      const isLarge = (html?.length ?? 0) + (text?.length ?? 0) > maxKeptChars
      if (!once.has(id)) keepNewest(once, id, true, maxOnce)
      else if (!isLarge) keepNewest(kept, id, { html, text, attachments }, maxKept)
    },
  }
}
