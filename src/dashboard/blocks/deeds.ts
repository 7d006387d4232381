import type { BlockDocument } from '../../blocks/index.js'
import { auditOf } from '../../contract/index.js'
import type { EmailDeps } from '../../emails/index.js'
import { ApiError } from '../../errors/index.js'
import { check, ShapeError, structOf, table } from '../../fields/index.js'
import { type Form, formWith } from '../../http/index.js'
import * as pictures from '../../pictures/contract.js'
import { addPicture, picturePath } from '../../pictures/index.js'
import * as templates from '../../templates/contract.js'
import { findTemplate, putTemplate } from '../../templates/index.js'
import { pictureIn } from '../pictures/file.js'
import type { AuditedAction } from '../shell/answer.js'
import { checkedDocument, closedName, documentIn } from './form.js'

/*
 * Buttons of an editor of blocks that need more than what is typed: a picture that is uploaded into its card, blocks that are kept
 * as a template, and a template's blocks that are put at the end. What they come to is shown in the form, which stays as it is typed.
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

/** Stores the file of a picture's card (`upload:3`), or keeps blocks as a template (`keep:`). Throws a 422 beside its field. */
export async function storeDeed(
  deps: BlockDeedDeps,
  accountId: string,
  fields: Form,
): Promise<StoredDeed> {
  const [, place] = /^upload:([\d.]{1,12})$/.exec(fields.get('do') ?? '') ?? []
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
    throw besideField(field, error.message.replace(/^file: /, ''))
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
  const { keepAs: slug } = check({ keepAs: fields.get('keepAs') }, KeptName)
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

/** The form with the blocks of a template behind its own, where a button asks for that (`insert:`). Throws a 404. */
export async function withInserted(
  { store }: Pick<BlockDeedDeps, 'store'>,
  accountId: string,
  fields: Form,
): Promise<Form> {
  const slug = fields.get('insertFrom') ?? ''
  if (fields.get('do') !== 'insert:' || slug === '') return fields
  const { blocks } = await findTemplate(store.read, accountId, slug)
  const at = documentIn(fields)?.blocks.length ?? 0
  const added = (blocks?.blocks ?? []).flatMap((block, n): [string, string][] => [
    [`b.${at + n}.type`, block.type],
    [`b.${at + n}.${closedName}`, JSON.stringify(block)],
  ])
  return formWith(fields, new Map(added))
}
