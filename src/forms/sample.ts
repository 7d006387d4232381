import { accountFace, brandOf, languageOf, logoById } from '../accounts/index.js'
import { alone } from '../preferences/index.js'
import type { Read } from '../store/index.js'
import { type FormSettings, listForms, usualSettings } from './form.js'
import { hostedView } from './hosted.js'
import { renderHosted } from './view.js'
import { wordsIn } from './words/index.js'

const someForm = { publicId: '-', accountId: '' }

/** An account's newest form as its page shows it, or an example of one; a document that may load nothing else. */
export async function sampleForm(read: Read, accountId: string): Promise<string | undefined> {
  const face = await accountFace(read, accountId)
  if (face === undefined) return undefined
  const language = languageOf(face.language)
  const [newest] = (await listForms(read, accountId)).filter(
    ({ archivedAt }) => archivedAt === null,
  )
  const settings: FormSettings = newest?.settings ?? {
    ...usualSettings,
    lists: [],
    language,
    consent: wordsIn[language].confirm.line(face.name),
    fields: [
      { name: 'firstName', label: wordsIn[language].firstName, type: 'text', required: false },
    ],
  }
  const brand = await brandOf(read, accountId)
  const form = { ...someForm, accountId, settings }
  const view = await hostedView(read, form, { brand, face, again: undefined })
  const html = renderHosted({ ...view, stamp: '', work: undefined })
  const logo = face.logoId === null ? undefined : await logoById(read, face.logoId)
  return alone(html, logo)
}
