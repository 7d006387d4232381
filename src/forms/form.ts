import { randomBytes } from 'node:crypto'
import type { Clock } from '../clock/index.js'
import {
  type ContactField,
  type FieldType,
  isNameField,
  listContactFields,
} from '../contact-fields/index.js'
import { requireList } from '../contacts/index.js'
import type { BodyOf } from '../contract/index.js'
import { ApiError, refuseWrong, type WrongField } from '../errors/index.js'
import { parseMailbox } from '../mime/index.js'
import { type FormRow, type Read, type Store, storedObject, type Tx } from '../store/index.js'
import { findTopic } from '../topics/index.js'
import type * as operations from './contract.js'

/** What a form asks, and what it does with the answers; stored as JSON. */
export interface FormSettings
  extends Required<Omit<BodyOf<typeof operations.createForm>, 'name' | 'acceptRisk' | 'fields'>> {
  fields: AskedField[]
}

/** What a form asks for beside the address. */
export interface AskedField {
  name: string
  label: string
  type: FieldType
  required: boolean
  choices?: readonly string[] | undefined
}

/** A form by which people ask for an account's mail. */
export interface SignupForm {
  id: string
  accountId: string
  publicId: string
  name: string
  /** `hand`: the form has no page; by it the account asks people whom it adds itself (`by-hand.ts`). */
  kind: 'page' | 'hand'
  settings: FormSettings
  /** The version of the consent text. */
  version: number
  archivedAt: number | null
  carefulAt: number | null
  stoppedAt: number | null
  shown: number
  sentIn: number
  confirmed: number
  heldBack: number
  createdAt: number
}

interface FormDeps {
  store: Store
  clock: Clock
}

export const maxForms = 100

export const usualSettings: Omit<FormSettings, 'lists' | 'consent'> = {
  topics: [],
  fields: [],
  language: 'en',
  from: '',
  thanksUrl: '',
  doubleOptIn: true,
  reminder: false,
  keepAddress: 'shortened',
  confirmAtOnce: false,
  api: 'key',
  origins: [],
}

/** Throws a 422 for a list or topic that the account does not have, a 403 where it has as many forms as it may. */
export async function createForm(
  { store, clock }: FormDeps,
  accountId: string,
  { name, acceptRisk, fields = [], ...given }: BodyOf<typeof operations.createForm>,
  alongside: (tx: Tx, form: SignupForm) => Promise<void> = async () => {},
): Promise<SignupForm> {
  const asked = askedFields(fields, await listContactFields(store.read, accountId))
  const settings: FormSettings = { ...usualSettings, ...given, fields: asked }
  checkForm(settings, acceptRisk)
  const row = {
    id: store.ids.uuid(),
    account_id: accountId,
    public_id: randomBytes(12).toString('base64url'),
    name: name.trim(),
    settings: JSON.stringify(settings),
    version: 1,
    archived_at: null,
    careful_at: null,
    stopped_at: null,
    created_at: clock.now(),
  }
  return await store.write(async (tx) => {
    await refuseForeign(tx, accountId, settings)
    if ((await listForms(tx, accountId)).length >= maxForms) {
      throw new ApiError(
        'plan_limit_exceeded',
        `The account has ${maxForms} forms, and may have no more`,
      )
    }
    await tx.insertInto('forms').values(row).execute()
    const form = await findForm(tx, accountId, row.id)
    await alongside(tx, form)
    return form
  })
}

/**
 * Changes what is given; a changed consent text gets a new version. Throws a 404, and whatever `check` throws about the
 * stored form.
 */
export async function updateForm(
  { store, clock }: FormDeps,
  accountId: string,
  id: string,
  { name, archived, acceptRisk, fields, ...given }: BodyOf<typeof operations.updateForm>,
  check: (before: SignupForm) => void = () => {},
): Promise<SignupForm> {
  return await store.write(async (tx) => {
    const form = await pageForm(tx, accountId, id)
    check(form)
    const own = fields && (await listContactFields(tx, accountId))
    const asked = own && askedFields(fields, own)
    const changes = Object.entries({ ...given, fields: asked }).filter(
      ([, value]) => value !== undefined,
    )
    const settings: FormSettings = { ...form.settings, ...Object.fromEntries(changes) }
    if (changes.length > 0) {
      checkForm(settings, acceptRisk ?? !form.settings.doubleOptIn)
      await refuseForeign(tx, accountId, settings, form.settings)
    }
    const isNewText = settings.consent !== form.settings.consent
    const archivedAt = archived ? (form.archivedAt ?? clock.now()) : null
    await tx
      .updateTable('forms')
      .set({
        settings: JSON.stringify(settings),
        version: form.version + (isNewText ? 1 : 0),
        ...(name !== undefined && { name: name.trim() }),
        ...(archived !== undefined && { archived_at: archivedAt }),
      })
      .where('id', '=', form.id)
      .execute()
    return await findForm(tx, accountId, form.id)
  })
}

