import { refuseTemplateInUse } from '../../automations/index.js'
import type { BlockDocument } from '../../blocks/index.js'
import { auditOf } from '../../contract/index.js'
import type { EmailDeps } from '../../emails/index.js'
import { ApiError } from '../../errors/index.js'
import { check, ShapeError, structOf, table } from '../../fields/index.js'
import { type Form, formWith } from '../../http/index.js'
import * as pictures from '../../pictures/contract.js'
import { addPicture, picturePath } from '../../pictures/index.js'
import type { Read } from '../../store/index.js'
import * as templates from '../../templates/contract.js'
import { deleteTemplate, findTemplate, putTemplate, renameTemplate } from '../../templates/index.js'
import { pictureIn } from '../pictures/file.js'
import type { AuditedAction } from '../shell/answer.js'
import { checkedDocument, closedName, documentIn } from './form.js'
import { keptName, slugOf } from './kept-name.js'
import { withRoom } from './removed-card.js'

/*
 * Buttons of an editor of blocks that need more than what is typed: a picture that is uploaded into its card, blocks that are kept
 * as a template, which is renamed or removed there, and a template's blocks that are put in at a place. What they come to is shown in the form, which stays as it is typed.
 */

/** What these buttons need. */
export interface BlockDeedDeps extends Pick<EmailDeps, 'store' | 'clock' | 'plans' | 'renderer'> {
  publicUrl: string
}

/** The form after what a button has stored, and what the audit log keeps of it. */
export interface StoredDeed {
  fields: Form
  audit: AuditedAction
}

/**
 * Stores the file of a picture's card (`upload:3`), keeps blocks as a template (`keep:`), or renames or removes one
 * that is kept (`rename:`, `remove:`). Throws a 422 beside its field.
 */
export async function storeDeed(
  deps: BlockDeedDeps,
  accountId: string,
  fields: Form,
): Promise<StoredDeed> {
  const pressed = fields.get('do') ?? ''
  if (pressed === 'rename:') return await renameKept(deps, accountId, fields)
  if (pressed === 'remove:') return await removeKept(deps, accountId, fields)
  const [, place] = /^upload:([\d.]{1,12})$/.exec(pressed) ?? []
  return place === undefined
    ? await keepBlocks(deps, accountId, fields)
    : await upload(deps, accountId, fields, place)
}

async function upload(
  deps: BlockDeedDeps,
  accountId: string,
  fields: Form,
  place: string,
): Promise<StoredDeed> {
  const field = `b.${place}.url`
  const given = fields.file(`file.${place}`)
  if (given === undefined || given.bytes.length === 0) {
    throw besideField(field, 'Choose a file first')
  }
  const { name, picture } = await toldBeside(field, () => pictureIn(given))
  const alt = (fields.get(`b.${place}.alt`) ?? '').slice(0, 500)
  const made = await addPicture(deps, accountId, { name, picture, alt })
  const url = `${deps.publicUrl}${picturePath(made)}`
  return {
    fields: formWith(fields, new Map([[field, url]])),
    audit: auditOf(pictures.addPicture, { target: made.id }),
  }
}

/** What is refused is told beside the field that it is of. */
async function toldBeside<T>(field: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    throw besideField(field, error.message)
  }
}

const besideField = (field: string, message: string) =>
  new ShapeError([{ code: 'invalid', expected: '', received: '', path: [field], message }])

const KeptName = structOf(table({ keepAs: templates.slug }))

