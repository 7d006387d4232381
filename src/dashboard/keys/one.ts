import { type } from 'superstruct'
import * as operations from '../../accounts/contract.js'
import {
  type ApiKey,
  deleteKey,
  findKey,
  hasOtherFullKey,
  limitsIn,
  updateKey,
} from '../../accounts/index.js'
import { auditOf, checked } from '../../contract/index.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import { scopes } from './create.js'
import type { KeyPageDeps } from './deps.js'
import { givenIn, keyFields } from './form.js'
import { domainBoxes, type KeyView, keyView } from './view.js'

/** A key's page. */
interface OneKeyView {
  base: string
  accountId: string
  key: KeyView
  values: {
    name: string
    scope: string
    domains: string[]
    networks: string
    expiresAt: string
    perHour: string
    perMinute: string
  }
  scopes: typeof scopes
  domains: string[] | undefined
  /** What its deletion means. */
  deletion: string
  faults: Faults
}

const ChangeForm = type(keyFields)

/** One key: what it may do, changed from the next request on; and its deletion. */
export function oneKeyPages(pages: AccountPages, deps: KeyPageDeps): void {
  const { store } = deps
  const keyOf = ({ account, params }: Pick<Visit, 'account' | 'params'>) =>
    findKey(store.read, account.id, params.id ?? '')

  const show = async (visit: Visit, faults: Faults): Promise<PageAnswer> => {
    const { account, base, now } = visit
    const key = await keyOf(visit)
    const shown = keyView(key, now)
    const isLast =
      key.scope === 'full' && !(await hasOtherFullKey(store.read, account.id, key.id, now))
    const view: OneKeyView = {
      base,
      accountId: account.id,
      key: shown,
      // A test key stays one, and no other key becomes one.
      scopes: scopes.filter(({ value }) => (value === 'test') === (key.scope === 'test')),
      faults,
      values: {
        name: key.name,
        scope: key.scope,
        domains: [...(key.domains ?? [])],
        networks: key.networks?.join('\n') ?? '',
        expiresAt: shown.expires.day,
        perHour: String(key.perHour ?? ''),
        perMinute: String(key.perMinute ?? ''),
      },
      domains: await domainBoxes(store.read, account.id),
      deletion: deletionOf(key, shown, isLast),
    }
    return page('keys/one', view, { title: key.name })
  }
  pages.get('/keys/:id', 'keys.write', (visit) => show(visit, noFaults))

  const changing = { action: 'keys.write', form: ChangeForm, sudo: true, again: show } as const
  pages.post('/keys/:id', changing, async (visit) => {
    const { account, base, form, now } = visit
    const before = await keyOf(visit)
    const { name, ...wanted } = checked(operations.updateKey, givenIn(form))
    const limits = limitsIn(wanted)
    // The form has only a day: a key that expires at noon keeps its hour, unless another day was chosen.
    if (keyView(before, now).expires.day === form.expiresAt) limits.expiresAt = before.expiresAt
    const changes = { name, ...limits }
    const key = await updateKey(deps, account.id, before.id, changes)
    const detail = { name: key.name, scope: key.scope }
    const audit = auditOf(operations.updateKey, { target: key.id, detail })
    return redirect(`${base}/keys`, { flash: `${key.name} is changed`, audit })
  })

  const deleting = { action: 'keys.write', sudo: true, again: show } as const
  pages.post('/keys/:id/delete', deleting, async (visit) => {
    const key = await keyOf(visit)
    // Whoever is here can make another key without any key, so the last one may be deleted too.
    await deleteKey(deps, visit.account.id, key.id)
    const audit = auditOf(operations.deleteKey, { target: key.id, detail: { name: key.name } })
    const flash = `${key.name} is deleted; requests with it fail from now on`
    return redirect(`${visit.base}/keys`, { flash, audit })
  })
}

/**
 * What somebody should know before deleting a key: its last use shows whether anything still needs
 * it.
 */
function deletionOf({ name }: ApiKey, { lastUsed, last4 }: KeyView, isLast: boolean): string {
  const used = lastUsed === undefined ? 'never used' : `last used ${lastUsed.ago}`
  return [
    `Delete ${name} (…${last4}), ${used}? Requests with it fail at once.`,
    ...(isLast ? ['This is your last full key. You can make another here.'] : []),
  ].join(' ')
}
