import { comparisonsOf } from '../../rules/index.js'
import { listSegments } from '../../segments/index.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Tone } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import { fieldChoices } from './choices.js'
import type { SegmentPageDeps } from './deps.js'
import { wordsOf } from './rule-words.js'
import { stateChip } from './words.js'

interface SegmentsView {
  base: string
  accountId: string
  mayWrite: boolean
  segments: {
    page: string
    name: string
    rule: string
    count: number
    mailable: number
    chip: { text: string; tone: Tone }
  }[]
}

/** All segments of an account: there are 100 at most, and their counts are kept. */
export async function showSegments(
  { store: { read } }: SegmentPageDeps,
  visit: Visit,
): Promise<PageAnswer> {
  const { account, base } = visit
  const segments = await listSegments(read, account.id)
  const asked = segments.flatMap(({ rule }) => comparisonsOf(rule).map(({ field }) => field))
  const choices = segments.length === 0 ? [] : await fieldChoices(read, account.id, asked)
  const view: SegmentsView = {
    base,
    accountId: account.id,
    mayWrite: visit.may('contacts.write'),
    segments: segments.map((segment) => ({
      page: `${base}/segments/${segment.id}`,
      name: segment.name,
      rule: shortened(wordsOf(segment.rule, choices)),
      count: segment.count,
      mailable: segment.mailable,
      chip: stateChip(segment),
    })),
  }
  return page('segments/list', view, { title: 'Segments' })
}

// What a cell has room for; the segment's own page has all.
const mostLetters = 140
const shortened = (words: string) =>
  words.length > mostLetters ? `${words.slice(0, mostLetters - 1)}…` : words
