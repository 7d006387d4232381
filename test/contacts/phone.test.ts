// Numbers that are written as E.164 already are judged without the library, and as it judges them.
import { getCountries, getCountryCallingCode, parsePhoneNumberFromString } from 'libphonenumber-js'
import t from 'tap'
import { toE164 } from '../../src/contacts/index.js'
import { seeded } from '../shaping/seeded.js'

const byLibrary = (text: string) => {
  const number = parsePhoneNumberFromString(text, { extract: false, defaultCountry: 'NG' })
  return number?.isPossible() && number.number.length <= 16 ? number.number : undefined
}

t.test('of every country, of each length, however the rest begins', async (t) => {
  const random = seeded(43)
  const digits = (length: number) =>
    Array.from({ length }, () => Math.floor(random() * 10)).join('')
  const wrong: string[] = []
  const codes = new Set(getCountries().map((country) => String(getCountryCallingCode(country))))
  for (const code of [...codes, '800', '870', '999', '0', '21']) {
    for (let length = 0; length <= 16; length++) {
      for (const begin of ['', '0', '1', '8', '00', '06', '15']) {
        const text = `+${code}${begin}${digits(length)}`
        if (toE164(text, 'NG') !== byLibrary(text)) wrong.push(text)
      }
    }
  }
  t.same(wrong, [])
  t.equal(toE164('+2348031234567', 'NG'), '+2348031234567')
  t.equal(toE164('+23408031234567', 'NG'), '+2348031234567', 'with the trunk prefix left in')
  t.equal(toE164('+234803', 'NG'), undefined)
})
