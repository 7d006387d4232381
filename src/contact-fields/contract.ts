import {
  accountRefusals,
  answer,
  byId,
  type Contract,
  confirmation,
  invalidField,
  manyOf,
  operation,
  refusal,
  shape,
} from '../contract/index.js'
import {
  flag,
  line,
  list,
  maybe,
  oneOf,
  suchAs,
  table,
  textThat,
  time,
  uuid,
  whole,
} from '../fields/index.js'
import { fieldTypes, isFieldName, maxChoices, maxContactFields } from './kinds.js'

const named = byId('field', 'field of contacts')

const name = textThat(
  'a name of letters, digits and _',
  isFieldName,
  {
    type: 'string',
    pattern: '^[A-Za-z]\\w{0,39}$',
    description:
      'What it is called in `metadata` and merge tags, which never changes; `firstName` and `lastName` are the names of the contact. No other built-in tag (`email`, `unsubscribe_url`) and no word of Liquid (`empty`), whatever its case',
  },
  suchAs('a name of letters, digits and _', 'town'),
)
const label = line(1, 80, 'What people read beside it; no other field of the account has it')
const type = oneOf(fieldTypes, 'What it takes')
const choices = list(line(1, 80, 'A choice'), {
  most: maxChoices,
  about: 'Of a `choice`, in order',
})
const place = 'Its place in lists: lower numbers come first'
// Some positions were made below 0, before that was refused.
const position = whole(place)
const newPosition = whole(place, { least: 0 })
const recipientsMayEdit = flag('Recipients see it in the preference centre, and may change it')

/** What people say of a field. */
export const given = {
  name,
  label,
  type,
  choices: maybe(choices),
  recipientsMayEdit: maybe(recipientsMayEdit, 'false'),
}

const known = {
  id: uuid('The id of the field'),
  name,
  label,
  type,
  choices,
  position,
  recipientsMayEdit,
  createdAt: time('When it was made'),
}
const example = {
  id: '01a1fc92-0000-7000-8000-5f0e1c2d3b4a',
  name: 'town',
  label: 'Town',
  type: 'choice',
  choices: ['Lagos', 'Abuja'],
  position: 0,
  recipientsMayEdit: true,
  createdAt: '2026-11-29T10:00:00.000Z',
}
const taken = () =>
  refusal(
    'conflict',
    'The account has a field of this name, whatever its case',
    'There is a field named "town" already',
  )
const nothingToChoose = () =>
  invalidField('A choice without choices', 'The field “Town” has nothing to choose from', 'choices')
const choicesOfNone = () =>
  invalidField(
    'Another type with choices, those that are known among them: they would be lost',
    'Only a choice has choices, and those of “Town” would be lost: leave them empty, or make it a choice',
    'choices',
  )

export const listContactFields = operation('GET /v1/contact-fields', {
  id: 'listContactFields',
  may: 'read',
  says: () => ({
    summary: 'List the fields of contacts',
    answers: [
      answer(
        'In the order in which people see them',
        'ContactFields',
        { fields: manyOf('ContactField', maxContactFields) },
        { fields: [example] },
      ),
    ],
  }),
})

export const createContactField = operation('POST /v1/contact-fields', {
  id: 'createContactField',
  may: 'full',
  audit: 'field.create',
  body: shape(
    'NewContactField',
    table({ ...given, position: maybe(newPosition, 'behind the others') }),
  ),
  says: () => ({
    summary: 'Describe a field of contacts',
    description:
      'It gives a key of `metadata` a label and a type, for pages, forms, imports and the preference centre. `metadata` by the API stays free: what is stored already, or does not fit, is left as it is.',
    examples: {
      'A text': { name: 'company', label: 'Company', type: 'text' },
      'Recipients choose': {
        name: 'town',
        label: 'Town',
        type: 'choice',
        choices: ['Lagos', 'Abuja'],
        recipientsMayEdit: true,
      },
    },
    answers: [answer('The whole field', 'ContactField', known, example, 201)],
    refusals: [
      taken(),
      ...accountRefusals,
      nothingToChoose(),
      choicesOfNone(),
      invalidField(
        'A built-in merge tag has the name',
        '"email" is a merge tag of its own: choose another name, such as "emailField"',
        'name',
      ),
      refusal(
        'plan_limit_exceeded',
        'The account has as many as it may',
        `The account has ${maxContactFields} fields, and may have no more: delete one`,
      ),
    ],
  }),
})

export const updateContactField = operation('PATCH /v1/contact-fields/:id', {
  id: 'updateContactField',
  may: 'full',
  audit: 'field.change',
  of: named,
  body: shape(
    'ContactFieldChanges',
    table(
      {
        label: maybe(label),
        type: maybe(type),
        choices: maybe(choices),
        position: maybe(newPosition),
        recipientsMayEdit: maybe(recipientsMayEdit),
      },
      { about: 'Fields that are not given stay as they are.' },
    ),
  ),
  says: () => ({
    summary: 'Change a field of contacts',
    examples: {
      'Recipients may change it': { recipientsMayEdit: true },
      'A choice becomes a text': { type: 'text', choices: [] },
    },
    answers: [answer('The whole field', 'ContactField', known, example)],
    refusals: [nothingToChoose(), choicesOfNone()],
  }),
})

export const deleteContactField = operation('DELETE /v1/contact-fields/:id', {
  id: 'deleteContactField',
  may: 'full',
  audit: 'field.delete',
  of: named,
  says: () => ({
    summary: 'Delete the description of a field',
    description: 'What contacts have in it stays in their `metadata`.',
    answers: [
      answer(
        'It is gone',
        'ContactFieldDeleted',
        { message: confirmation },
        { message: 'Field deleted; what contacts have in it stays in their metadata' },
      ),
    ],
  }),
})

export const contactFields: Omit<Contract, 'tag'> = {
  operations: [listContactFields, createContactField, updateContactField, deleteContactField],
}
