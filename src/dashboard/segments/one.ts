import { audienceUses } from '../../broadcasts/index.js'
import { comparisonsOf } from '../../rules/index.js'
import {
  brokenParts,
  erasedIn,
  requireSegment,
  segmentMembers,
  usesOfSegment,
} from '../../segments/index.js'
import { fullName, mailChip } from '../contacts/words.js'
import { type Moment, moment } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { Tone } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import { fieldChoices } from './choices.js'
import type { SegmentPageDeps } from './deps.js'
import { wordsOf } from './rule-words.js'
import { brokenWords, countWords, stateChip } from './words.js'

interface SegmentView {
  base: string
  accountId: string
  mayWrite: boolean
  id: string
  here: string
  name: string
  rule: string
  counted: string
  chip: { text: string; tone: Tone }
  isFilling: boolean
  asOf: Moment
  /** Why nobody is in it; undefined where its rule names what is there. */
  broken: string | undefined
  uses: { kind: string; name: string }[]
  members: {
    page: string
    email: string
    name: string
    chip: { text: string; tone: Tone }
    since: Moment
  }[]
  first: string | undefined
  next: string | undefined
  faults: Faults
}

const perPage = 50

/** A segment: its rule in words, both numbers, who uses it and who is in it. Throws a 404. */
export async function showSegment(
  { store: { read } }: SegmentPageDeps,
  visit: Visit,
  faults: Faults,
): Promise<PageAnswer> {
  const { account, base, now } = visit
  const segment = await requireSegment(read, account.id, visit.params.id ?? '')
  const { id, name, rule } = segment
  const cursor = visit.query.get('cursor') ?? undefined
  const [found, choices, broken, uses] = await Promise.all([
    segmentMembers(read, account.id, id, { limit: perPage, cursor }),
    fieldChoices(
      read,
      account.id,
      comparisonsOf(rule).map(({ field }) => field),
    ),
    brokenParts(read, account.id, rule),
    usesOfSegment(read, audienceUses, account.id, id),
  ])
  const here = `${base}/segments/${id}`
  const counted = countWords(segment, await erasedIn(read, account.id, segment))
  const view: SegmentView = {
    base,
    accountId: account.id,
    mayWrite: visit.may('contacts.write'),
    id,
    here,
    name,
    rule: wordsOf(rule, choices),
    counted: segment.state === 'filling' ? `So far: ${counted}` : counted,
    isFilling: segment.state === 'filling',
    chip: stateChip(segment),
    asOf: moment(segment.asOf, now),
    broken: broken.length === 0 ? undefined : brokenWords(broken),
    uses,
    members: found.members.map((member) => ({
      page: `${base}/contacts/${member.id}`,
      email: member.email,
      name: fullName(member),
      chip: mailChip(member),
      since: moment(member.createdAt, now),
    })),
    first: cursor === undefined ? undefined : here,
    next:
      found.nextCursor === null
        ? undefined
        : `${here}?${new URLSearchParams({ cursor: found.nextCursor })}`,
    faults,
  }
  return page('segments/one', view, { title: name })
}
