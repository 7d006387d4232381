import { isIP } from 'node:net'
import { fieldTypes } from '../contact-fields/index.js'
import {
  accountRefusals,
  answer,
  byId,
  type Contract,
  ceiling,
  confirmation,
  invalidField,
  manyOf,
  operation,
  refusal,
  shape,
} from '../contract/index.js'
import {
  bodyId,
  count,
  type Field,
  flag,
  line,
  list,
  maybe,
  oneOf,
  openObject,
  orNull,
  field as plainField,
  rule,
  shaped,
  suchAs,
  table,
  text,
  textThat,
  time,
  uuid,
  words,
} from '../fields/index.js'

const form = byId('form')
const name = line(1, 100, 'The name, for yourself')
const fieldName = textThat(
  'a name of letters, digits and _',
  (value) => /^[A-Za-z]\w{0,39}$/.test(value),
  {
    type: 'string',
    pattern: '^[A-Za-z]\\w{0,39}$',
    description: '`firstName`, `lastName`, or that of a field of your own (`metadata`)',
  },
)
const label = line(1, 80, 'What people read beside it')
const fieldType = oneOf(fieldTypes, 'What it takes')
const required = flag('Nobody can leave it empty')
const choices = maybe(list(line(1, 80, 'A choice'), { most: 50, about: 'For a `choice`' }))
const ofField = { name: fieldName, label, type: fieldType, required, choices }
// Anything that `/v1/contact-fields` says about a field is not repeated here.
const givenField = {
  name: fieldName,
  label: maybe(label),
  type: maybe(fieldType),
  required: maybe(required),
  choices,
}
const origin = textThat(
  'an origin: "https://www.example.com"',
  isOrigin,
  { type: 'string', maxLength: 300, description: 'The origin of a page, without a path' },
  suchAs('the address of a site without a path', 'https://www.example.com'),
)
const settings = {
  lists: list(bodyId('The id of a list'), { least: 1, most: 20, about: 'Who confirms is on them' }),
  topics: list(bodyId('The id of a topic'), { most: 20, about: 'Offered as ticks' }),
  fields: list(table(givenField), {
    most: 20,
    about:
      'Asked beside the address. `label`, `type` and `choices` of a field that the account has described, and of names, may be left out',
  }),
  consent: line(1, 1_000, 'What they agree to; another text is another version'),
  language: oneOf(['en', 'fr', 'de', 'es', 'pt'], 'Of the page and the mail'),
  from: line(
    0,
    320,
    'The sender of the confirmation; empty: that of the brand, or no-reply@ a domain of the account',
  ),
  thanksUrl: line(0, 500, 'Where people go who have confirmed; empty: our own page'),
  doubleOptIn: flag('Nobody is on a list before they confirm by mail'),
  reminder: flag('Who has not confirmed after two days is asked once more'),
  keepAddress: oneOf(
    ['shortened', 'whole', 'none'],
    'What the consent record keeps of the address in the network',
  ),
  confirmAtOnce: flag(
    'The link of the mail confirms by itself where it is a person who follows it, by the rules by which clicks are told from those of machines; else, and without it, its page has a button',
  ),
  api: oneOf(
    ['key', 'open'],
    '`open`: front ends send it in without a key too, at `submissions` of the public listener',
  ),
  origins: list(origin, {
    most: 20,
    about: 'Pages that may send it in without a key by script; none: all',
  }),
}

/** Whether the text is an origin as browsers write it. */
function isOrigin(given: string): boolean {
  return /^https?:/.test(given) && URL.canParse(given) && new URL(given).origin === given
}
const acceptRisk = flag('Needed with `doubleOptIn: false`: anybody can then sign up anybody')

