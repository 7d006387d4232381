import { type } from 'superstruct'
import type { Plans } from '../../billing/index.js'
import type { Clock } from '../../clock/index.js'
import { auditOf, checked } from '../../contract/index.js'
import { type Domain, listDomains } from '../../domains/index.js'
import { parseMailbox } from '../../mime/index.js'
import * as operations from '../../receiving/contract.js'
import {
  addRule,
  addressIn,
  changeRule,
  findRule,
  listRules,
  type ReceivingRule,
  whereAnswer,
} from '../../receiving/index.js'
import type { Store } from '../../store/index.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import { actions, doesOf, givenOf, oneRulePages, ruleFields, sentenceOf } from './rule.js'

interface RulesView {
  base: string
  accountId: string
  mayWrite: boolean
  /** `waits`: what keeps mail from coming in there yet. */
  hosts: { host: string; domain: string; waits: string }[]
  rules: RuleLine[]
  actions: { value: string; label: string }[]
  /** A host of the account for examples of patterns. */
  exampleHost: string
  asked: string
  answer: string | undefined
  exampleId: string
  faults: Faults
}

interface RuleLine {
  id: string
  place: number
  pattern: string
  does: string
  enabled: boolean
  note: string | null
  changes: { name: string; label: string }[]
}

const RuleForm = type(ruleFields)

/** `/receiving`: for which addresses mail is taken, and where it goes. */
export function rulePages(
  pages: AccountPages,
  deps: { store: Store; clock: Clock; plans: Plans },
): void {
  const { read } = deps.store
  const show = async (visit: Visit, faults: Faults): Promise<PageAnswer> => {
    const { account, base, query } = visit
    const rules = await listRules(read, account.id, deps.plans)
    const domains = await listDomains(read, account.id)
    const asked = query.get('address')?.trim() ?? ''
    const hosts = domains.flatMap((domain) =>
      domain.receivingHost === null
        ? []
        : [{ host: domain.receivingHost, domain: domain.name, waits: waitsFor(domain) }],
    )
    const view: RulesView = {
      base,
      accountId: account.id,
      mayWrite: visit.may('domains.write'),
      hosts,
      exampleHost: hosts[0]?.host ?? 'in.example.com',
      rules: rules.map((rule) => lineOf(rule, rules.length)),
      actions,
      asked,
      answer: asked === '' ? undefined : await answerFor(account.id, asked),
      exampleId: rules[0]?.id ?? 'ID',
      faults,
    }
    return page('received/rules', view, { title: 'Rules for incoming mail' })
  }
  const answerFor = async (accountId: string, asked: string): Promise<string> => {
    if (parseMailbox(asked) === undefined) return 'This is no address'
    const { local, host } = addressIn(asked)
    const { taken, why } = await whereAnswer(deps, accountId, local, host)
    return taken ? why : `Mail there is refused: ${why}`
  }
  pages.get('/receiving', 'domains.read', (visit) => show(visit, noFaults))

  const adding = { action: 'domains.write', form: RuleForm, again: show } as const
  pages.post('/receiving', adding, async ({ account, base, form }) => {
    const given = givenOf(form)
    const rule = await addRule(deps, account.id, checked(operations.addReceivingRule, given))
    const audit = auditOf(operations.addReceivingRule, { target: rule.id, detail: given })
    return redirect(`${base}/receiving`, {
      flash: `Rule ${rule.place} is added${rule.note === null ? '' : `. ${rule.note}`}`,
      audit,
    })
  })

  const changing = { action: 'domains.write', again: show } as const
  for (const [name, changes, flash] of [
    ['up', ({ place }: ReceivingRule) => ({ place: Math.max(place - 1, 1) }), 'Moved'],
    ['down', ({ place }: ReceivingRule) => ({ place: place + 1 }), 'Moved'],
    ['on', () => ({ enabled: true }), 'The rule is in force'],
    ['off', () => ({ enabled: false }), 'The rule is passed over'],
  ] as const) {
    pages.post(`/receiving/:id/${name}`, changing, async ({ account, base, params }) => {
      const id = params.id ?? ''
      const change = changes(await findRule(read, account.id, id))
      const { rule, moved } = await changeRule(deps, account.id, id, change)
      const audit = auditOf(operations.updateReceivingRule, { target: id, detail: change })
      return redirect(`${base}/receiving`, { flash: `${flash}. ${sentenceOf(rule, moved)}`, audit })
    })
  }
  oneRulePages(pages, deps)
}

/** What a domain waits for, in brackets; empty: for nothing. */
function waitsFor({ name, status, receivingHostReady }: Domain): string {
  if (status === 'pending') return ` (no mail is taken there yet: ${name} is not verified)`
  return receivingHostReady
    ? ''
    : ' (waits for its MX record: until you publish it, mail goes where the DNS leads it now)'
}

const lineOf = (rule: ReceivingRule, count: number): RuleLine => ({
  id: rule.id,
  place: rule.place,
  pattern: rule.pattern,
  does: doesOf(rule),
  enabled: rule.enabled,
  note: rule.note,
  changes: [
    ...(rule.place === 1 ? [] : [{ name: 'up', label: 'Up' }]),
    ...(rule.place === count ? [] : [{ name: 'down', label: 'Down' }]),
    rule.enabled ? { name: 'off', label: 'Off' } : { name: 'on', label: 'On' },
  ],
})
