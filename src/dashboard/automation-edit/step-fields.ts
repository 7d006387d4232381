import {
  type DateOf,
  dateEvent,
  dateFieldOf,
  mostDays,
  ownEvents,
  placeFields,
  placeIn,
  type StepDefinition,
} from '../../automations/index.js'
import type { Rule } from '../../rules/index.js'
import { ruleLimits } from '../../segments/index.js'
import { eventWords } from '../automations/words.js'
import { choicesOfRows } from '../segments/choices.js'
import { rulePart } from '../segments/rule-part.js'
import { sentenceOf } from '../segments/sentence.js'
import { type FormField, field, fieldSet } from '../shell/field.js'
import { type Html, html } from '../shell/html.js'
import { typedDuration, unitChoices } from './durations.js'
import type { StepChoices } from './step-choices.js'
import { typedValue, withoutPlace } from './step-form.js'

/** Where the buttons of a card lead that change the form and save nothing, and what its fields offer. */
interface FieldsOptions {
  choices: StepChoices
  change: string
  /** The preview of a mail's template. */
  preview?: Html | undefined
  /** What the account writes from. */
  domains: string
}

/** What the card of a step asks for, with the limits that hold. */
export function stepFields(step: StepDefinition, options: FieldsOptions): Html {
  switch (step.type) {
    case 'trigger':
      return html`${heardFields(step.config, 'What starts it', options, true)}${step.config.eventName === dateEvent && dateFields(step.config.date, options.choices)}${reentryFields(step.config.reentry)}${filterPart(withoutPlace(step.config.filter), 'Only if', options)}`
    case 'send_email':
      return mailFields(step.config, options)
    case 'delay':
      return delayFields(step.config)
    case 'wait_for_event':
      return html`${heardFields(step.config, 'What is waited for', options)}${amount('How long at most', step.config.timeout ?? 'P90D', 'At most 90 days. If it has not come by then, the other way is taken.')}${one({ name: 'since', label: 'Only what comes after this step', hint: 'Else it counts too if it came since this person entered the automation.', type: 'checkbox', value: step.config.since === 'step' ? 'on' : '' })}${filterPart(withoutPlace(step.config.filter), 'Only if', options)}`
    case 'condition':
      return filterPart(step.config, 'The way “yes” is for people for whom', options)
    case 'contact_update':
      return updateFields(step.config)
    case 'split':
      return splitFields(step.config, options.change)
    case 'webhook':
      return one({
        name: 'endpointId',
        label: 'Where it is told',
        hint: 'One of your webhooks, which must be on the plan. It gets the event automation.step.',
        type: 'select',
        value: step.config.endpointId,
        options: [{ value: '', label: 'Choose one' }, ...options.choices.endpoints],
      })
    case 'exit':
      return one({
        name: 'reason',
        label: 'Why it ends',
        hint: 'For your reports, such as “bought”; 200 characters at most.',
        value: step.config.reason ?? '',
        maxlength: 200,
        required: false,
      })
  }
}

const one = (of: FormField): Html => field({ ...of, name: `s.${of.name}` })

const amount = (label: string, duration: string, hint: string, name = 'amount'): Html => {
  const typed = typedDuration(duration)
  return html`<div class="tools">${one({ name, label, hint, value: typed.amount, inputmode: 'numeric', maxlength: 12, autocomplete: 'off' })}${one({ name: name === 'amount' ? 'unit' : `${name}Unit`, label: 'Of what', type: 'select', options: unitChoices, value: typed.unit })}</div>`
}

type Heard = { eventName: string; filter?: Rule }

/** An event of the appliance, of one thing perhaps, or an own one by its name. */
function heardFields(
  { eventName, filter }: Heard,
  label: string,
  { choices, change }: FieldsOptions,
  mayBeDate = false,
): Html {
  const own: readonly string[] = mayBeDate ? [...ownEvents, dateEvent] : ownEvents
  const isOwn = own.includes(eventName)
  const when = one({
    name: 'when',
    label,
    type: 'select',
    value: isOwn ? eventName : 'event',
    options: [
      ...own.map((name) => ({ value: name, label: capital(eventWords(name)) })),
      { value: 'event', label: 'An event that your shop or application sends' },
    ],
  })
  const show = html`<p class="buttons"><button name="do" value="show:" formaction="${change}#open" formnovalidate>Show what it asks for</button></p>`
  const offered =
    eventName === '' || isOwn ? choices.events : [...new Set([eventName, ...choices.events])]
  const event =
    !isOwn &&
    html`${one({
      name: 'event',
      label: 'Name of the event',
      hint: 'As it is sent: letters, digits, and _ . : -, at most 100. Those that came already are offered.',
      value: eventName,
      list: 'seen-events',
      maxlength: 100,
      autocomplete: 'off',
      spellcheck: false,
    })}<datalist id="seen-events">${offered.map((name) => html`<option value="${name}"></option>`)}</datalist>`
  return html`${when}${show}${event}${placeField(eventName, filter, choices)}`
}

