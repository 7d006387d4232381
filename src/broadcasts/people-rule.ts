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
  { who, link, reason, why }: PeopleAsked,
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
  if (who !== 'not_opened' && who !== 'not_clicked') return undefined
  if (sent_at === null || isNobody(whom)) return undefined
  const mailed = mailedOf(whom, isoTime(sent_at))
  const opened = who === 'not_opened' ? [did('opened', false)] : []
  return { all: [...mailed, ...opened, did('clicked', false)] }
}

// Numbers of a report that rules ask for by the same word.
const asFields = ['opened', 'clicked', 'left', 'complained', 'unreached'] as const

/**
 * Who was in an audience at a time. Of lists it is known since when; who has come into a segment since is left out as
 * long as no mail has reached them.
 */
function mailedOf(whom: Whom, at: string): Rule[] {
  const isIn = (kind: 'list' | 'segment') => (id: string) => is(`${kind}.${id}`)
  const joined = whom.lists.map(
    (id): Rule => ({ field: `list.${id}.joinedAt`, operator: 'lte', value: at }),
  )
  const reached: Rule = { field: 'engagement.lastSentAt', operator: 'gte', value: at }
  const inSegments = whom.segments.map((id): Rule => ({ all: [isIn('segment')(id), reached] }))
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
