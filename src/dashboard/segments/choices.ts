import { isNameField, listContactFields } from '../../contact-fields/index.js'
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
const mostCampaigns = 20
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
const usualOnes: ReadonlySet<string> = new Set(usual.map(({ value }) => value))

/** The fields that an account's contacts really have; `also` are those of a rule that is shown. */
export async function fieldChoices(
  read: Read,
  accountId: string,
  also: readonly string[] = [],
): Promise<FieldChoice[]> {
  const [{ page: lists }, topics, segments, own, campaigns, described] = await Promise.all([
    listPage(read, accountId, { limit: mostLists }),
    listTopics(read, accountId),
    listSegments(read, accountId),
    ownFields(read, accountId),
    lastCampaigns(read, accountId),
    listContactFields(read, accountId),
  ])
  const labels = new Map(described.map(({ name, label }) => [name, label]))
  const keys = new Set([...labels.keys(), ...own].filter((key) => !isNameField(key)))
  const choices = [
    ...usual,
    ...[...keys].map((key) => ({
      value: `contact.metadata.${key}`,
      label: labels.get(key) ?? key,
    })),
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
    ...campaigns.flatMap(({ id, title }) => [
      { value: `broadcast.${id}.sent`, label: `Was sent the campaign “${title}”` },
      { value: `broadcast.${id}.delivered`, label: `Got the campaign “${title}”` },
      { value: `broadcast.${id}.opened`, label: `Opened the campaign “${title}”` },
      { value: `broadcast.${id}.clicked`, label: `Clicked in the campaign “${title}”` },
      { value: `broadcast.${id}.left`, label: `Left by the campaign “${title}”` },
      { value: `broadcast.${id}.complained`, label: `Complained about the campaign “${title}”` },
      { value: `broadcast.${id}.unreached`, label: `Was not reached by the campaign “${title}”` },
    ]),
  ]
  const known = new Set(choices.map(({ value }) => value))
  const others = [...new Set(also)].filter((value) => !known.has(value))
  const titles = new Map(campaigns.map(({ id, title }) => [id, title]))
  return [...choices, ...others.map((value) => ({ value, label: partLabel(value, titles) }))]
}

const partWords: Readonly<Record<string, string>> = {
  variant: 'The version that they got of the campaign',
  provider: 'Their mailbox provider, by the campaign',
  links: 'The links that they clicked in the campaign, by number,',
  reason: 'Why they did not get the campaign, by number,',
  unreachedAs: 'What became of the mail that did not arrive of the campaign',
  whyLeft: 'Why they left by the campaign',
}

/** A field that no choice offers, as it came with a rule: in words where they are known. */
function partLabel(value: string, titles: ReadonlyMap<string, string>): string {
  const [root, id = '', last = ''] = value.split('.')
  const says = root === 'broadcast' ? partWords[last] : undefined
  if (says === undefined) return value
  const title = titles.get(id)
  return title === undefined ? says : `${says} “${title}”`
}

// A page of ten conditions stays below 64 KiB: the HTML of all selects of fields, and of one with all of them (bytes).
const mostHtml = 30_000
const mostOfOne = 22_000
// The tags of an option, and what escaping may add.
const perOption = 32
const htmlOf = ({ value, label }: FieldChoice) =>
  Buffer.byteLength(value) + Buffer.byteLength(label) + perOption

/**
 * The fields that each condition offers: all of them, where a page has room for that. Else the last condition, which was
 * added to be chosen, has as many as there is room for, and any other its own, the usual ones and those of the rule.
 */
export function choicesOfRows(
  choices: readonly FieldChoice[],
  rows: readonly { field: string }[],
): FieldChoice[][] {
  const whole = choices.reduce((sum, choice) => sum + htmlOf(choice), 0)
  if (whole * rows.length <= mostHtml) return rows.map(() => [...choices])
  const inRule = new Set(rows.map(({ field }) => field))
  const first = choices.filter(({ value }) => inRule.has(value))
  const few = new Set([...usualOnes, ...inRule])
  return rows.map(({ field }, at) => {
    const isLast = at === rows.length - 1
    const own = choices.filter(({ value }) => value === field)
    let left = isLast ? mostOfOne : (mostHtml - mostOfOne) / (rows.length - 1)
    const chosen = new Set(own)
    for (const choice of [
      ...choices.filter((one) => usualOnes.has(one.value)),
      ...first,
      ...choices,
    ]) {
      if (!isLast && !few.has(choice.value)) continue
      if (chosen.has(choice)) continue
      left -= htmlOf(choice)
      if (left < 0) break
      chosen.add(choice)
    }
    return choices.filter((choice) => chosen.has(choice))
  })
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
    .map(({ id, name, subject }) => ({ id, title: (name ?? subject).slice(0, 60) }))
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