/** The day of a field: which, how far from it, when, and how often. */
function dateFields(
  { field: of, days = 0, time = '09:00', zone = '', repeat = 'yearly' }: DateOf = { field: '' },
  { fields }: StepChoices,
): Html {
  const known = fields.flatMap(({ value }) => {
    const [, name] = /^contact\.metadata\.([\w-]+)$/.exec(value) ?? []
    return name === undefined ? [] : [name]
  })
  return html`${one({
    name: 'dateField',
    label: 'Which field has the date',
    hint: 'Such as birthday. It holds a day like 1990-02-28. Who was born on 29 February has it on the 28th in other years.',
    value: dateFieldOf({ field: of }),
    list: 'date-fields',
    maxlength: 64,
    autocomplete: 'off',
    spellcheck: false,
  })}<datalist id="date-fields">${known.map((name) => html`<option value="${name}"></option>`)}</datalist>
<div class="tools">${one({ name: 'dateDays', label: 'Days', hint: `0 is the day itself; at most ${mostDays}.`, value: String(Math.abs(days)), inputmode: 'numeric', maxlength: 3, autocomplete: 'off' })}${one(
    {
      name: 'dateWay',
      label: 'Before or after it',
      type: 'select',
      value: days < 0 ? 'before' : 'after',
      options: [
        { value: 'after', label: 'After' },
        { value: 'before', label: 'Before' },
      ],
    },
  )}</div>
${one({ name: 'dateTime', label: 'At what time', hint: 'Where they are, if their field timeZone says it; else in the time zone of the automation, or UTC.', value: time, maxlength: 5, autocomplete: 'off' })}${one({ name: 'dateZone', label: 'Time zone', hint: 'Empty: where they are. Else one for everybody, such as Europe/Berlin.', value: zone, maxlength: 64, required: false, autocomplete: 'off', spellcheck: false })}${one(
  {
    name: 'dateRepeat',
    label: 'How often',
    type: 'select',
    value: repeat,
    options: [
      { value: 'yearly', label: 'Each year on that day, for nobody twice in a year' },
      { value: 'once', label: 'Once, in the year of the date' },
    ],
  },
)}`
}

const kinds: Readonly<
  Record<string, { label: string; any: string; of: 'lists' | 'segments' | 'forms' }>
> = {
  listId: { label: 'Which list', any: 'Any list', of: 'lists' },
  segmentId: { label: 'Which segment', any: 'Any segment', of: 'segments' },
  formId: { label: 'Which form', any: 'Any form', of: 'forms' },
}