/**
 * Lets a form go on: one that has stopped as a careful one, as the same visitors may still be there, and a careful one
 * as any. Throws a 404.
 */
export async function resumeForm(
  { store, clock }: FormDeps,
  accountId: string,
  id: string,
): Promise<SignupForm> {
  return await store.write(async (tx) => {
    const form = await findForm(tx, accountId, id)
    const carefulAt = form.stoppedAt === null ? null : clock.now()
    const changed = { careful_at: carefulAt, stopped_at: null }
    await tx.updateTable('forms').set(changed).where('id', '=', form.id).execute()
    // Mails that came back earlier must not stop it again.
    await tx.deleteFrom('form_days').where('form_id', '=', form.id).execute()
    return { ...form, carefulAt, stoppedAt: null }
  })
}

const wrongField = (field: string, message: string) =>
  new ApiError('validation_error', message, { status: 422, fields: { field } })

const namesAsked: Readonly<Record<string, string>> = {
  firstName: 'First name',
  lastName: 'Last name',
}

/** The questions, with the account's description of a field where the form has none. Throws a 422. */
function askedFields(
  given: NonNullable<BodyOf<typeof operations.createForm>['fields']>,
  described: readonly ContactField[],
): AskedField[] {
  return given.map(({ name, required = false, ...said }) => {
    const known = described.find((one) => one.name === name)
    const type = said.type ?? known?.type ?? (isNameField(name) ? 'text' : undefined)
    const label = said.label ?? known?.label ?? namesAsked[name]
    if (type === undefined || label === undefined) {
      const message = `The field ${name} is described nowhere: give it a label and a type`
      throw wrongField('fields', message)
    }
    const choices = said.choices ?? (type === 'choice' ? known?.choices : undefined)
    return { name, label, type, required, ...(choices !== undefined && { choices }) }
  })
}

type Question = Pick<AskedField, 'name' | 'choices'> & { type?: FieldType }

interface CheckedSettings extends Pick<FormSettings, 'thanksUrl' | 'doubleOptIn' | 'from'> {
  fields: readonly Question[]
}

/** Throws one 422 with everything that is wrong with the settings of a form. */
export function checkForm(
  { fields, thanksUrl, doubleOptIn, from }: CheckedSettings,
  acceptRisk = false,
): void {
  const found = wrongQuestions(fields)
  if (thanksUrl !== '' && !isHttps(thanksUrl)) {
    const says = 'Write an address that begins with https://'
    found.push({ field: 'thanksUrl', message: 'thanksUrl is no https address', says })
  }
  if (from !== '' && parseMailbox(from) === undefined) {
    const says = 'Write an address such as news@example.com'
    found.push({ field: 'from', message: 'from is no sender', says })
  }
  if (!doubleOptIn && !acceptRisk) {
    found.push({
      field: 'acceptRisk',
      message:
        'Without a confirmation anybody can sign up anybody: say acceptRisk if you accept complaints and laws that want a proof',
      says: 'Without a confirmation anybody can sign up anybody: have people confirm, or tick that you accept it',
    })
  }
  refuseWrong(found)
}

/** What is wrong with the questions, each fault at its place: names that occur twice, and choices without options. */
function wrongQuestions(fields: readonly Question[]): WrongField[] {
  const twice: WrongField[] = []
  const empty: WrongField[] = []
  const names = new Set<string>()
  for (const [at, { name, type, choices = [] }] of fields.entries()) {
    if (names.has(name)) {
      const says = 'Another question asks for this already'
      const message = 'Two fields have the same name'
      twice.push({ field: 'fields', message, says, at: `fields.${at}.name` })
    }
    names.add(name)
    if (type !== 'choice' || choices.length > 0) continue
    const says = 'Write what there is to choose from, each on a line'
    const message = `The field ${name} has nothing to choose from`
    empty.push({ field: 'fields', message, says, at: `fields.${at}.choices` })
  }
  return [...twice, ...empty]
}

function isHttps(url: string): boolean {
  return URL.canParse(url) && new URL(url).protocol === 'https:'
}

