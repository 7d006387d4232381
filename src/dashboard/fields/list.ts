import { isFieldName, isFreeName, listContactFields } from '../../contact-fields/index.js'
import { fieldsInUse } from '../../contacts/index.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Visit } from '../shell/visit.js'
import type { FieldPageDeps } from './deps.js'
import { typeWords } from './words.js'

/** The fields of contacts, in the order in which people see them. */
interface FieldsView {
  base: string
  accountId: string
  mayWrite: boolean
  fields: {
    page: string
    label: string
    name: string
    type: string
    mayEdit: boolean
    isFirst: boolean
    isLast: boolean
  }[]
  /** What contacts have and nobody has described. */
  others: { name: string; href: string | undefined }[]
  /** Where the preference centre is shown in a frame; undefined: recipients may change nothing. */
  centre: string | undefined
}

/** All fields of an account: nobody has more than a page has room for. */
export async function listPage(
  { store: { read } }: FieldPageDeps,
  visit: Visit,
): Promise<PageAnswer> {
  const { account, base } = visit
  const fields = await listContactFields(read, account.id)
  const described = new Set(fields.map(({ name }) => name))
  const used = await fieldsInUse(read, account.id)
  const view: FieldsView = {
    base,
    accountId: account.id,
    mayWrite: visit.may('contacts.write'),
    fields: fields.map(({ id, label, name, type, recipientsMayEdit }, at) => ({
      page: `${base}/fields/${id}`,
      label,
      name,
      type: typeWords[type],
      mayEdit: recipientsMayEdit,
      isFirst: at === 0,
      isLast: at === fields.length - 1,
    })),
    others: used
      .filter((name) => !described.has(name))
      .map((name) => ({
        name,
        href:
          isFieldName(name) && isFreeName(name)
            ? `${base}/fields/new?${new URLSearchParams({ name })}`
            : undefined,
      })),
    centre: fields.some((one) => one.recipientsMayEdit) ? `${base}/topics/-/centre` : undefined,
  }
  return page('fields/list', view, { title: 'Fields' })
}
