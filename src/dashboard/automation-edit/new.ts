import { optional, string, type } from 'superstruct'
import { recipes } from '../../automations/index.js'
import { readBilling } from '../../billing/index.js'
import { listContactFields } from '../../contact-fields/index.js'
import { listPage } from '../../contacts/index.js'
import { verifiedDomains } from '../../domains/index.js'
import { ApiError } from '../../errors/index.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import { namedOptions } from '../shell/named-options.js'
import type { Visit } from '../shell/visit.js'
import type { AutomationEditDeps } from './deps.js'
import { senderOfNew } from './written.js'

interface NewAutomationView {
  base: string
  accountId: string
  recipes: { value: string; label: string; hint: string }[]
  lists: { value: string; label: string }[]
  hasLists: boolean
  from: string
  /** Fields of contacts that hold a day. */
  dateFields: { value: string; label: string }[]
  domains: string
  noPlan: boolean
  faults: Faults
}

/** The fields of the form for a new automation. */
export const NewForm = type({
  recipe: optional(string()),
  name: optional(string()),
  from: optional(string()),
  list: optional(string()),
  dateField: optional(string()),
})

const mostLists = 100

/** What the form sends for every list, so that choosing nothing does not mean every list. */
const anyList = 'any'

/** The list that begins it, undefined for any; throws a 422 at the field where one is needed and none was chosen. */
export function listChosen(recipe: string, list: string = anyList): string | undefined {
  const isForList = recipes.some((one) => one.name === recipe && one.isForList)
  if (!isForList || list === anyList) return undefined
  if (list !== '') return list
  throw new ApiError('validation_error', 'Choose the list that begins it, or any list', {
    status: 422,
    fields: { field: 'list' },
  })
}

/** What an automation can begin with. */
export async function showNew(
  deps: AutomationEditDeps,
  { account, base }: Visit,
  faults: Faults,
): Promise<PageAnswer> {
  const { read } = deps.store
  const { page: lists } = await listPage(read, account.id, { limit: mostLists })
  const dates = (await listContactFields(read, account.id)).filter(({ type }) => type === 'date')
  const billing = await readBilling(read, deps.plans, account.id)
  const view: NewAutomationView = {
    base,
    accountId: account.id,
    recipes: recipes.map(({ name, title, about }) => ({ value: name, label: title, hint: about })),
    lists: [
      { value: '', label: 'Choose one' },
      ...namedOptions(lists),
      { value: anyList, label: 'Any list: whoever joins one, whichever it is' },
    ],
    hasLists: lists.length > 0,
    from: await senderOfNew(read, account),
    dateFields: dates.map(({ name, label }) => ({ value: name, label })),
    domains: (await verifiedDomains(read, account.id)).join(', '),
    noPlan: billing.marketingPlan === null,
    faults,
  }
  return page('automation-edit/new', view, { title: 'New automation' })
}
