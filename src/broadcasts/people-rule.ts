import { isoTime } from '../clock/index.js'
import type { Rule } from '../rules/index.js'
import type { Broadcast } from './broadcast.js'
import type { PeopleAsked } from './report-people.js'
import { isNobody, type Whom, whomOf } from './whom.js'

/**
 * The rule of a segment of the people behind a number of a campaign's report; undefined where no rule describes them.
 * Not opened means: they got it and have neither opened it nor clicked a link. Whoever clicks has it open, whether
 * their program loaded the pixel or not.
 */
export function ruleOfPeople(
  broadcast: Pick<Broadcast, 'id' | 'list_id' | 'whom' | 'sent_at'>,
  asked: AskedByRule,
): Rule | undefined {
  const whole = ruleOfAll(broadcast, asked)
  const parts = partsOf(broadcast.id, asked)
  if (whole === undefined || parts === undefined || parts.length === 0) {
    return parts === undefined ? undefined : whole
  }
  // For people whom it never reached, no such part is known.
  const isKnown = hasPartOf(asked)
  return isKnown ? { all: [...('all' in whole ? whole.all : [whole]), ...parts] } : undefined
}

/** Whether contacts have facts for all of these people, such as version and provider. */
const hasPartOf = ({ who }: AskedByRule) =>
  [...asFields, ...endings, 'made', 'sent', 'delivered', ...without].some((one) => one === who)

/** What these people have in common beside that number; undefined where no rule describes it. */
function partsOf(
  id: string,
  { link, reason, why, provider, variant, part }: AskedByRule,
): Rule[] | undefined {
  // Providers that the report does not name may be any of thousands, and no rule tells test and rest apart.
  if (provider === '*' || part !== undefined) return undefined
  const is = (field: string, operator: 'eq' | 'contains', value: string | number): Rule => ({
    field: `broadcast.${id}.${field}`,
    operator,
    value,
  })
  // Compared as forms of segments compare texts, so that such a form can show the rule.
  const named = (field: string, value: string): Rule =>
    Object.assign(is(field, 'eq', value), { ignoreCase: true as const })
  return [
    ...(link === undefined ? [] : [is('links', 'contains', link)]),
    ...(reason === undefined ? [] : [is('reason', 'eq', reason)]),
    ...(why === undefined ? [] : [is('whyLeft', 'eq', why)]),
    ...(provider === undefined ? [] : [named('provider', provider)]),
    ...(variant === undefined ? [] : [named('variant', variant)]),
  ]
}

function ruleOfAll(
  broadcast: Pick<Broadcast, 'id' | 'list_id' | 'whom' | 'sent_at'>,
  { who }: AskedByRule,
): Rule | undefined {
  const did = (what: (typeof asFields)[number] | 'sent' | 'delivered', value: boolean): Rule => ({
    field: `broadcast.${broadcast.id}.${what}`,
    operator: 'eq',
    value,
  })
  const own = asFields.find((field) => field === who)
  if (own !== undefined) return did(own, true)
  const { sent_at } = broadcast
  if (who === 'sent' || who === 'delivered') return sent_at === null ? undefined : did(who, true)
  if (who === 'made' && sent_at !== null)
    return { any: [did('sent', true), did('unreached', true)] }
  const ended = endings.find((one) => one === who)
  if (ended !== undefined) {
    const field = `broadcast.${broadcast.id}.unreachedAs`
    return { all: [did('unreached', true), { field, operator: 'eq', value: ended }] }
  }
  const whom = whomOf(broadcast)
  if (who === 'not_sent') {
    if (sent_at === null || isNobody(whom)) return undefined
    return { all: [...audienceOf(whom, isoTime(sent_at)), did('sent', false)] }
  }
  if (!without.some((one) => one === who)) return undefined
  if (sent_at === null) return undefined
  const opened = who === 'not_opened' ? [did('opened', false)] : []
  return { all: [did('delivered', true), ...opened, did('clicked', false)] }
}

const without = ['not_opened', 'not_clicked'] as const

const endings = ['bounced', 'failed', 'suppressed'] as const

// Numbers of a report that have the same name in rules.
const asFields = ['opened', 'clicked', 'left', 'complained', 'unreached'] as const

/** The people for whom a rule is wanted. */
export type AskedByRule = PeopleAsked

/** Who was in an audience at a time. Lists know since when somebody is on them; segments do not. */
function audienceOf(whom: Whom, at: string): Rule[] {
  const isIn = (kind: 'list' | 'segment') => (id: string) => is(`${kind}.${id}`)
  const joined = whom.lists.map(
    (id): Rule => ({ field: `list.${id}.joinedAt`, operator: 'lte', value: at }),
  )
  const within = [...joined, ...whom.segments.map(isIn('segment'))]
  const left = [
    ...whom.withoutLists.map(isIn('list')),
    ...whom.withoutSegments.map(isIn('segment')),
  ]
  const [only, ...more] = within
  const inAny = only !== undefined && more.length === 0 ? only : { any: within }
  return left.length === 0 ? [inAny] : [inAny, { not: { any: left } }]
}

const is = (field: string): Rule => ({ field, operator: 'eq', value: true })
