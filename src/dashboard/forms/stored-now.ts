import type { SignupForm } from '../../forms/index.js'
import type { Form } from '../../http/index.js'
import { markOf, type StoredNow } from '../shell/stale.js'
import { type FieldRow, isAsked, rowsTyped } from './form-fields.js'

/** Of what the form about a form is filled with. */
export const markOfForm = ({ name, settings }: SignupForm): string => markOf([name, settings])

const yesNo = (is: boolean): string => (is ? 'yes' : 'no')

/** What is stored of a form otherwise than it was sent. `names`: of lists and topics, by id. */
export function storedNow(
  { name, settings }: SignupForm,
  sent: Form,
  rows: readonly FieldRow[],
  names: ReadonlyMap<string, string>,
): StoredNow[] {
  const named = (ids: readonly string[]) =>
    ids.map((id) => names.get(id) ?? 'one that is deleted').sort()
  const text = (field: string) => (sent.get(field) ?? '').trim()
  const ticked = (field: string) => yesNo(sent.get(field) !== undefined)
  const asked = (all: readonly FieldRow[]) => all.filter(isAsked).map(({ label }) => label)
  const list = (all: readonly string[]) => all.join(', ')
  const both: readonly (readonly [label: string, stored: string, typed: string])[] = [
    ['Name', name, text('name')],
    ['What they agree to', settings.consent, text('consent')],
    ['Lists', list(named(settings.lists)), list(named(sent.all('lists')))],
    ['Topics to choose from', list(named(settings.topics)), list(named(sent.all('topics')))],
    ['Questions', list(asked(rows)), list(asked(rowsTyped(sent)))],
    ['Sender of the confirmation', settings.from, text('from')],
    ['Page after the confirmation', settings.thanksUrl, text('thanksUrl')],
    ['People confirm by mail', yesNo(settings.doubleOptIn), ticked('doubleOptIn')],
    ['The link confirms at once', yesNo(settings.confirmAtOnce), ticked('confirmAtOnce')],
    ['A reminder', yesNo(settings.reminder), ticked('reminder')],
    ['Pages may send it in by script', yesNo(settings.api === 'open'), ticked('open')],
  ]
  return both
    .filter(([, stored, typed]) => stored !== typed)
    .map(([label, value]) => ({ label, value }))
}