/** Things that a form used before may have been deleted or archived since; those are not refused. */
async function refuseForeign(
  tx: Tx,
  accountId: string,
  settings: FormSettings,
  before: Pick<FormSettings, 'lists' | 'topics'> = { lists: [], topics: [] },
): Promise<void> {
  const told = (field: string) => (error: unknown) => {
    throw error instanceof ApiError ? wrongField(field, error.message) : error
  }
  for (const id of without(settings.lists, before.lists))
    await requireList(tx, accountId, id).catch(told('lists'))
  for (const id of without(settings.topics, before.topics))
    await findTopic(tx, accountId, id).catch(told('topics'))
}

const without = (ids: readonly string[], known: readonly string[]) =>
  ids.filter((id) => !known.includes(id))

/** Throws a 404 unless the account has the form, and it has a page. */
export async function pageForm(read: Read, accountId: string, id: string): Promise<SignupForm> {
  const form = await findForm(read, accountId, id)
  if (form.kind === 'page') return form
  throw new ApiError('not_found', noForm)
}

/** Throws a 404 unless the account has it. */
export async function findForm(read: Read, accountId: string, id: string): Promise<SignupForm> {
  const row = await formsOf(read, accountId).where('id', '=', id.toLowerCase()).executeTakeFirst()
  if (row === undefined) throw new ApiError('not_found', noForm)
  return toForm(row)
}

const noForm = 'The account has no form with this id'

/** The form with this public id; archived ones are not found. */
export async function publicForm(read: Read, publicId: string): Promise<SignupForm | undefined> {
  const row = await read
    .selectFrom('forms')
    .selectAll()
    .where('public_id', '=', publicId)
    .executeTakeFirst()
  return row === undefined || row.archived_at !== null || row.kind !== 'page'
    ? undefined
    : toForm(row)
}

/** The form with a page that has this id, in any account. */
export async function formById(read: Read, id: string): Promise<SignupForm | undefined> {
  const row = await read
    .selectFrom('forms')
    .selectAll()
    .where('id', '=', id.toLowerCase())
    .executeTakeFirst()
  return row === undefined || row.kind !== 'page' ? undefined : toForm(row)
}

/** All forms of an account that have a page, the newest first; there are at most `maxForms`. */
export async function listForms(read: Read, accountId: string): Promise<SignupForm[]> {
  const rows = await formsOf(read, accountId).orderBy('id', 'desc').execute()
  return rows.filter(({ kind }) => kind === 'page').map(toForm)
}

/** The form by which the account asks people whom it adds itself; undefined: it has asked nobody yet. */
export async function handForm(read: Read, accountId: string): Promise<SignupForm | undefined> {
  const row = (await formsOf(read, accountId).execute()).find(({ kind }) => kind === 'hand')
  return row && toForm(row)
}

/** How many were held back for each reason, the most frequent first. */
export async function heldOf(
  read: Read,
  formId: string,
): Promise<{ reason: string; held: number }[]> {
  return await read
    .selectFrom('form_held')
    .select(['reason', 'held'])
    .where('form_id', '=', formId)
    .orderBy('held', 'desc')
    .execute()
}

/** Those of some lists of an account that are not deleted. */
export async function listsThere(
  read: Read,
  accountId: string,
  lists: readonly string[],
): Promise<string[]> {
  const there: string[] = []
  for (const id of lists) {
    const row = await read
      .selectFrom('contact_lists')
      .select('id')
      .where('id', '=', id.toLowerCase())
      .where('account_id', '=', accountId)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    if (row !== undefined) there.push(row.id)
  }
  return there
}

const formsOf = (read: Read, accountId: string) =>
  read.selectFrom('forms').selectAll().where('account_id', '=', accountId)

type Selected = Omit<FormRow, Counted | 'kind'> &
  Record<Counted, number> & { kind: SignupForm['kind'] }
type Counted = 'shown' | 'sent_in' | 'confirmed' | 'held_back'

const toForm = (row: Selected): SignupForm => ({
  id: row.id,
  accountId: row.account_id,
  publicId: row.public_id,
  name: row.name,
  kind: row.kind,
  settings: {
    ...usualSettings,
    lists: [],
    consent: '',
    ...(storedObject(row.settings) as Partial<FormSettings>),
  },
  version: row.version,
  archivedAt: row.archived_at,
  carefulAt: row.careful_at,
  stoppedAt: row.stopped_at,
  shown: row.shown,
  sentIn: row.sent_in,
  confirmed: row.confirmed,
  heldBack: row.held_back,
  createdAt: row.created_at,
})