async function keepBlocks(
  deps: BlockDeedDeps,
  accountId: string,
  fields: Form,
): Promise<StoredDeed> {
  const { blocks, rest } = documentIn(fields) ?? { blocks: [], rest: {} }
  const which = fields.get('keepWhich') ?? ''
  const chosen = which === '' ? blocks : blocks.filter((_, at) => String(at) === which)
  const { keepAs: slug } = check({ keepAs: slugOf(fields.get('keepAs')) }, KeptName)
  const document: BlockDocument = checkedDocument({ blocks: chosen, rest })
  const subject = fields.get('subject')?.trim() || slug
  const kept = { slug, subject, textBody: null, blocks: document }
  const saved = await toldBeside('keepAs', () =>
    putTemplate(deps, accountId, kept, { isNew: true }),
  )
  return {
    fields: formWith(
      fields,
      new Map([
        ['keptAs', saved.slug],
        ['keepAs', ''],
      ]),
    ),
    audit: auditOf(templates.createTemplate, { target: saved.slug }),
  }
}

const NewName = structOf(table({ renameTo: templates.slug }))

async function renameKept(
  { store }: Pick<BlockDeedDeps, 'store'>,
  accountId: string,
  fields: Form,
): Promise<StoredDeed> {
  const slug = fields.get('insertFrom') ?? ''
  const { renameTo } = check({ renameTo: slugOf(fields.get('renameTo')) }, NewName)
  await keptBlocks(store.read, accountId, slug)
  await toldBeside('renameTo', async () => {
    await refuseTemplateInUse(store.read, accountId, slug)
    await renameTemplate({ store }, accountId, slug, renameTo)
  })
  const after = { keptAs: renameTo, renameTo: '' }
  return {
    fields: formWith(fields, new Map(Object.entries(after))),
    audit: auditOf(templates.updateTemplate, { target: renameTo, detail: { renamed: slug } }),
  }
}

async function removeKept(
  { store }: Pick<BlockDeedDeps, 'store'>,
  accountId: string,
  fields: Form,
): Promise<StoredDeed> {
  const slug = fields.get('insertFrom') ?? ''
  await keptBlocks(store.read, accountId, slug)
  await toldBeside('renameTo', async () => {
    await refuseTemplateInUse(store.read, accountId, slug)
    await deleteTemplate({ store }, accountId, slug)
  })
  return {
    fields: formWith(fields, new Map([['keptGone', slug]])),
    audit: auditOf(templates.deleteTemplate, { target: slug }),
  }
}

/** What is chosen among those that are kept: somebody may have taken it away since the page was shown. */
async function keptBlocks(read: Read, accountId: string, slug: string) {
  try {
    const { blocks } = await findTemplate(read, accountId, slug)
    return blocks?.blocks ?? []
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'not_found') throw error
    const gone = `“${keptName(slug)}” is not kept any more: somebody has renamed or removed it. Choose another`
    throw besideField('insertFrom', gone)
  }
}

/**
 * The form with the blocks of a template among its own, where a button asks for that (`insert:`): behind the block
 * whose number `insertAt` has, -1 for none, else at the end. Throws a 422 beside its field where nobody
 * keeps it any more.
 */
export async function withInserted(
  { store }: Pick<BlockDeedDeps, 'store'>,
  accountId: string,
  fields: Form,
): Promise<Form> {
  const slug = fields.get('insertFrom') ?? ''
  if (fields.get('do') !== 'insert:' || slug === '') return fields
  const given = await keptBlocks(store.read, accountId, slug)
  const end = documentIn(fields)?.blocks.length ?? 0
  const asked = fields.get('insertAt') ?? ''
  const at = /^(-1|\d{1,3})$/.test(asked) ? Math.min(Number(asked) + 1, end) : end
  const moved = withRoom(fields, { list: '', at, count: given.length })
  const added = given.flatMap((block, n): [string, string][] => [
    [`b.${at + n}.type`, block.type],
    [`b.${at + n}.${closedName}`, JSON.stringify(block)],
  ])
  const gone = fields
    .get('gone')
    ?.replace(/^\d+/, (n) => String(Number(n) < at ? n : Number(n) + given.length))
  const after: [string, string][] = [
    ['insertedAt', String(at)],
    ['open', String(at)],
    ...(gone === undefined ? [] : [['gone', gone] as [string, string]]),
  ]
  return formWith(moved, new Map([...added, ...after]))
}
