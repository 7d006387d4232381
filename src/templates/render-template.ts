import { ApiError } from '../errors/index.js'
import { numberFault } from '../json/index.js'
import { copyTags, previewed } from './copy-tags.js'
import { maxSourceBytes } from './draft.js'
import {
  limitFault,
  type Rendered,
  type RenderJob,
  type RenderOutcome,
  type TemplateFault,
} from './job.js'
import type { Renderer } from './renderer.js'
import type { Template, TemplateDraft } from './template.js'

const maxVariableBytes = 256 * 1024

export interface RenderInput {
  /** Replaces the template's subject; it may have Liquid too. */
  subject?: string | undefined
  /** Liquid for the text part of a template that has none. */
  text?: string | undefined
  variables: Readonly<Record<string, unknown>>
  /**
   * The tags that are filled in for each copy of marketing mail: `kept` keeps their places, `shown` shows them as
   * tags, as in a preview. Undefined: the mail has no such tags, and such a variable is missing like any other.
   */
  copyTags?: 'kept' | 'shown' | undefined
}

/**
 * Fills in a template. Throws 422 `validation_error` for anything in template or variables that does not render,
 * naming a missing variable, and 503 when the renderer has no room.
 */
export async function renderTemplate(
  renderer: Renderer,
  template: Template,
  input: RenderInput,
): Promise<Rendered> {
  const outcome = await tryRender(renderer, template, input)
  if (outcome.kind === 'failed') throw refusal(template.slug, outcome.fault)
  return outcome.rendered
}

/** Like `renderTemplate`, but a fault is a value that tells where it is. Throws only a 503. */
export async function tryRender(
  renderer: Renderer,
  template: Unsaved | Template,
  { subject, text, variables, copyTags: own }: RenderInput,
): Promise<Extract<RenderOutcome, { kind: 'rendered' | 'failed' }>> {
  const json = variablesJson(own === undefined ? variables : { ...copyTags, ...variables })
  if (typeof json !== 'string') return { kind: 'failed', fault: json }
  const inexact = numberFault('variables', variables)
  if (inexact !== undefined) {
    return { kind: 'failed', fault: { kind: 'render', part: null, message: inexact } }
  }
  const parts = sources(template)
  const given = text === undefined || parts.text !== null ? null : { key: null, liquid: text }
  if (given !== null && Buffer.byteLength(given.liquid) > maxSourceBytes) {
    const message = `the given text has more than ${maxSourceBytes} bytes`
    return { kind: 'failed', fault: { kind: 'limit', part: 'text', message } }
  }
  const outcome = await renderer.render({
    ...parts,
    ...(subject === undefined ? {} : { subject: { key: null, liquid: subject } }),
    text: parts.text ?? given,
    variables: json,
  })
  if (outcome.kind === 'unavailable') throw unavailable(outcome.cause)
  if (outcome.kind === 'parsed') throw new Error('Variables were given, but nothing was rendered')
  if (outcome.kind === 'failed' || own !== 'shown') return outcome
  return { kind: 'rendered', rendered: previewed(outcome.rendered) }
}

/** What is wrong with a draft's Liquid, if anything; throws 503 when the renderer has no room. */
export async function findSyntaxFault(
  renderer: Renderer,
  accountId: string,
  draft: TemplateDraft,
): Promise<TemplateFault | undefined> {
  const read = await readDraft(renderer, accountId, draft)
  return read.fault
}

/**
 * What is wrong with a draft's Liquid, or the paths of the variables that it names. Throws 503 when the
 * renderer has no room.
 */
export async function readDraft(
  renderer: Renderer,
  accountId: string,
  draft: Omit<TemplateDraft, 'slug'>,
): Promise<{ fault: TemplateFault | undefined; paths: string[] }> {
  const { subject, html, textBody = null } = draft
  const outcome = await renderer.render({
    ...sources({ accountId, subject, html, textBody, versionId: null }),
    variables: null,
  })
  if (outcome.kind === 'unavailable') throw unavailable(outcome.cause)
  if (outcome.kind === 'failed') return { fault: outcome.fault, paths: [] }
  return { fault: undefined, paths: outcome.kind === 'parsed' ? outcome.paths : [] }
}

/** A fault in one sentence: `what` has it (`Template "x"`), which fault, and where. */
export function describeFault(what: string, fault: TemplateFault): string {
  const { part, line, column } = fault
  const where = [part, ...(line === undefined ? [] : [`line ${line}`, `column ${column}`])]
  const place = part === null ? '' : ` (${where.join(', ')})`
  const verb = fault.kind === 'syntax' ? 'has a syntax error' : 'cannot be rendered'
  return `${what} ${verb}: ${fault.message}${place}`
}

/** The same for people: where the fault is, and what to write there. `where`: a place that the part does not tell. */
export function faultWords({ part, line, message }: TemplateFault, where?: string): string {
  const place = where ?? (part === null ? undefined : partNames[part])
  const isLong = part === 'html' || part === 'text'
  const at = [
    ...(place === undefined ? [] : [place]),
    ...(isLong && where === undefined && line !== undefined ? [`line ${line}`] : []),
  ].join(', ')
  const says = `${message.charAt(0).toUpperCase()}${message.slice(1)}`
  return `${at === '' ? says : `${at}: ${message}`}${/[.?!]$/.test(message) ? '' : '.'}`
}

const partNames = {
  subject: 'Subject',
  previewText: 'Preview text',
  html: 'HTML',
  text: 'Text',
} as const

/** A template that nobody has saved yet: nothing that was parsed from it is kept. */
export type Unsaved = Pick<Template, 'accountId' | 'subject' | 'html' | 'textBody'> & {
  versionId: string | null
}

function sources(template: Unsaved): Omit<RenderJob, 'variables'> {
  const key = template.versionId
  return {
    accountId: template.accountId,
    subject: { key, liquid: template.subject },
    html: { key, liquid: template.html },
    text: template.textBody ? { key, liquid: template.textBody } : null,
    strict: true,
  }
}

function variablesJson(variables: RenderInput['variables']): string | TemplateFault {
  let json: string
  try {
    json = JSON.stringify(variables)
  } catch {
    // Variables that came as JSON can be nested too deeply to become JSON again.
    return limitFault('its variables are nested too deeply')
  }
  if (json.length <= maxVariableBytes && Buffer.byteLength(json) <= maxVariableBytes) return json
  return limitFault(`its variables have more than ${maxVariableBytes} bytes`)
}

/** A 422 that says which part of the template does not render, and where. */
export const refusal = (slug: string, fault: TemplateFault, fields?: Record<string, unknown>) =>
  new ApiError('validation_error', describeFault(`Template "${slug}"`, fault), {
    status: 422,
    ...(fields === undefined ? {} : { fields }),
  })

/** A 503: there is no room to render now. */
export const unavailable = (cause: string) =>
  new ApiError('service_unavailable', `Templates cannot be rendered right now: ${cause}`, {
    headers: { 'retry-after': '5' },
  })
