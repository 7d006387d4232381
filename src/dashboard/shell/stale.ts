import { createHash } from 'node:crypto'
import { lastChangeOf } from '../../audit/index.js'
import { ApiError } from '../../errors/index.js'
import type { Form } from '../../http/index.js'
import type { Read } from '../../store/index.js'
import { moment } from '../format.js'
import { hiddenField } from './field.js'
import { type Html, html } from './html.js'
import { time } from './parts.js'
import type { Visit } from './visit.js'

/*
 * Two people, or two tabs, that change the same thing: a form carries a mark of what it was filled with, and what has
 * changed since is not written over without a word. Drafts of campaigns and automations count revisions of their own.
 */

/** A mark of what a form is filled with: another one, whatever of it has changed and whoever has changed it. */
export const markOf = (stored: unknown): string =>
  createHash('sha256').update(JSON.stringify(stored)).digest('base64url').slice(0, 22)

/** Whether a form was filled with something else than what is stored, and does not say that this may go. */
const isStale = (sent: Form, mark: string): boolean => {
  const revision = sent.get('revision')
  return revision !== undefined && revision !== mark && sent.get('over') !== mark
}

/** Throws a 409 for such a form. */
export function refuseStale(sent: Form, mark: string): void {
  if (isStale(sent, mark)) throw changedMeanwhile()
}

export const changedMeanwhile = (): ApiError =>
  new ApiError('conflict', 'Not saved: this was changed since you opened it. Both are below')

/** What a form says otherwise than what is stored now. */
export interface StoredNow {
  label: string
  value: string
}

interface Stale {
  /** In the audit log. */
  target: string
  mark: string
  /** The page on which nothing is typed. */
  page: string
  now: readonly StoredNow[]
}

/** What stands in a form that is marked: its mark and, where it is stale, who has changed what, and the two ways on. */
export async function markPart(
  read: Read,
  visit: Visit<unknown>,
  { now, ...of }: Omit<Stale, 'now'> & { now: () => StoredNow[] | Promise<StoredNow[]> },
): Promise<Html> {
  const { fields } = visit
  const given = fields.get('revision') ?? of.mark
  const openedAt = fields.get('openedAt') ?? String(visit.now)
  const marks = html`${hiddenField('revision', given)}${hiddenField('openedAt', openedAt)}`
  if (!isStale(fields, of.mark)) return marks
  return html`${marks}${await stalePart(read, visit, { ...of, now: await now() })}`
}

/** Who has changed what, and the two ways on. */
export async function stalePart(
  read: Read,
  { account, person, fields, now }: Visit<unknown>,
  { target, mark, page, now: stored }: Stale,
): Promise<Html> {
  const openedAt = Number(fields.get('openedAt'))
  const last = await lastChangeOf(read, account.id, target, openedAt || now)
  const who =
    last === undefined ? 'somebody' : last.name === person.email ? 'you, elsewhere' : last.name
  const at = last && html`, ${time(moment(last.at, now))}`
  // Return in a line presses the form's first button, which must not write over what others have saved.
  return html`<button class="hidden" tabindex="-1">Save</button><div class="notice bad" id="newer"><p>Changed meanwhile by ${who}${at}. What you have typed is below, and is not saved.</p>${
    stored.length > 0 &&
    html`<p>It now says:</p><ul>${stored.map(({ label, value }) => html`<li>${label}: ${value === '' ? 'nothing' : value}</li>`)}</ul>`
  }<p class="buttons"><button name="over" value="${mark}">Save mine in its place</button> <a class="button" href="${page}">Take theirs</a></p></div>`
}
