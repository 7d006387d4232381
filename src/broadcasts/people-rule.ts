import { isoTime } from '../clock/index.js'
import type { Rule } from '../rules/index.js'
import type { Broadcast } from './broadcast.js'
import type { PeopleAsked } from './report-people.js'

/**
 * The rule of a segment that holds for the people behind a number of a campaign's report; undefined where no rule
 * says it. Who did not open it is whoever was on its list when it was sent and has not opened it since.
 */
export function ruleOfPeople(
  { id, list_id, sent_at }: Broadcast,
  { who, link, reason }: PeopleAsked,
): Rule | undefined {
  if (link !== undefined || reason !== undefined) return undefined
  const did = (what: 'opened' | 'clicked', value: boolean): Rule => ({
    field: `broadcast.${id}.${what}`,
    operator: 'eq',
    value,
  })
  if (who === 'opened' || who === 'clicked') return did(who, true)
  if ((who !== 'not_opened' && who !== 'not_clicked') || list_id === '' || sent_at === null) {
    return undefined
  }
  const joined: Rule = {
    field: `list.${list_id}.joinedAt`,
    operator: 'lte',
    value: isoTime(sent_at),
  }
  return { all: [joined, did(who === 'not_opened' ? 'opened' : 'clicked', false)] }
}
