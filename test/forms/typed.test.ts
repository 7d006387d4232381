// What is typed into a hosted form and does not fit is told by what is wrong with it, in the form's language.
import t from 'tap'
import { consentIn, usualConsent, usualSettings } from '../../src/forms/index.js'
import { readTyped } from '../../src/forms/typed.js'
import { wordsIn } from '../../src/forms/words/index.js'

const asked = (name: string, type: 'text' | 'number' | 'date' | 'choice') => ({
  name,
  type,
  label: name,
  required: true,
  ...(type === 'choice' && { choices: ['a'] }),
})
const fields = [asked('shoes', 'number'), asked('born', 'date'), asked('size', 'choice')]
const settings = Object.assign({}, usualSettings, { fields, lists: [], consent: 'Yes' })
const typed = (values: Record<string, string>, language: keyof typeof wordsIn) => {
  const sent = { email: 'ann@x.test', agreed: true, topics: [], offered: undefined }
  const given = Object.assign(sent, { values: new Map(Object.entries(values)) })
  const read = readTyped(settings, given, wordsIn[language])
  return 'faults' in read ? Object.fromEntries(read.faults) : read.typed
}

t.test('what is no number, and no date, is told so in each language', async (t) => {
  const seen = new Set<string>()
  for (const language of ['en', 'fr', 'de', 'es', 'pt'] as const) {
    const { noNumber, noDate, noChoice, missing } = wordsIn[language]
    t.same(typed({ shoes: 'many', born: 'long ago', size: 'b' }, language), {
      shoes: noNumber,
      born: noDate,
      size: `${noChoice} a`,
    })
    t.match(typed({ born: '2000-02-29', size: 'a' }, language), { shoes: missing })
    for (const text of [noNumber, noDate, noChoice, missing]) seen.add(text)
  }
  t.equal(seen.size, 20, 'each has its own words')
  t.match(typed({ shoes: '42', born: '2000-02-29', size: 'a' }, 'en'), { metadata: { shoes: 42 } })
})

t.test('a text of consent that nobody has changed is that of the language', async (t) => {
  t.equal(consentIn('de', usualConsent('en')), usualConsent('de'))
  t.equal(consentIn('en', ` ${usualConsent('fr')} `), usualConsent('en'), 'and back')
  t.equal(consentIn('de', 'My own'), 'My own')
})
