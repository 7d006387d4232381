import { keepNewest } from '../../bounded/index.js'
import { maxSubjectBytes } from '../../emails/index.js'
import { ApiError } from '../../errors/index.js'
import type { JsonObject } from '../../json/index.js'
import { idsOf, prepared, type Read } from '../../store/index.js'
import {
  describeFault,
  emptySubject,
  findTemplate,
  type MergePiece,
  type MergeTag,
  mergeInto,
  mergePieces,
  type Renderer,
  subjectLine,
  type Template,
  withLinkTags,
} from '../../templates/index.js'
import type { SendConfig } from './definition.js'

/** The content of a send step, taken apart once for all its mails. */
export interface MailTemplate {
  template: Template
  /** Liquid: the step's own, or the template's. */
  subject: string
  /** Undefined: only the engine can fill it in. */
  pieces: { subject: MergePiece[]; tags: MergeTag[] } | undefined
}

/** A subject line, or why the mail cannot be made. */
export type FilledSubject = { subject: string; merged: string | null } | { fault: string }

// Templates that are kept, each with its text and its pieces; few are in use at the same time.
const maxKept = 200

/** Finds the templates of send steps; the newest version counts, or the one that the step pins. */
export function makeMailTemplates() {
  const kept = new Map<string, MailTemplate>()
  return async (
    read: Read,
    accountId: string,
    { template: slug, templateVersion, subject }: SendConfig,
  ): Promise<MailTemplate | undefined> => {
    const template = await findTemplate(read, accountId, slug, templateVersion).catch((error) => {
      if (error instanceof ApiError && error.code === 'not_found') return undefined
      throw error
    })
    if (template === undefined) return undefined
    const name = `${template.versionId} ${subject ?? ''}`
    const known = kept.get(name)
    if (known !== undefined) return known
    const made = taken(template, subject ?? template.subject)
    keepNewest(kept, name, made, maxKept)
    return made
  }
}

/**
 * A template that consists of text and plain variables is cut into pieces here and filled in by
 * this thread; anything else needs the renderer, which is a thread of its own because templates may
 * be hostile.
 */
function taken(template: Template, subject: string): MailTemplate {
  const sources = [subject, withLinkTags(template.html), template.textBody ?? '']
  const parts = sources.map(mergePieces)
  const [subjectPieces] = parts
  if (subjectPieces === undefined || parts.some((part) => part === undefined)) {
    return { template, subject, pieces: undefined }
  }
  const tags = parts.flatMap((part) => part ?? []).filter((piece) => typeof piece !== 'string')
  return { template, subject, pieces: { subject: subjectPieces, tags } }
}

/**
 * Fills in a template of plain variables. It tells a missing variable at the step, and not when the mail leaves.
 * Undefined: the template needs the engine (`render`).
 */
export function fillIn(
  { subject, pieces }: MailTemplate,
  variables: JsonObject,
): FilledSubject | undefined {
  if (pieces === undefined) return undefined
  const missing = pieces.tags.find((tag) => tag.required && !isThere(tag.path, variables))
  if (missing !== undefined) return { fault: `render: ${missing.path.join('.')} is missing` }
  const line = mergeInto(pieces.subject, variables)
  // Values that only the engine knows how to print.
  if (line === undefined || pieces.tags.some((tag) => isObject(at(tag.path, variables)))) {
    return undefined
  }
  return checked(
    { liquid: subject, line: subjectLine(line) },
    pieces.tags.length === 0 ? null : usedOf(pieces.tags, variables),
  )
}

/**
 * Fills in with the template engine what `fillIn` cannot; strict, as a send's template is. Rejects with a 503 when the
 * renderer has no room.
 */
export async function render(
  renderer: Renderer,
  { template, subject }: MailTemplate,
  variables: JsonObject,
): Promise<FilledSubject> {
  const { accountId, versionId: key, html, textBody } = template
  const json = JSON.stringify(variables)
  const outcome = await renderer.render({
    accountId,
    subject: { key: subject === template.subject ? key : null, liquid: subject },
    html: { key, liquid: html },
    text: textBody === null ? null : { key, liquid: textBody },
    variables: json,
    strict: true,
  })
  if (outcome.kind === 'unavailable') {
    throw new ApiError(
      'service_unavailable',
      `The template cannot be rendered right now: ${outcome.cause}`,
    )
  }
  if (outcome.kind === 'failed') {
    return { fault: `render: ${describeFault(`template "${template.slug}"`, outcome.fault)}` }
  }
  if (outcome.kind === 'parsed') throw new Error('Variables were given, but nothing was rendered')
  return checked({ liquid: subject, line: outcome.rendered.subject }, json)
}

/**
 * RFC 5322 §2.1.1 bounds a line at 998 octets, and a subject has no other line; an empty one is
 * nearly always a variable that was missing.
 */
function checked(
  { liquid, line }: { liquid: string; line: string },
  merged: string | null,
): FilledSubject {
  if (line === '') return { fault: `render: ${emptySubject(liquid)}` }
  if (Buffer.byteLength(line) > maxSubjectBytes) {
    return { fault: `render: the subject is longer than ${maxSubjectBytes} bytes` }
  }
  return { subject: line, merged }
}

/** Only the variables that the tags name: a million mails keep them until they have left. */
function usedOf(tags: readonly MergeTag[], variables: JsonObject): string {
  const used = Object.create(null) as Record<string, unknown>
  for (const { path } of tags) {
    const value = at(path, variables)
    if (value === undefined) continue
    let inside = used
    for (const name of path.slice(0, -1)) {
      const next = inside[name]
      const deeper = isObject(next) ? next : (Object.create(null) as Record<string, unknown>)
      inside[name] = deeper
      inside = deeper
    }
    inside[path.at(-1) ?? ''] = value
  }
  return JSON.stringify(used)
}

/** Whether it has named values inside; an array too. */
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** Own properties only: a variable named `constructor` must not reach into JavaScript's objects. */
function at(path: readonly string[], variables: JsonObject): unknown {
  let value: unknown = variables
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

// For Liquid null is there and empty: a contact without a first name has null.
const isThere = (path: readonly string[], variables: JsonObject) =>
  at(path, variables) !== undefined

/** The bodies that versions have already, by the version's id. */
export async function bodiesOf(
  read: Read,
  versionIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await bodiesAmong(read, { ids: JSON.stringify(versionIds) })
  return new Map(rows.flatMap(({ id, bodyId }) => (bodyId === null ? [] : [[id, bodyId] as const])))
}

/** A version of a template is stored once as a body and shared by all mails that are made of it. */
const bodiesAmong = prepared<{ ids: string }, { id: string; bodyId: number | null }>(
  (db, { ids }) =>
    db
      .selectFrom('template_versions')
      .select(['id', 'body_id as bodyId'])
      .where('id', 'in', idsOf(ids, 'text')),
)
