import { listPage } from '../../contacts/index.js'
import { listEventNames } from '../../events/index.js'
import type { FieldKind } from '../../rules/index.js'
import { listSegments, segmentFieldKind } from '../../segments/index.js'
import type { Read } from '../../store/index.js'
import { listTopics } from '../../topics/index.js'
import { eventWords } from '../event-words.js'
import { marksApart, type OfferedThing } from '../shell/named-options.js'
import { campaignTitle, labelsOf, namedLabel, namedPath, offeredOf } from './field-labels.js'
import { ownFields } from './own-fields.js'

/** A field that a condition may be about. */
export interface FieldChoice {
  value: string
  label: string
  /** What it holds; undefined for what may be anything. */
  kind?: FieldKind | undefined
  /** What it is often compared with. */
  values?: readonly string[]
}

// What a page has room for.
const mostLists = 50
const mostCampaigns = 20
const mostEvents = 50

const usual: readonly [value: string, label: string][] = [
  ['contact.email', 'Address'],
  ['contact.firstName', 'First name'],
  ['contact.lastName', 'Last name'],
  ['contact.phone', 'Phone number'],
  ['contact.createdAt', 'Added'],
  ['mailable', 'Gets marketing mail'],
  ['engagement.sent', 'Mails sent to them'],
  ['engagement.opened', 'Mails that they opened'],
  ['engagement.clicked', 'Mails in which they clicked'],
  ['engagement.lastSentAt', 'The last mail to them'],
  ['engagement.lastOpenedAt', 'The last time that they opened one'],
  ['engagement.lastClickedAt', 'The last time that they clicked'],
]
export const usualFields: ReadonlySet<string> = new Set(usual.map(([value]) => value))

/** The fields that an account's contacts really have; `also` are those of rules that are shown. */
export async function fieldChoices(
  read: Read,
  accountId: string,
  also: readonly string[] = [],
): Promise<FieldChoice[]> {
  const [{ page: lists }, topics, segments, own, campaigns, events] = await Promise.all([
    listPage(read, accountId, { limit: mostLists }),
    listTopics(read, accountId),
    listSegments(read, accountId),
    ownFields(read, accountId),
    lastCampaigns(read, accountId),
    listEventNames(read, accountId, { limit: mostEvents }),
  ])
  const choices = [
    ...usual.map(([value, label]) =>
      choiceOf(value, label, own.names.get(value.slice('contact.'.length))?.values),
    ),
    ...own.fields.map(({ name, label, kind, values }) => ({
      value: `contact.metadata.${name}`,
      label,
      kind,
      values,
    })),
    ...offered('list', lists),
    ...offered('topic', topics),
    ...offered('segment', segments),
    ...offered('broadcast', campaigns),
    ...events.map(({ name }) => choiceOf(`event.${name}`, eventLabel(name))),
  ]
  const known = new Set(choices.map(({ value }) => value))
  const others = [...new Set(also)].filter((value) => !known.has(value))
  const labels = await labelsOf(read, accountId, others)
  return [
    ...choices,
    ...others.map((value) => choiceOf(value, labels.get(value) ?? otherLabel(value))),
  ]
}

const choiceOf = (value: string, label: string, values?: readonly string[]): FieldChoice => ({
  value,
  label,
  kind: segmentFieldKind(value),
  ...(values !== undefined && { values }),
})

const offered = (root: keyof typeof offeredOf, things: readonly OfferedThing[]): FieldChoice[] => {
  const marks = marksApart(things)
  return things.flatMap(({ id, name }) =>
    offeredOf[root].map((form) => {
      const path = namedPath(form, id)
      return choiceOf(path, `${namedLabel(path, name) ?? path}${marks.get(id) ?? ''}`)
    }),
  )
}

const eventLabel = (name: string) => `How often ${eventWords(name)}`

/** A field that no choice offers and that names nothing, as it came with a rule. */
function otherLabel(value: string): string {
  if (value === 'contact.id') return 'The id of the contact'
  if (value.startsWith('event.')) return eventLabel(value.slice('event.'.length))
  return value.replace(/^contact\.metadata\./, '')
}

/** The last campaigns that were sent, by the name that they are known by. */
async function lastCampaigns(read: Read, accountId: string) {
  const rows = await read
    .selectFrom('broadcasts')
    .select(['id', 'name', 'subject', 'sent_at'])
    .where('account_id', '=', accountId)
    .orderBy('id', 'desc')
    .limit(mostCampaigns)
    .execute()
  return rows
    .filter((row) => row.sent_at !== null)
    .map((row) => ({ id: row.id, name: campaignTitle(row) }))
}
