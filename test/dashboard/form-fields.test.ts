import t from 'tap'
import type { ContactField } from '../../src/contact-fields/index.js'
import { type EditedForm, givenBy, rowsOf } from '../../src/dashboard/forms/form-fields.js'

const size: ContactField = {
  id: 'x',
  name: 'size',
  label: 'Shoe size',
  type: 'choice',
  choices: ['S', 'L'],
  position: 0,
  recipientsMayEdit: false,
  createdAt: 0,
}

type Row = readonly [label: string, kind: string, choices?: string, name?: string]

/** The questions of a form whose rows somebody has filled in. */
const questions = (...rows: Row[]) => {
  const form: EditedForm = {
    name: 'x',
    lists: ['x'],
    topics: [],
    consent: 'x',
    language: 'en',
    keepAddress: 'none',
    fieldName: rows.map(([, , , name = '']) => name),
    fieldLabel: rows.map(([label]) => label),
    fieldType: rows.map(([, kind]) => kind),
    fieldRequired: rows.map(() => 'no'),
    fieldChoices: rows.map(([, , choices = '']) => choices),
  }
  return givenBy(form, [size]).fields as { name: string; label: string; choices?: string[] }[]
}

const names = (...rows: Row[]) => questions(...rows).map(({ name }) => name)

t.test('each question has a name of its own', (t) => {
  const [town = '', book = ''] = names(['المدينة', 'text'], ['الكتاب', 'text'])
  t.not(town, book)
  t.match(town, /^field[0-9a-f]{8}$/)
  t.same(names(['المدينة', 'text']), [town], 'the same in every form')
  t.same(names(['Town', 'text'], ['town!', 'text']), ['town', 'town_2'])
  t.same(names(['First name', 'text'], ['Your name', 'firstName']), ['firstName_2', 'firstName'])
  t.same(names(['Town', 'text'], ['Place', 'text', '', 'town']), ['town_2', 'town'])
  t.end()
})

t.test('a choice may have a comma', (t) => {
  const [asked] = questions(['Town', 'choice', 'Paris, France\r\nPorto\r\n'])
  t.same(asked?.choices, ['Paris, France', 'Porto'])
  const field = { name: 'town', label: 'Town', type: 'choice', required: false } as const
  const [row] = rowsOf([{ ...field, choices: ['Paris, France', 'Porto'] }], [])
  t.equal(row?.choices, 'Paris, France\nPorto')
  t.end()
})

t.test('a field of the account is asked for by its name, and by a label of the form’s own', (t) => {
  const asked = { name: 'size', label: 'Shoe size', type: 'choice', required: false } as const
  t.same(questions(['', 'own:size', 'X']), [{ name: 'size', required: false }])
  t.same(questions(['Your size?', 'own:size']), [
    { name: 'size', required: false, label: 'Your size?' },
  ])
  t.same(names(['', 'own:gone']), [], 'what is no field of the account')
  t.match(rowsOf([{ ...asked, choices: ['S'] }], [size])[0], { type: 'own:size', choices: '' })
  t.same(names(['Else', 'text', '', 'size']), ['else'])
  t.end()
})
