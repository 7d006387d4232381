import { array, defaulted, enums, type Infer, string, type } from 'superstruct'
import { keyScopes } from '../../accounts/index.js'
import { beginOfDay, isoTime } from '../../clock/index.js'
import { ApiError } from '../../errors/index.js'

/** The fields of a key, in both of its forms. */
export const keyFields = {
  name: string(),
  scope: enums(keyScopes),
  /** Ticked domains, or lines of a text. */
  domains: array(string()),
  /** One network a line. */
  networks: string(),
  /** A day, or empty. */
  expiresAt: string(),
  /** Numbers, or empty. */
  perHour: defaulted(string(), ''),
  perMinute: defaulted(string(), ''),
}

const Fields = type(keyFields)

/** The form as a request of the API would say it: an empty field means no limit. */
export function givenIn(form: Infer<typeof Fields>) {
  const domains = form.domains.flatMap(wordsOf)
  const networks = wordsOf(form.networks)
  return {
    name: form.name,
    scope: form.scope,
    domains: domains.length === 0 ? 'any' : domains,
    networks: networks.length === 0 ? 'any' : networks,
    expiresAt: form.expiresAt === '' ? 'never' : isoTime(dayOf(form.expiresAt)),
    perHour: mailsIn('perHour', form.perHour),
    perMinute: mailsIn('perMinute', form.perMinute),
  } as const
}

/** The words of a text, however they are separated. */
const wordsOf = (text: string) => text.split(/[\s,;]+/).filter((word) => word !== '')

/** A number of mails, as people write it: 10,000. */
function mailsIn(field: string, text: string): number | 'any' {
  const digits = text.replace(/[\s,_]/g, '')
  if (digits === '') return 'any'
  if (/^\d{1,10}$/.test(digits)) return Number(digits)
  const message = 'How many mails is a whole number, or empty for any number'
  throw new ApiError('validation_error', message, { status: 422, fields: { field } })
}

/** The start of a day, UTC: the key works until the end of the day before. */
function dayOf(text: string): number {
  const at = beginOfDay(text)
  if (at !== undefined) return at
  const message = 'The day is to be written as 2027-01-31'
  throw new ApiError('validation_error', message, { status: 422, fields: { field: 'expiresAt' } })
}

/** What each scope lets a key do, for whoever chooses one. */
export const scopeWords = {
  full: 'Everything that the API has',
  sending: 'Sends mail, looks at a mail and cancels one',
  read: 'Reads everything and changes nothing',
  test: 'Sends as a sending key does, but into the test inbox and to nobody',
} as const
