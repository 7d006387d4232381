import { listPage } from '../../contacts/index.js'
import { listSegments } from '../../segments/index.js'
import { type Read, storedObject } from '../../store/index.js'
import { listTopics } from '../../topics/index.js'

/** A field that a condition may be about. */
export interface FieldChoice {
  value: string
  label: string
}

// What a page has room for.
const mostLists = 50
const mostOwn = 30
// Contacts of whom it is asked which fields they have: a millisecond or two.
const looked = 200

const usual: readonly FieldChoice[] = [
  { value: 'contact.email', label: 'Address' },
  { value: 'contact.firstName', label: 'First name' },
  { value: 'contact.lastName', label: 'Last name' },
  { value: 'contact.phone', label: 'Phone number' },
  { value: 'contact.createdAt', label: 'Added' },
  { value: 'mailable', label: 'Gets marketing mail' },
  { value: 'engagement.sent', label: 'Mails sent to them' },
  { value: 'engagement.opened', label: 'Mails that they opened' },
  { value: 'engagement.clicked', label: 'Mails in which they clicked' },
  { value: 'engagement.lastSentAt', label: 'The last mail to them' },
  { value: 'engagement.lastOpenedAt', label: 'The last time that they opened one' },
  { value: 'engagement.lastClickedAt', label: 'The last time that they clicked' },
]

/** The fields that an account's contacts really have; `also` are those of a rule that is shown. */
export async function fieldChoices(
  read: Read,
  accountId: string,
  also: readonly string[] = [],
): Promise<FieldChoice[]> {
  const [{ page: lists }, topics, segments, own] = await Promise.all([
    listPage(read, accountId, { limit: mostLists }),
    listTopics(read, accountId),
    listSegments(read, accountId),
    ownFields(read, accountId),
  ])
  const choices = [
    ...usual,
    ...own.map((key) => ({ value: `contact.metadata.${key}`, label: key })),
    ...lists.flatMap(({ id, name }) => [
      { value: `list.${id}`, label: `Is on the list “${name}”` },
      { value: `list.${id}.joinedAt`, label: `Joined the list “${name}”` },
    ]),
    ...topics.map(({ id, name }) => ({
      value: `topic.${id}`,
      label: `Has left the topic “${name}”`,
    })),
    ...segments.map(({ id, name }) => ({
      value: `segment.${id}`,
      label: `Is in the segment “${name}”`,
    })),
  ]
  const known = new Set(choices.map(({ value }) => value))
  const others = [...new Set(also)].filter((value) => !known.has(value))
  return [...choices, ...others.map((value) => ({ value, label: value }))]
}

/** The names of their own fields, the commonest first. */
async function ownFields(read: Read, accountId: string): Promise<string[]> {
  const rows = await read
    .selectFrom('contacts')
    .select('metadata')
    .where('account_id', '=', accountId)
    .orderBy('address')
    .limit(looked)
    .execute()
  const counts = new Map<string, number>()
  for (const { metadata } of rows) {
    for (const key of Object.keys(storedObject(metadata))) {
      // A dot would be a path within it.
      if (!key.includes('.') && key !== '' && key.length <= 60) {
        counts.set(key, (counts.get(key) ?? 0) + 1)
      }
    }
  }
  return [...counts]
    .sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))
    .slice(0, mostOwn)
    .map(([key]) => key)
}
