import { shownCount } from '../../amounts/index.js'
import { type ChangeFilter, type LoggedChange, readChanges } from '../../audit/index.js'
import type { PeopleDeps } from '../../people/index.js'
import { type AuditEntry, readAudit } from '../../protection/index.js'
import type { Read } from '../../store/index.js'
import { browserName } from '../entry/browser-name.js'
import { page } from '../shell/answer.js'
import { type Html, html } from '../shell/html.js'
import type { Shell } from '../shell/page.js'
import type { OperatorVisit } from '../shell/visit.js'
import { namesOf } from './names.js'
import { changeInWords } from './words.js'

interface AuditDeps {
  people: Pick<PeopleDeps, 'store'>
}

const rowsAPage = 50
// Pauses by account protection have a log of their own, whose newest rows are shown on the first
// page.
const pausesShown = 20
const noPauses: readonly AuditEntry[] = []

/** Who changed what: an account's log for its owners, and the whole log for operators. */
export function auditPages(shell: Pick<Shell, 'account' | 'operator'>, deps: AuditDeps): void {
  const { read } = deps.people.store

  shell.account.get('/audit', 'audit.read', async (visit) => {
    const { account, base } = visit
    const { changes, ...rest } = await changesOf(deps, visit, account.id, `${base}/audit`)
    const pauses = rest.isFirst
      ? await readAudit(read, { accountId: account.id, limit: pausesShown })
      : []
    const view = {
      ...rest,
      now: visit.now,
      ofAll: false,
      changes: await shown(read, changes, visit.may('keys.write')),
      pauses,
    }
    return page('audit/list', view, { title: 'Audit log' })
  })

  shell.operator.get('/audit', 'operator.read', async (visit) => {
    const { changes, ...rest } = await changesOf(deps, visit, undefined, '/operator/audit')
    const view = {
      ...rest,
      now: visit.now,
      ofAll: true,
      pauses: noPauses,
      changes: await shown(read, changes, false),
    }
    return page('audit/list', view, { title: 'Audit log' })
  })
}

/** A page of the log, by its filter; `accountId` undefined: of all accounts. */
async function changesOf(
  { people }: AuditDeps,
  { query }: OperatorVisit,
  accountId: string | undefined,
  path: string,
) {
  const given = (name: string) => query.get(name)?.trim() || undefined
  const kind = kinds.find(({ value }) => value !== '' && value === query.get('kind'))?.value
  const filter: ChangeFilter = {
    name: given('name'),
    action: given('action'),
    kind: kind === '' ? undefined : kind,
  }
  // A row's number: a double counts 15 digits exactly.
  const before = /^\d{1,15}$/.test(query.get('before') ?? '')
    ? Number(query.get('before'))
    : undefined
  const question = { filter, before, limit: rowsAPage }
  const { changes, next } = await readChanges(people.store.read, accountId, question)
  const link = (more: Record<string, string>) => {
    const values = { kind: filter.kind, name: filter.name, action: filter.action, ...more }
    const set = Object.entries(values).filter(([, value]) => value !== undefined)
    return set.length === 0 ? path : `${path}?${new URLSearchParams(set as [string, string][])}`
  }
  return {
    changes,
    path,
    kinds,
    isFirst: before === undefined,
    kind: filter.kind ?? '',
    name: filter.name ?? '',
    action: filter.action ?? '',
    isFiltered: Object.values(filter).some((value) => value !== undefined),
    older: next === undefined ? undefined : link({ before: String(next) }),
    newer: before === undefined ? undefined : link({}),
  }
}

/** The ways by which something was changed. */
const kinds = [
  { value: '', label: 'Every way' },
  { value: 'user', label: 'Pages' },
  { value: 'api', label: 'API' },
  { value: 'cli', label: 'Commands' },
  { value: 'system', label: 'The appliance itself' },
] as const

const ways = { user: 'page', api: 'API key', cli: 'command', system: 'itself' } as const

/** The rows of the log, in words. An operator who looks into an account may not open the pages of its keys. */
async function shown(read: Read, changes: readonly LoggedChange[], mayOpenKeys: boolean) {
  const find = await namesOf(read, changes)
  return changes.map((change) => {
    const { action, detail } = change
    const words = changeInWords(change)
    const found = find(change)
    // A deleted thing has its name in the row, if anywhere; an id alone is a name to nobody.
    const kept = [detail.name, detail.url, detail.email].find((one) => typeof one === 'string')
    const name = found?.name ?? kept ?? (isId(words.target) ? undefined : words.target)
    return {
      at: change.at,
      name: change.name,
      way: ways[change.kind],
      account: change.account ?? '',
      says: words.says(name),
      path: words.thing === 'key' && !mayOpenKeys ? undefined : found?.path,
      from: change.clientAddressKey ?? '',
      action,
      target: change.target ?? '',
      detail: detailOf(change, name),
    }
  })
}

const isId = (text: string | undefined) => text !== undefined && /^[0-9a-f-]{36}$/.test(text)

/**
 * What the row knows beside who, what and when. Anything may have been noted then, so everything is
 * escaped.
 */
function detailOf({ kind, detail }: LoggedChange, said: string | undefined): Html | undefined {
  const entries = Object.entries(detail).flatMap(([name, value]): [string, unknown][] => {
    if (value === null || value === '' || value === said) return []
    if (Array.isArray(value) && value.length === 0) return []
    // The key is already shown as the actor; `--yes` only says that nobody was asked.
    if ((kind === 'api' && name === 'key') || (kind === 'cli' && name === 'yes')) return []
    if (name === 'agent' && typeof value === 'string') return [['with', browserName(value)]]
    if (name === 'newBrowser') return value === true ? [['browser', 'new']] : []
    return [[name, value]]
  })
  if (entries.length === 0) return undefined
  return html`${entries.map(
    ([name, value]) =>
      html`<div><span class="quiet">${inWords(name)}</span>${value !== true && html` ${valueInWords(value)}`}</div>`,
  )}`
}

/** A value as people read it: of ids only the number is shown, as they say nothing. */
function valueInWords(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return shownCount(value)
  if (value === false) return 'no'
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string')) {
    return JSON.stringify(value)
  }
  return value.every(isId) ? shownCount(value.length) : value.join(', ')
}

/** `oldSecretUntil` as people write it. */
const inWords = (name: string) =>
  partsInWords[name] ?? name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

// Names that say nothing to people.
const partsInWords: Readonly<Record<string, string>> = {
  ids: 'how many',
  trigger: 'starts automations',
}
