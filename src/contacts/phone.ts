import { createRequire } from 'node:module'
import type { CountryCode, NumberingPlan } from 'libphonenumber-js'
import { ApiError } from '../errors/index.js'
import { idsIn, type Read } from '../store/index.js'
import { type Contact, contactsOf, toContact } from './contact.js'
import { shelvesOf } from './shelf.js'

/**
 * The contact with this number, however it is written; of several the one that was added last. A
 * number that nobody has is a 404, and so is a text that is no number.
 */
export async function findByPhone(
  read: Read,
  accountId: string,
  rawPhone: string,
  defaultCountry: string,
): Promise<Contact> {
  const phone = toE164(rawPhone, defaultCountry)
  const row =
    phone &&
    (await contactsOf(read, accountId)
      .where('contacts.shelf', 'in', idsIn(await shelvesOf(read, accountId, 'phone'), 'integer'))
      .where('contacts.phone', '=', phone)
      .orderBy('contacts.created_at', 'desc')
      .orderBy('contacts.id', 'desc')
      .limit(1)
      .executeTakeFirst())
  if (!row) throw new ApiError('not_found', 'No contact has this phone number')
  return toContact(row)
}

/**
 * `+2348031234567`, or undefined for a text that cannot be a number. Networks write it in many
 * ways: national (0803…), international with +, with the exit code (009…), or with neither.
 */
export function toE164(raw: string, defaultCountry: string): string | undefined {
  if (raw.length > 64) return undefined
  const whole = wholeNumber(raw)
  if (whole !== undefined) return whole.isPossible ? raw : undefined
  const { isSupportedCountry, parsePhoneNumberFromString } = phoneNumbers()
  const isCountry = (code: string): code is CountryCode => isSupportedCountry(code as CountryCode)
  const options = { extract: false, ...(isCountry(defaultCountry) && { defaultCountry }) }
  const text = raw.trim()
  const number = parsePhoneNumberFromString(text, options)
  if (/^[1-9][\d\s().\-/]{6,}$/.test(text) && !number?.isValid()) {
    // Other exports (Brevo's) leave out the +: such a text is no number of the default country, and with a + it is a
    // whole foreign one.
    const foreign = parsePhoneNumberFromString(`+${text}`, { extract: false })
    if (foreign?.isValid()) return foreign.number
  }
  // Possible is enough, as numbering plans grow faster than releases of their metadata.
  return number?.isPossible() && number.number.length <= longestE164 ? number.number : undefined
}

// ITU-T E.164 §6.2.1: fifteen digits, and the +.
const longestE164 = 16

/**
 * How E.164 numbers may begin when somebody begins to type this: `0803`, `+234803` and `00234 803` are the same in
 * Nigeria. Some countries keep the 0 (Italy), some have none (Spain). Empty for a text that begins no number.
 */
export function phoneBeginnings(raw: string, defaultCountry: string): string[] {
  if (!/^\+?[\d\s().\-/]{3,64}$/.test(raw)) return []
  const whole = toE164(raw, defaultCountry)
  if (whole !== undefined) return [whole]
  const digits = raw.replace(/\D/g, '')
  if (digits.length < 3) return []
  if (raw.startsWith('+')) return [`+${digits}`]
  if (digits.startsWith('00')) return [`+${digits.slice(2)}`]
  const { getCountryCallingCode, isSupportedCountry } = phoneNumbers()
  const isNational = digits.startsWith('0')
  if (!isSupportedCountry(defaultCountry)) return isNational ? [] : [`+${digits}`]
  const code = `+${getCountryCallingCode(defaultCountry as CountryCode)}`
  return isNational ? [code + digits.slice(1), code + digits] : [code + digits, `+${digits}`]
}

/**
 * How a number may be written, for somebody whose text is none. It names the setting, as they may not know which
 * country this appliance takes as the default.
 */
/** The countries whose numbers can be read without a country code; ISO 3166-1. */
export const phoneCountries = (): readonly string[] => phoneNumbers().getCountries()

export const phoneNotations = (defaultCountry: string) =>
  `of ${defaultCountry} (the setting contacts.default_country) or with + and country code`

/**
 * Whether a number that is written as E.164 already is possible, in a tenth of the time of the library; undefined: the
 * library has to look. It knows only country codes of one country whose trunk prefix, such as 0, is just digits:
 * elsewhere, and where somebody has left the prefix in, the library may change the number.
 */
function wholeNumber(text: string): { isPossible: boolean } | undefined {
  const digits = /^\+([1-9]\d{3,14})$/.exec(text)?.[1] ?? ''
  plans ??= plainPlans()
  const plan = [1, 2, 3].map((end) => plans?.get(digits.slice(0, end))).find(Boolean)
  if (plan === undefined) return undefined
  const national = digits.slice(plan.code.length)
  if (plan.trunk !== '' && national.startsWith(plan.trunk)) return undefined
  return { isPossible: plan.lengths.includes(national.length) }
}

/** How the numbers of a country look, as far as `wholeNumber` knows such. */
interface Plan {
  code: string
  trunk: string
  lengths: readonly number[]
}

let plans: ReadonlyMap<string, Plan> | undefined

/** By country code; no such code is the beginning of another one. */
function plainPlans(): ReadonlyMap<string, Plan> {
  const { getCountries, getCountryCallingCode, Metadata } = phoneNumbers()
  const countries = getCountries()
  const codes = countries.map((country) => String(getCountryCallingCode(country)))
  const metadata = new Metadata()
  return new Map(
    countries.flatMap((country, n): [string, Plan][] => {
      const code = codes[n] ?? ''
      metadata.selectNumberingPlan(country)
      // The types of the library leave it out.
      const plan = metadata.numberingPlan as NumberingPlan & {
        nationalPrefixForParsing(): string | undefined
      }
      const trunk = plan.nationalPrefixForParsing() ?? ''
      const isPlain = /^\d*$/.test(trunk) && codes.filter((one) => one === code).length === 1
      return isPlain ? [[code, { code, trunk, lengths: plan.possibleLengths() }]] : []
    }),
  )
}

let loaded: typeof import('libphonenumber-js') | undefined

/** Loaded with the first number: it has 112 files, which every thread would load at its start and few ever need. */
function phoneNumbers() {
  loaded ??= createRequire(import.meta.url)(
    'libphonenumber-js',
  ) as typeof import('libphonenumber-js')
  return loaded
}
