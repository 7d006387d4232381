import type { BodyOf } from '../contract/index.js'
import type { Tx } from '../store/index.js'
import type { updateTemplate } from './contract.js'
import { checkDraft } from './draft.js'
import { findSyntaxFault, refusal } from './render-template.js'
import type { Renderer } from './renderer.js'
import {
  findTemplate,
  refuseNew,
  type SaveDeps,
  type SaveOptions,
  saveNext,
  type Template,
  type TemplateDraft,
} from './template.js'

/** What is to be changed of a template; an empty text takes the text part away. */
type TemplateChanges = BodyOf<typeof updateTemplate>

/** Saves a template's next version, if its shape is right and its syntax too; otherwise 422. */
export async function putTemplate(
  deps: SaveDeps & { renderer: Renderer },
  accountId: string,
  draft: TemplateDraft,
  options: SaveOptions = {},
): Promise<Template> {
  checkDraft(draft)
  const { plans, store } = deps
  // Before it is parsed, which takes longer than all else.
  if (plans !== undefined) await refuseNew(store.read, plans, accountId, draft.slug)
  await refuseFaulty(deps.renderer, accountId, draft)
  return saveNext(deps, accountId, async () => draft, options)
}

/**
 * Saves a template's next version, in which what is not given is as in the version before; 422 as above,
 * 404 for what is no template. Decided inside the write: of two who change a part each, both parts change.
 */
export async function changeTemplate(
  deps: SaveDeps & { renderer: Renderer },
  accountId: string,
  slug: string,
  changes: TemplateChanges,
): Promise<Template> {
  // Each part is parsed for itself, so what is right beside these parts is so beside others.
  const before = await findTemplate(deps.store.read, accountId, slug)
  await refuseFaulty(deps.renderer, accountId, withChanges(before, changes))
  return saveNext(deps, accountId, async (tx) =>
    withChanges(await findTemplate(tx, accountId, slug), changes),
  )
}

/** Saves a version of a template again, as its next one. Throws a 404. */
export async function restoreVersion(
  deps: SaveDeps,
  accountId: string,
  slug: string,
  version: number,
  alongside: (tx: Tx, saved: Template) => Promise<void> = async () => {},
): Promise<Template> {
  const draft = (tx: Tx) => findTemplate(tx, accountId, slug, version)
  return saveNext(deps, accountId, draft, { alongside })
}

const withChanges = (
  { slug, ...before }: Template,
  { subject, html, textBody }: TemplateChanges,
): TemplateDraft => ({
  slug,
  subject: subject ?? before.subject,
  html: html ?? before.html,
  textBody: textBody ?? before.textBody,
})

async function refuseFaulty(renderer: Renderer, accountId: string, draft: TemplateDraft) {
  checkDraft(draft)
  const fault = await findSyntaxFault(renderer, accountId, draft)
  if (fault === undefined) return
  const { part, line, column } = fault
  throw refusal(draft.slug, fault, { part, ...(line === undefined ? {} : { line, column }) })
}
