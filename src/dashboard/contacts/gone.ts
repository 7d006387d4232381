import type { Form } from '../../http/index.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { noFaults } from '../shell/faults.js'
import type { Visit } from '../shell/visit.js'

/** What somebody typed into the page of a person whom another one has deleted meanwhile. */
interface GoneView {
  base: string
  typed: { label: string; value: string }[]
  /** Where they are added again; undefined: the form does not say who they were. */
  addHref: string | undefined
}

/** In the place of a person's page: nothing was saved, and nothing that was typed is lost. */
export function showGone({ base, fields }: Visit): PageAnswer {
  const email = fields.get('whose')
  const view: GoneView = {
    base,
    typed: typedIn(fields),
    addHref: email && `${base}/contacts/new?${new URLSearchParams({ email })}`,
  }
  const message = 'Nothing was saved: somebody has deleted this contact meanwhile'
  const look = { title: 'This contact is gone', status: 404, faults: { ...noFaults, message } }
  return page('contacts/gone', view, look)
}

const labels = { firstName: 'First name', lastName: 'Last name', phone: 'Phone', note: 'Note' }

function typedIn(fields: Form): GoneView['typed'] {
  const values = fields.all('value')
  const before = fields.all('was')
  const own = fields
    .all('key')
    .map((label, at) => ({ label, value: values[at] ?? '', was: before[at] }))
  const others = Object.entries(labels).map(([name, label]) => ({
    label,
    value: fields.get(name) ?? '',
    was: fields.get(`was${name.charAt(0).toUpperCase()}${name.slice(1)}`),
  }))
  const added = { label: fields.get('newKey') ?? '', value: fields.get('newValue') ?? '', was: '' }
  return [...others, ...own, added].filter(({ value, was = '' }) => value !== '' && value !== was)
}
