import { isoTime } from '../clock/index.js'
import type { Read } from '../store/index.js'
import { type ContactField, listContactFields } from './contact-field.js'

/** An account's fields, as the API and the command show them. */
export async function contactFieldsAnswer(read: Read, accountId: string) {
  return { fields: (await listContactFields(read, accountId)).map(shownContactField) }
}

export const shownContactField = ({ createdAt, ...field }: ContactField) => ({
  ...field,
  createdAt: isoTime(createdAt),
})

export const deletedContactField = {
  message: 'Field deleted; what contacts have in it stays in their metadata',
}
