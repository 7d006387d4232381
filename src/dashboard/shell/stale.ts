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
 * Two people, or two tabs, may change the same thing. So a form carries a mark of what it was filled with, and it
 * does not silently overwrite what has changed since. Drafts of campaigns and automations count revisions of their
 * own.
 */

/** A mark of what a form is filled with. It differs after any change, whoever made it. */
export const markOf = (stored: unknown): string =>
  createHash('sha256').update(JSON.stringify(stored)).digest('base64url').slice(0, 22)

/** Whether a form was filled with something else than what is stored now, and does not agree to overwrite that. */
const isStale = (sent: Form, mark: string): boolean => {
  const revision = sent.get('revision')
  return revision !== undefined && revision !== mark && sent.get('over') !== mark
}

/** Throws a 409 for a stale form. */
export function refuseStale(sent: Form, mark: string): void {
  if (isStale(sent, mark)) throw changedMeanwhile()
}

export const changedMeanwhile = (): ApiError =>
  new ApiError('conflict', 'Not saved: this was changed since you opened it. Both are below')

/** What is stored now, where a form differs from it. */
export interface StoredNow {
  label: string
  value: string
}

interface Stale {
  /** The target in the audit log. */
  target: string
  mark: string
  /** The page with the stored values. */
  page: string
  now: readonly StoredNow[]
}

/** The part of a form with its mark and, where the form is stale, who has changed what, and the two ways on. */
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
  // The Return key presses the form's first button, which must not overwrite what others have saved.
  return html`<button class="hidden" tabindex="-1">Save</button><div class="notice bad" id="newer"><p>Changed meanwhile by ${who}${at}. What you have typed is below, and is not saved.</p>${
    stored.length > 0 &&
    html`<p>It now says:</p><ul>${stored.map(({ label, value }) => html`<li>${label}: ${value === '' ? 'nothing' : value}</li>`)}</ul>`
  }<p class="buttons"><button name="over" value="${mark}">Save mine in its place</button> <a class="button" href="${page}">Take theirs</a></p></div>`
}