const known = {
  id: uuid('The id of the form'),
  name,
  address: text('Where the hosted page is'),
  submissions: text('Where it is sent in without a key; empty: with a key alone'),
  ...settings,
  fields: list(table(ofField), { most: 20, about: 'Asked beside the address' }),
  version: count('Of the consent text'),
  sender: text(
    'From whom its confirmations come; empty: nobody gets any, as the account may not send from there',
  ),
  state: {
    type: 'string',
    enum: ['open', 'careful', 'stopped', 'archived'],
    description: '`careful`, `stopped`: its confirmations came back',
  },
  carefulUntil: orNull(time('Until when it asks for more; null: it does not')),
  figures: shaped('FormFigures'),
  createdAt: time('When it was made'),
}
const listId = '01a1fc92-9915-7533-8296-0a5be7d1c2f3'
const example = {
  id: '01a1fc92-0000-7000-8000-5f0e1c2d3b4a',
  name: 'Newsletter',
  address: 'https://mail.example.com/f/Zm9vYmFyYmF6cXV4',
  submissions: '',
  lists: [listId],
  topics: [],
  fields: [{ name: 'firstName', label: 'First name', type: 'text', required: false }],
  consent: 'I would like to get the newsletter.',
  language: 'en',
  from: 'news@mail.example.com',
  thanksUrl: '',
  doubleOptIn: true,
  reminder: false,
  keepAddress: 'shortened',
  confirmAtOnce: false,
  api: 'key',
  origins: [],
  version: 1,
  sender: 'news@mail.example.com',
  state: 'open',
  carefulUntil: null,
  figures: {
    shown: 120,
    sentIn: 30,
    confirmed: 21,
    heldBack: 2,
    held: [{ reason: 'address', held: 2 }],
    lately: { mails: 28, bounces: 1, complaints: 0 },
  },
  createdAt: '2026-11-28T10:00:00.000Z',
}
const shown = (status = 200) => answer('The whole form', 'SignupForm', known, example, status)
const wrong = () =>
  invalidField(
    'A field that does not fit the others',
    'Without a confirmation anybody can sign up anybody: say acceptRisk if you accept complaints and laws that want a proof',
    'acceptRisk',
  )

export const listForms = operation('GET /v1/forms', {
  id: 'listForms',
  may: 'read',
  says: () => ({
    summary: 'List the forms',
    answers: [
      answer(
        'The newest first',
        'SignupForms',
        { forms: manyOf('SignupForm') },
        { forms: [example] },
      ),
    ],
  }),
})

export const getForm = operation('GET /v1/forms/:id', {
  id: 'getForm',
  may: 'read',
  of: form,
  says: () => ({ summary: 'One form, with its figures', answers: [shown()] }),
})

export const createForm = operation('POST /v1/forms', {
  id: 'createForm',
  may: 'full',
  audit: 'form.create',
  body: shape(
    'NewForm',
    table({
      name,
      lists: settings.lists,
      consent: settings.consent,
      topics: maybe(settings.topics, 'none'),
      fields: maybe(settings.fields, 'none'),
      language: maybe(settings.language, '`en`'),
      from: maybe(settings.from),
      thanksUrl: maybe(settings.thanksUrl),
      doubleOptIn: maybe(settings.doubleOptIn, 'true'),
      reminder: maybe(settings.reminder, 'false'),
      keepAddress: maybe(settings.keepAddress, '`shortened`'),
      confirmAtOnce: maybe(settings.confirmAtOnce, 'false'),
      api: maybe(settings.api, '`key`'),
      origins: maybe(settings.origins, 'all'),
      acceptRisk: maybe(acceptRisk),
    }),
  ),
  says: () => ({
    summary: 'Make a form',
    examples: { 'For one list': { name: 'Newsletter', lists: [listId], consent: example.consent } },
    answers: [shown(201)],
    refusals: [wrong(), ...accountRefusals, ceiling('100 forms', 'forms')],
  }),
})

export const updateForm = operation('PATCH /v1/forms/:id', {
  id: 'updateForm',
  may: 'full',
  audit: 'form.change',
  of: form,
  body: shape(
    'FormChanges',
    table(
      {
        name: maybe(name),
        lists: maybe(settings.lists),
        consent: maybe(settings.consent),
        topics: maybe(settings.topics),
        fields: maybe(settings.fields),
        language: maybe(settings.language),
        from: maybe(settings.from),
        thanksUrl: maybe(settings.thanksUrl),
        doubleOptIn: maybe(settings.doubleOptIn),
        reminder: maybe(settings.reminder),
        keepAddress: maybe(settings.keepAddress),
        confirmAtOnce: maybe(settings.confirmAtOnce),
        api: maybe(settings.api),
        origins: maybe(settings.origins),
        acceptRisk: maybe(acceptRisk),
        archived: maybe(flag('True takes the form out of use, false brings it back')),
      },
      { about: 'Fields that are not given stay as they are.' },
    ),
  ),
  says: () => ({
    summary: 'Change, archive or restore a form',
    examples: { 'Out of use': { archived: true } },
    answers: [shown()],
    refusals: [wrong()],
  }),
})

export const resumeForm = operation('POST /v1/forms/:id/resume', {
  id: 'resumeForm',
  may: 'full',
  audit: 'form.resume',
  of: form,
  says: () => ({
    summary: 'Let a form go on that has stopped by itself',
    description:
      'It stops, or asks for more, when too many of its confirmations bounce or are complained about. One that has stopped goes on as `careful` for seven days; resume it again to open it.',
    answers: [shown()],
  }),
})

