import { shownBytes, shownCount } from '../../amounts/index.js'
import { type Broadcast, filesOf, findBroadcastDetail } from '../../broadcasts/index.js'
import { attachmentsOf } from '../../contents/index.js'
import { ApiError } from '../../errors/index.js'
import type { Form, FormFile } from '../../http/index.js'
import type { Read } from '../../store/index.js'
import type { Faults } from '../shell/faults.js'
import { field } from '../shell/field.js'
import { type Html, html } from '../shell/html.js'
import type { CampaignPageDeps } from './deps.js'

/** The files of a draft, which stand beside its form and are sent with it: whatever is typed meanwhile is kept. */
export async function filesPart(
  { store, attachments: { maxBytes } }: FilesDeps,
  draft: Broadcast,
  faults: Faults,
): Promise<Html> {
  const files = await carriedBy(store.read, draft)
  return html`<section class="card" id="files">
  <h2>Files</h2>
  <p>Each mail carries them. ${limitWords(maxBytes)}</p>
  ${
    files.length > 0 &&
    html`<ul>${files.map(
      ({ filename, sizeBytes }, at) =>
        html`<li>${filename} <span class="quiet">${shownCount(Math.ceil(sizeBytes / 1_024))} KB</span> <button form="editor" name="next" value="unfile:${at}" aria-label="Save and remove ${filename}">Save and remove</button></li>`,
    )}</ul>`
  }
  ${field({ form: 'editor', name: 'file', label: 'Add files', type: 'file', multiple: true, required: false, faults })}
  <button form="editor" name="next" value="files" formenctype="multipart/form-data">Save and add</button>
</section>`
}

type FilesDeps = Pick<CampaignPageDeps, 'store' | 'attachments'>

async function carriedBy(read: Read, { account_id, id }: Broadcast) {
  const { attachments } = await findBroadcastDetail(read, account_id, id)
  return attachmentsOf(attachments) ?? []
}

const limitWords = (maxBytes: number) =>
  `All of them together have at most ${shownBytes(maxBytes)}: put larger ones on your site, and a link into the mail.`

/**
 * The files of a draft after the button that was pressed, as the API takes them: `files` adds those that were chosen,
 * `unfile:2` takes one away. Undefined where another was pressed. Throws a 422 beside the field.
 */
export async function filesAfter(
  { store, attachments: { maxBytes } }: FilesDeps,
  draft: Broadcast,
  fields: Form,
): Promise<object[] | undefined> {
  const pressed = fields.get('next') ?? ''
  const [, place] = /^unfile:(\d{1,2})$/.exec(pressed) ?? []
  if (pressed !== 'files' && place === undefined) return undefined
  const before = await filesOf(store.read, draft)
  if (place !== undefined) return before.filter((_, at) => at !== Number(place))
  const chosen = fields.files('file').filter(({ bytes }) => bytes.length > 0)
  if (chosen.length === 0) throw refused('Choose a file')
  const kept = (await carriedBy(store.read, draft)).map(({ sizeBytes }) => sizeBytes)
  const sizes = [...kept, ...chosen.map(({ bytes }) => bytes.length)]
  if (sizes.reduce((sum, size) => sum + size, 0) > maxBytes) throw refused(limitWords(maxBytes))
  return [...before, ...chosen.map(asGiven)]
}

/** What a form may have beside what is typed, as its browser sends it. */
export const maxFilesBytes = ({ attachments }: Pick<FilesDeps, 'attachments'>): number =>
  attachments.maxBytes + aroundBytes
// What a form has around its files.
const aroundBytes = 64 * 1024

const asGiven = ({ filename, contentType, bytes }: FormFile) => ({
  filename: filename.split(/[/\\]/).at(-1) || 'file',
  content: bytes.toString('base64'),
  ...(contentType !== '' && { contentType }),
})

const refused = (message: string) =>
  new ApiError('validation_error', message, { status: 422, fields: { field: 'file' } })
