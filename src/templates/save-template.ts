import type { BodyOf } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import type { Tx } from '../store/index.js'
import { compileBlocks } from './compile.js'
import type { updateTemplate } from './contract.js'
import { checkDraft } from './draft.js'
import { faultyBlocks } from './faulty-block.js'
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

/** The changes to a template; an empty text removes the text part. */
type TemplateChanges = BodyOf<typeof updateTemplate>

/** What is saved: HTML, or the blocks that it is made of. */
export type NewTemplate = Omit<TemplateDraft, 'html'> & { html?: string | undefined }

/** Saves a template's next version, if its shape is right and its syntax too; otherwise 422. */
export async function putTemplate(
  deps: SaveDeps & { renderer: Renderer },
  accountId: string,
  given: NewTemplate,
  options: SaveOptions = {},
): Promise<Template> {
  const { plans, store } = deps
  // Checked before parsing, which takes longer than everything else.
  checkDraft({ ...given, html: given.html ?? '-' })
  if (plans !== undefined) await refuseNew(store.read, plans, accountId, given.slug)
  const draft = { ...given, ...(await contentOf(deps, accountId, given)) }
  await refuseFaulty(deps.renderer, accountId, draft)
  return saveNext(deps, accountId, async () => draft, options)
}

/**
 * Saves a template's next version, in which parts that are not given stay as before; 422 as above, 404 where there is
 * no such template. Decided inside the write, so that when two people change a part each, both parts change.
 */
export async function changeTemplate(
  deps: SaveDeps & { renderer: Renderer },
  accountId: string,
  slug: string,
  changes: TemplateChanges,
): Promise<Template> {
  // Each part is parsed by itself, so a part that is right beside these parts is right beside others.
  const before = await findTemplate(deps.store.read, accountId, slug)
  const content =
    changes.html === undefined && changes.blocks === undefined
      ? undefined
      : await contentOf(deps, accountId, changes)
  await refuseFaulty(deps.renderer, accountId, withChanges(before, changes, content))
  return saveNext(deps, accountId, async (tx) =>
    withChanges(await findTemplate(tx, accountId, slug), changes, content),
  )
}

type TemplateContent = Pick<Template, 'html' | 'blocks'>

/** The HTML, and the blocks that it was made from; a save of HTML drops the blocks. Throws a 422. */
async function contentOf(
  deps: Pick<SaveDeps, 'store'> & { renderer: Renderer },
  accountId: string,
  { html, blocks }: Pick<NewTemplate, 'html' | 'blocks'>,
): Promise<TemplateContent> {
  if (blocks === undefined || blocks === null) {
    if (html !== undefined) return { html, blocks: null }
    throw new ApiError('validation_error', 'A template needs html or blocks', {
      status: 422,
      fields: { field: 'html' },
    })
  }
  return { html: await compileBlocks(deps, accountId, blocks), blocks }
}

/** Saves an older version of a template again, as its next one. Throws a 404. */
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
  { subject, textBody }: TemplateChanges,
  content: TemplateContent = before,
): TemplateDraft => ({
  slug,
  subject: subject ?? before.subject,
  html: content.html,
  blocks: content.blocks,
  textBody: textBody ?? before.textBody,
})

async function refuseFaulty(renderer: Renderer, accountId: string, draft: TemplateDraft) {
  checkDraft(draft)
  const fault = await findSyntaxFault(renderer, accountId, draft)
  if (fault === undefined) return
  const { part, line, column } = fault
  const of = { fault, variables: null }
  const [at] = draft.blocks ? await faultyBlocks(renderer, accountId, draft.blocks, of) : []
  if (at !== undefined) {
    const fields = { part, field: at.field }
    const slips = [{ field: at.field, says: at.says }]
    throw new ApiError('validation_error', at.message, { status: 422, fields, slips })
  }
  throw refusal(draft.slug, fault, { part, ...(line === undefined ? {} : { line, column }) })
}