const stamp = text('What the work is for; good for a day')

export const getFormWork = operation('GET /v1/forms/:id/work', {
  id: 'getFormWork',
  may: 'live',
  of: form,
  says: () => ({
    summary: 'What a form asks of a browser before it is sent in',
    description:
      'A form whose confirmations came back takes few that nobody has worked for. The work is a number with which the SHA-256 of `stamp`, the address in lower case and the number, with a space between each, begins with `bits` zero bits: a second of a browser. Send it in as `work`. `bits` is 0 while the form asks for none. Where the form is `open`, the public listener answers it without a key.',
    answers: [
      answer(
        'As it stands',
        'FormWork',
        { stamp, bits: count('How many zero bits; 0: no work is asked for') },
        { stamp: 'mij3k2a1..Zm9vYmFyYmF6cXV4Zm9vYg', bits: 18 },
      ),
    ],
  }),
})

const values = plainField(
  rule<Record<string, unknown>>(
    'an object of texts',
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  ),
  openObject('What was typed, by the names of the fields: texts, or `YYYY-MM-DD` for a date'),
) as Field<Record<string, unknown>>

export const submitForm = operation('POST /v1/forms/:id/submissions', {
  id: 'submitForm',
  may: 'live',
  of: form,
  body: shape(
    'FormSubmission',
    table({
      email: words('The address that signs up'),
      agreed: flag('They agreed to the consent text, which your page has shown'),
      fields: maybe(values),
      topics: maybe(
        list(bodyId('The id of a topic'), {
          most: 20,
          about:
            'Those that were ticked; of what the form offers the others are left. Not given: topics stay as they are',
        }),
      ),
      page: maybe(line(0, 300, 'The address of the page with the form')),
      work: maybe(
        table(
          {
            stamp: line(1, 600, 'The `stamp` of `GET /v1/forms/:id/work`'),
            number: line(1, 12, 'The number that was found, in digits'),
          },
          { about: 'What a browser has found for this address, while the form is careful' },
        ),
      ),
      visitor: maybe(
        textThat('an IP address', (value) => isIP(value) !== 0 && !value.includes('%'), {
          type: 'string',
          maxLength: 45,
          description: 'The IP address of who filled it in, for the limits and the record',
        }),
      ),
    }),
  ),
  says: () => ({
    summary: 'Send in a form, for a front end of your own',
    description:
      'The answer is the same for every address that is written well: it tells nobody who is a subscriber. While the form is stopped nobody is taken, which is told in its language. Where the form is `open`, pages send the same without a key to its `submissions`, an address of the public listener; `visitor` says nothing there.',
    examples: {
      'A visitor': { email: 'ada@example.org', agreed: true, fields: { firstName: 'Ada' } },
    },
    answers: [
      answer(
        'It was taken',
        'FormSubmitted',
        { message: confirmation },
        { message: 'Look into your mailbox' },
        202,
      ),
    ],
    refusals: [
      ...accountRefusals,
      invalidField('A field is empty or wrong', 'Please fill this in.', 'firstName'),
      refusal(
        'conflict',
        'The form has stopped: nothing is kept',
        'This form takes nobody just now. Nothing that is filled in here is kept at present, and no email is sent.',
      ),
    ],
  }),
})

export const forms: Contract = {
  tag: {
    name: 'Forms',
    description: 'Forms by which people ask for mail themselves, and confirm it by mail.',
  },
  operations: [listForms, createForm, getForm, updateForm, resumeForm, getFormWork, submitForm],
  shapes: () => ({
    FormFigures: {
      type: 'object',
      properties: {
        shown: count('How often the hosted page was shown'),
        sentIn: count('How often it was sent in'),
        confirmed: count('How many have confirmed'),
        heldBack: count('How many got no confirmation mail'),
        held: {
          type: 'array',
          description: 'Why',
          items: {
            type: 'object',
            properties: { reason: text('The limit or check'), held: count('How many') },
            required: ['reason', 'held'],
            additionalProperties: false,
          },
        },
        lately: {
          type: 'object',
          description:
            'What makes it careful or stops it: its confirmations of today and yesterday (UTC), counted anew when it is resumed',
          properties: {
            mails: count('How many it sent'),
            bounces: count('How many bounced'),
            complaints: count('How many were called spam'),
          },
          required: ['mails', 'bounces', 'complaints'],
          additionalProperties: false,
        },
      },
      required: ['shown', 'sentIn', 'confirmed', 'heldBack', 'held', 'lately'],
      additionalProperties: false,
    },
  }),
}
