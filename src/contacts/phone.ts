import { createRequire } from 'node:module'
import type { CountryCode } from 'libphonenumber-js'
import { ApiError } from '../errors/index.js'
import type { Read } from '../store/index.js'
import { type Contact, contactsOf, toContact } from './contact.js'

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
  const { isSupportedCountry, parsePhoneNumberFromString } = phoneNumbers()
  const isCountry = (code: string): code is CountryCode => isSupportedCountry(code as CountryCode)
  const options = { extract: false, ...(isCountry(defaultCountry) && { defaultCountry }) }
  const text = raw.trim()
  const number = parsePhoneNumberFromString(text, options)
  if (!number?.isValid() && /^[1-9][\d\s().\-/]{6,}$/.test(text)) {
    // Other exports (Brevo's) leave out the +: such a text is no number of the default country, and with a + it is a
    // whole foreign one.
    const whole = parsePhoneNumberFromString(`+${text}`, { extract: false })
    if (whole?.isValid()) return whole.number
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
export const phoneNotations = (defaultCountry: string) =>
  `of ${defaultCountry} (the setting contacts.default_country) or with + and country code`

// Loaded with the first number: it has 112 files, which every thread would load at its start and few ever need.
const phoneNumbers = (): typeof import('libphonenumber-js') =>
  createRequire(import.meta.url)('libphonenumber-js')
