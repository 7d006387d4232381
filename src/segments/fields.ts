import type { Json } from '../json/index.js'
import {
  type Comparison,
  comparisonsOf,
  type FieldKind,
  type Rule,
  ruleTree,
} from '../rules/index.js'

/** The fields of a contact that a segment's rule may read, beside its metadata. */
export const segmentContactFields = [
  'id',
  'email',
  'firstName',
  'lastName',
  'phone',
  'createdAt',
] as const
/** What a rule may ask about the results of an account's mail to a person; only people's opens and clicks count. */
export const engagementFields = [
  'sent',
  'opened',
  'clicked',
  'lastSentAt',
  'lastOpenedAt',
  'lastClickedAt',
] as const

/**
 * What a rule may ask about a person's deeds with a campaign: opens and clicks by people alone, whether and when first;
 * whether they left or complained because of it, and whether it did not reach them.
 */
export const deedFields = [
  ...(['opened', 'clicked', 'openedAt', 'clickedAt'] as const),
  ...(['left', 'complained', 'unreached'] as const),
]

/**
 * What a rule may ask about whether somebody got a campaign: `sent` also holds for people whose server refused it, or
 * for whom it was given up. It is noted only for campaigns for which a segment asks (`mailed.ts`).
 */
export const mailedFields = ['sent', 'delivered'] as const

/**
 * What tells people apart who did the same with a campaign: the version that they got, their mailbox provider, the
 * numbers of the links that they clicked and of the reason why it did not reach them (`unreachedAs`: bounced, failed or
 * suppressed), and why they left. A mail's version is known as long as the mail is kept.
 */
export const partFields = [
  ...(['variant', 'provider', 'links', 'reason', 'unreachedAs', 'whyLeft'] as const),
]

/** All that a segment's rule may ask of a campaign. */
export const campaignFields = [...mailedFields, ...deedFields, ...partFields] as const

/** The values for somebody who has nothing to do with a campaign. */
export const untouched = {
  sent: false,
  delivered: false,
  opened: false,
  clicked: false,
  left: false,
  complained: false,
  unreached: false,
} as const satisfies Record<string, Json>

/** Bounds of a segment's rule; they bound the cost of one look at a contact. */
export const ruleLimits = {
  conditions: 50,
  levels: 4,
  text: 200,
  values: 100,
  bytes: 16_384,
  metadataDepth: 4,
} as const

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const maxPath = 256

/** The form that a field should have; undefined if it has it. */
export function segmentPathFault(path: string): string | undefined {
  const [root, key = '', ...rest] = path.split('.')
  if (path.length > maxPath) return `Expected a field of at most ${maxPath} characters`
  if (path.split('.').some((part) => part === '')) return 'Expected a field without an empty part'
  switch (root) {
    case 'mailable':
      return key === '' ? undefined : 'Expected mailable alone'
    case 'contact':
      if (key === 'metadata' && rest.length > 0) {
        const { metadataDepth } = ruleLimits
        return rest.length <= metadataDepth
          ? undefined
          : `Expected a field of the metadata that is at most ${metadataDepth} deep`
      }
      if (rest.length === 0 && segmentContactFields.some((field) => field === key)) return undefined
      return `Expected one of contact.${segmentContactFields.join(', contact.')}, contact.metadata.…`
    case 'list':
      if (uuid.test(key) && (rest.length === 0 || rest.join('.') === 'joinedAt')) return undefined
      return 'Expected list.ID or list.ID.joinedAt, with the UUID of a list'
    case 'topic':
    case 'segment':
      return uuid.test(key) && rest.length === 0
        ? undefined
        : `Expected ${root}.ID, with the UUID of a ${root}`
    case 'broadcast':
      if (uuid.test(key) && campaignFields.some((field) => field === rest.join('.'))) {
        return undefined
      }
      return `Expected broadcast.ID with one of .${campaignFields.join(', .')}, with the UUID of a campaign`
    case 'engagement':
      if (rest.length === 0 && engagementFields.some((field) => field === key)) return undefined
      return `Expected one of engagement.${engagementFields.join(', engagement.')}`
    case 'event':
      return key === '' ? 'Expected event.NAME' : undefined
  }
  return 'Expected a field that begins with contact., list., topic., segment., broadcast., engagement. or event., or mailable'
}

/** What a field holds; undefined for metadata, which the account defines. */
export function segmentFieldKind(path: string): FieldKind | undefined {
  const [root, key = '', last] = path.split('.')
  switch (root) {
    case 'mailable':
    case 'topic':
    case 'segment':
      return 'truth'
    case 'list':
      return last === undefined ? 'truth' : 'time'
    case 'event':
      return 'count'
    case 'engagement':
      return key.endsWith('At') ? 'time' : 'count'
    case 'contact':
      if (key === 'metadata') return undefined
      return key === 'createdAt' ? 'time' : 'text'
    case 'broadcast':
      return campaignKinds[last ?? '']
  }
  return undefined
}

const campaignKinds: Readonly<Record<string, FieldKind>> = {
  ...Object.fromEntries(Object.keys(untouched).map((name) => [name, 'truth' as const])),
  openedAt: 'time',
  clickedAt: 'time',
  variant: 'text',
  provider: 'text',
  unreachedAs: 'text',
  whyLeft: 'text',
}

/** A segment's rule; checks only its form. */
export const SegmentRule = ruleTree({
  depth: ruleLimits.levels,
  // Groups count as parts too.
  parts: ruleLimits.conditions + 14,
  text: ruleLimits.text,
  values: ruleLimits.values,
  bytes: ruleLimits.bytes,
  pathFault: segmentPathFault,
  kindOf: segmentFieldKind,
  counts: (path) => path.startsWith('event.'),
})

/** What a rule names by an id or a name: all fields, also those of variables, by their root. */
export function namedIn(rule: Rule): ReadonlyMap<string, ReadonlySet<string>> {
  const named = new Map<string, Set<string>>()
  for (const path of comparisonsOf(rule).flatMap(pathsIn)) {
    const [root = '', key = ''] = path.split('.')
    const known = named.get(root) ?? new Set()
    // An event's name may contain dots.
    named.set(root, known.add(root === 'event' ? path.slice('event.'.length) : key.toLowerCase()))
  }
  return named
}

/** The fields that a comparison reads. */
export const pathsIn = ({ field, value }: Comparison): string[] =>
  typeof value === 'object' && value !== null && 'var' in value && typeof value.var === 'string'
    ? [field, value.var]
    : [field]
