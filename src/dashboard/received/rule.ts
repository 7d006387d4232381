import { enums, optional, string, type } from 'superstruct'
import type { Plans } from '../../billing/index.js'
import type { Clock } from '../../clock/index.js'
import { auditOf, checked } from '../../contract/index.js'
import type { Form } from '../../http/index.js'
import * as operations from '../../receiving/contract.js'
import {
  byRuleWords,
  changeRule,
  deleteRule,
  findRule,
  listRules,
  type MovedRule,
  type ReceivingRule,
  receivedByRule,
  receivingActions,
} from '../../receiving/index.js'
import type { Store } from '../../store/index.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { Html } from '../shell/html.js'
import type { AccountPages } from '../shell/page.js'
import { markOf, markPart, refuseStale, type StoredNow } from '../shell/stale.js'
import type { Visit } from '../shell/visit.js'

/** What the page of one rule shows. */
interface RuleView {
  base: string
  url: string
  accountId: string
  mayWrite: boolean
  rule: ReceivingRule
  count: number
  does: string
  came: string
  actions: typeof actions
  mark: Html
  faults: Faults
}

/** What may be done with a mail, as forms offer it. */
export const actions = [
  { value: 'webhook', label: 'Tell my webhooks' },
  { value: 'forward', label: 'Forward it' },
  { value: 'store', label: 'Store it alone' },
]

/** What a form says of a rule. */
export const ruleFields = {
  pattern: string(),
  action: enums(receivingActions),
  forwardTo: optional(string()),
}
const ChangeForm = type({ ...ruleFields, place: optional(string()), enabled: optional(string()) })

/** What a form gives: an address that stands there from before is none of a rule that does not forward. */
export function givenOf({
  pattern,
  action,
  forwardTo = '',
}: {
  pattern: string
  action: ReceivingRule['action']
  forwardTo?: string | undefined
}) {
  const to = forwardTo.trim()
  return { pattern, action, ...(action === 'forward' && to !== '' && { forwardTo: to }) }
}

/** What a rule does with mail, behind 'Mail is'. */
export const doesOf = ({ action, forwardTo }: ReceivingRule): string =>
  action === 'forward'
    ? `forwarded to ${forwardTo}`
    : action === 'webhook'
      ? 'told to webhooks'
      : 'stored, nothing else'

/** `/receiving/:id`: one rule, all of which can be changed, and which says before it goes what goes with it. */
export function oneRulePages(
  pages: AccountPages,
  deps: { store: Store; clock: Clock; plans: Plans },
): void {
  const { read } = deps.store
  const show = async (visit: Visit, faults: Faults): Promise<PageAnswer> => {
    const { account, base, params } = visit
    const rules = await listRules(read, account.id, deps.plans)
    const rule = await findRule(read, account.id, params.id ?? '', deps.plans)
    const url = `${base}/receiving/${rule.id}`
    const view: RuleView = {
      base,
      url,
      accountId: account.id,
      mayWrite: visit.may('domains.write'),
      rule,
      count: rules.length,
      does: doesOf(rule),
      came: byRuleWords(await receivedByRule(read, account.id, rule.id)),
      actions,
      mark: await markPart(read, visit, {
        target: rule.id,
        mark: markOfRule(rule),
        page: url,
        now: () => storedNow(rule, visit.fields),
      }),
      faults,
    }
    return page('received/rule', view, { title: `Rule ${rule.place}` })
  }
  pages.get('/receiving/:id', 'domains.read', (visit) => show(visit, noFaults))

  const changing = { action: 'domains.write', form: ChangeForm, again: show } as const
  pages.post('/receiving/:id', changing, async ({ account, base, params, form, fields }) => {
    const id = params.id ?? ''
    const before = await findRule(read, account.id, id)
    refuseStale(fields, markOfRule(before))
    const place = Number(form.place ?? before.place)
    const given = {
      ...givenOf(form),
      enabled: form.enabled !== undefined,
      ...(place !== before.place && { place }),
    }
    const changes = checked(operations.updateReceivingRule, given)
    const { rule, moved } = await changeRule(deps, account.id, id, changes)
    const audit = auditOf(operations.updateReceivingRule, { target: id, detail: given })
    return redirect(`${base}/receiving`, { flash: `Saved. ${sentenceOf(rule, moved)}`, audit })
  })

  const deleting = { action: 'domains.write', again: show } as const
  pages.post('/receiving/:id/delete', deleting, async ({ account, base, params }) => {
    const id = params.id ?? ''
    const { pattern: name } = await deleteRule(deps, account.id, id)
    const audit = auditOf(operations.deleteReceivingRule, { target: id, detail: { name } })
    return redirect(`${base}/receiving`, { flash: 'The rule is deleted', audit })
  })
}

/** Where a rule stands now, and how many others a change has moved. */
export const sentenceOf = ({ place }: ReceivingRule, moved: readonly MovedRule[]): string =>
  [
    `It is rule ${place}`,
    ...moved.slice(0, 3).map((one) => `${one.pattern} is rule ${one.place} now`),
    ...(moved.length > 3 ? [`${moved.length - 3} more have moved`] : []),
  ].join('; ')

const markOfRule = ({ pattern, action, forwardTo, enabled, place }: ReceivingRule): string =>
  markOf([pattern, action, forwardTo, enabled, place])

/** What is stored of a rule otherwise than it was sent. */
const storedNow = (rule: ReceivingRule, sent: Form): StoredNow[] =>
  [
    { label: 'Addresses', value: rule.pattern, typed: sent.get('pattern') },
    {
      label: 'Mail is',
      value: doesOf(rule),
      typed: sent.get('action') === rule.action ? doesOf(rule) : '',
    },
    { label: 'Place', value: String(rule.place), typed: sent.get('place') },
    {
      label: 'In force',
      value: rule.enabled ? 'yes' : 'no',
      typed: sent.get('enabled') === undefined ? 'no' : 'yes',
    },
  ].filter(({ value, typed = '' }) => typed.trim() !== value)
