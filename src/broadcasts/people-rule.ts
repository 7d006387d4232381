import { isoTime } from '../clock/index.js'
import type { Rule } from '../rules/index.js'
import type { Broadcast } from './broadcast.js'
import type { PeopleAsked } from './report-people.js'
import { isNobody, type Whom, whomOf } from './whom.js'

/**
 * The rule of a segment that holds for the people behind a number of a campaign's report; undefined where no rule
 * says it. Who did not open it is whoever was in its audience when it was sent and has neither opened it nor clicked a
 * link since: who clicks has it open, whether their program loaded the pixel or not.
 */
export function ruleOfPeople(
  broadcast: Pick<Broadcast, 'id' | 'list_id' | 'whom' | 'sent_at'>,
  { who, link, reason, why }: AskedByRule,
): Rule | undefined {
  if ((link ?? reason ?? why) !== undefined) return undefined
  const did = (what: (typeof asFields)[number] | 'sent' | 'delivered', value: boolean): Rule => ({
    field: `broadcast.${broadcast.id}.${what}`,
    operator: 'eq',
    value,
  })
  const own = asFields.find((field) => field === who)
  if (own !== undefined) return did(own, true)
  const { sent_at } = broadcast
  if (who === 'sent' || who === 'delivered') return sent_at === null ? undefined : did(who, true)
  const whom = whomOf(broadcast)
  if (who === 'not_sent') {
    if (sent_at === null || isNobody(whom)) return undefined
    return { all: [...audienceOf(whom, isoTime(sent_at)), did('sent', false)] }
  }
  if (who !== 'not_opened' && who !== 'not_clicked') return undefined
  if (sent_at === null || isNobody(whom)) return undefined
  const at = isoTime(sent_at)
  const mailed = audienceOf(whom, at, {
    field: 'engagement.lastSentAt',
    operator: 'gte',
    value: at,
  })
  const opened = who === 'not_opened' ? [did('opened', false)] : []
  return { all: [...mailed, ...opened, did('clicked', false)] }
}

// Numbers of a report that rules ask for by the same word.
const asFields = ['opened', 'clicked', 'left', 'complained', 'unreached'] as const

/**
 * Of a campaign that has ended before it went out to everybody, `not_sent` are those of its audience to whom it did not:
 * there need be no mail of theirs.
 */
export interface AskedByRule extends Omit<PeopleAsked, 'who'> {
  who: PeopleAsked['who'] | 'not_sent'
}

/**
 * Who was in an audience at a time. Of lists it is known since when; of segments it is not: where `reached` is asked, who
 * has come into one since is left out as long as no mail has reached them.
 */
function audienceOf(whom: Whom, at: string, reached?: Rule): Rule[] {
  const isIn = (kind: 'list' | 'segment') => (id: string) => is(`${kind}.${id}`)
  const joined = whom.lists.map(
    (id): Rule => ({ field: `list.${id}.joinedAt`, operator: 'lte', value: at }),
  )
  const inSegments = whom.segments.map((id): Rule => {
    const inOne = isIn('segment')(id)
    return reached === undefined ? inOne : { all: [inOne, reached] }
  })
  const within = [...joined, ...inSegments]
  const left = [
    ...whom.withoutLists.map(isIn('list')),
    ...whom.withoutSegments.map(isIn('segment')),
  ]
  const [only, ...more] = within
  const inAny = only !== undefined && more.length === 0 ? only : { any: within }
  return left.length === 0 ? [inAny] : [inAny, { not: { any: left } }]
}

const is = (field: string): Rule => ({ field, operator: 'eq', value: true })