function placeField(
  eventName: string,
  filter: Rule | undefined,
  choices: StepChoices,
): Html | false {
  const kind = kinds[placeFields[eventName] ?? '']
  if (kind === undefined) return false
  const value = placeIn(filter)
  const known = choices[kind.of]
  const isKnown = value === '' || known.some((choice) => choice.value === value)
  return one({
    name: 'place',
    label: kind.label,
    type: 'select',
    value,
    options: [
      { value: '', label: kind.any },
      ...known,
      ...(isKnown ? [] : [{ value, label: 'Another, or one that is deleted' }]),
    ],
  })
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function reentryFields(reentry: 'after_end' | 'once' | { after: string } | undefined): Html {
  const after = typeof reentry === 'object' ? reentry.after : 'P30D'
  return html`${one({
    name: 'reentry',
    label: 'How often one person may go through',
    hint: 'Nobody is in it twice at the same time, and nobody starts it more than 20 times in an hour.',
    type: 'select',
    value: typeof reentry === 'object' ? 'after' : (reentry ?? 'after_end'),
    options: [
      { value: 'once', label: 'Once, and never again' },
      { value: 'after_end', label: 'Again each time, once they are through' },
      { value: 'after', label: 'Again, but not before some time has gone by' },
    ],
  })}${amount('That time', after, 'Since they entered it last; ten years at most. It counts for the third choice alone.', 'again')}`
}

function filterPart(
  rule: Rule | undefined,
  says: string,
  { choices, change }: FieldsOptions,
): Html {
  const sentence = sentenceOf(rule ?? { all: [] })
  if (sentence === undefined) {
    return html`<p class="quiet">Its rule was written for the API, and this form cannot say it; it stays as it is.</p>`
  }
  const offered = choicesOfRows(choices.fields, sentence.rows)
  return rulePart({
    sentence,
    choices: offered,
    isShort: offered.some((some) => some.length < choices.fields.length),
    mayAdd: sentence.rows.length < ruleLimits.conditions,
    action: `${change}#open`,
    prefix: 'rule:',
    says,
  })
}

type ConfigOf<T extends StepDefinition['type']> = Extract<StepDefinition, { type: T }>['config']

function mailFields(
  config: ConfigOf<'send_email'>,
  { choices, change, preview, domains }: FieldsOptions,
): Html {
  const { template, replyTo = '' } = config
  const known = choices.templates.some(({ value }) => value === template)
  const templates = [
    { value: '', label: 'Choose one' },
    ...choices.templates,
    ...(known || template === ''
      ? []
      : [{ value: template, label: `${template} (there is none)` }]),
  ]
  return html`${one({ name: 'template', label: 'Template', hint: 'Its newest version is sent, so that what you mend reaches everybody.', type: 'select', value: template, options: templates })}
<p class="buttons"><button name="do" value="show:" formaction="${change}#open" formnovalidate>Show it</button></p>${preview}
${one({ name: 'from', label: 'From', hint: domains === '' ? 'An address on a verified domain; there is none yet.' : `On one of your domains: ${domains}.`, value: config.from, autocomplete: 'off' })}
${one({ name: 'subject', label: 'Subject', hint: 'Empty: that of the template.', value: config.subject ?? '', maxlength: 200, required: false })}
${one({
  name: 'kind',
  label: 'What kind of mail',
  hint: 'News needs a marketing plan and has a way to unsubscribe; a person gets at most 100 mails of one run.',
  type: 'select',
  value: config.type ?? 'marketing',
  options: [
    { value: 'marketing', label: 'News: only to those who want it' },
    { value: 'transactional', label: 'Something they must know, such as an order' },
  ],
})}
${one({ name: 'topicId', label: 'Topic', hint: 'Who has left it is passed over, and goes on.', type: 'select', value: config.topicId ?? '', options: [{ value: '', label: 'None' }, ...choices.topics] })}
${one({ name: 'replyTo', label: 'Answers go to', value: [replyTo].flat().join(', '), required: false })}`
}

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

function delayFields({ duration = 'P3D', until }: ConfigOf<'delay'>): Html {
  const days = (until?.days ?? []).map(String)
  return html`${one({
    name: 'how',
    label: 'How it waits',
    type: 'select',
    value: until === undefined ? 'for' : 'until',
    options: [
      { value: 'for', label: 'For some time' },
      { value: 'until', label: 'Until a time of day' },
    ],
  })}${amount('How long', duration, 'At most 90 days; a day is 24 hours.')}${one({ name: 'time', label: 'Until', hint: 'For the second choice: the next time that it is this late.', type: 'time', value: until?.time ?? '09:00' })}${fieldSet({ name: 's.days', label: 'On these days', hint: 'None ticked: on any.', options: weekdays.map((label, at) => ({ value: String(at + 1), label })), value: days })}${one({ name: 'zone', label: 'In which time zone', hint: 'Such as Africa/Lagos. Empty: that of the person, by their field timeZone, else that of the automation.', value: until?.zone ?? '', required: false, maxlength: 60, autocomplete: 'off' })}`
}

function updateFields({ firstName, lastName, metadata = {} }: ConfigOf<'contact_update'>): Html {
  const lines = Object.entries(metadata).map(([key, value]) => `${key} = ${typedValue(value)}`)
  const typed = (value: unknown) => (value === undefined ? '' : typedValue(value))
  return html`${one({ name: 'firstName', label: 'First name', hint: 'Empty: it stays. {{ trigger.name }} is what the event had.', value: typed(firstName), required: false })}${one({ name: 'lastName', label: 'Last name', value: typed(lastName), required: false })}${one({ name: 'fields', label: 'Fields', hint: 'A line each, such as: plan = pro. null takes a field away. 16 KiB at most.', type: 'textarea', rows: 4, value: lines.join('\n'), required: false })}`
}

function splitFields({ branches }: ConfigOf<'split'>, change: string): Html {
  return html`<p class="hint">Everybody always goes the same way of it. Two to twenty ways, together 100 %.</p><div class="tools">${branches.map(
    ({ key, percent }, at) =>
      field({
        name: 's.percent',
        id: `percent-${at}`,
        label: `Way ${key}, in %`,
        value: String(percent),
        inputmode: 'decimal',
        maxlength: 6,
        autocomplete: 'off',
      }),
  )}</div><p class="buttons"><button name="do" value="way:more" formaction="${change}#open" formnovalidate>One more way</button><button name="do" value="way:less" formaction="${change}#open" formnovalidate>One way less, with its steps</button></p>`
}
