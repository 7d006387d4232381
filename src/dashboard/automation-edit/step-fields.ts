import { dateEvent, limits, ruleFieldKind, type StepDefinition } from '../../automations/index.js'
import type { Rule } from '../../rules/index.js'
import { rulePart } from '../segments/rule-part.js'
import { sentenceOf } from '../segments/sentence.js'
import { field, fieldSet } from '../shell/field.js'
import { type Html, html } from '../shell/html.js'
import { typedDuration, unitChoices } from './durations.js'
import { dateFields, heardFields } from './heard-fields.js'
import { mailFields } from './mail-fields.js'
import type { StepChoices } from './step-choices.js'
import { one, showsFor } from './step-field.js'
import { usualWait, withoutPlace } from './step-form.js'
import { linesOf, typedValue } from './typed-lines.js'

/** The address of a card's buttons that change the form and save nothing, and what its fields offer. */
export interface FieldsOptions {
  choices: StepChoices
  change: string
  /** The preview of a mail's template. */
  preview?: Html | undefined
  /** The doubt about the field by whose day it begins. */
  unknownDate?: string | undefined
  /** The domains from which the account writes. */
  domains: string
  /** Where the account's pages are. */
  base: string
}

/** The fields of a step's card, with their limits. */
export function stepFields(step: StepDefinition, options: FieldsOptions): Html {
  switch (step.type) {
    case 'trigger':
      return html`${heardFields(step.config, 'What starts it', options, true)}${step.config.eventName === dateEvent && dateFields(step.config.date, options.choices, options.unknownDate)}${asksHowOften(step.config) && reentryFields(step.config.reentry, options.change)}${filterPart(withoutPlace(step.config.filter), 'Only if', options)}`
    case 'send_email':
      return mailFields(step.config, options)
    case 'delay':
      return delayFields(step.config, options.change)
    case 'wait_for_event':
      return html`${heardFields(step.config, 'What is waited for', options)}${amount('How long at most', step.config.timeout ?? 'P90D', 'A whole number, and at most 90 days. If it has not come by then, the other way is taken.')}${one({ name: 'since', label: 'Only what comes after this step', hint: 'Else it counts too if it came since this person entered the automation.', type: 'checkbox', value: step.config.since === 'step' ? 'on' : '' })}${filterPart(withoutPlace(step.config.filter), 'Only if', options)}`
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
        hint: 'For your reports, such as “bought”; 200 characters at most, in one line.',
        value: step.config.reason ?? '',
        maxlength: 200,
        required: false,
      })
  }
}

const amount = (label: string, duration: string, hint: string, name = 'amount'): Html => {
  const typed = typedDuration(duration)
  return html`<div class="tools">${one({ name, label, hint, value: typed.amount, inputmode: 'numeric', maxlength: 12, autocomplete: 'off' })}${one({ name: name === 'amount' ? 'unit' : `${name}Unit`, label: 'Unit', type: 'select', options: unitChoices, value: typed.unit })}</div>`
}

/** A date itself says how often it comes, so this is asked only where somebody has chosen a rarer re-entry. */
const asksHowOften = ({ eventName, reentry = 'after_end' }: ConfigOf<'trigger'>): boolean =>
  eventName !== dateEvent || reentry !== 'after_end'

function reentryFields(
  reentry: 'after_end' | 'once' | { after: string } | undefined,
  change: string,
): Html {
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
  })}${showsFor('reentry', change)}${typeof reentry === 'object' && amount('That time', reentry.after, 'Since they entered it last: a whole number, and ten years at most.', 'again')}`
}

/** A rule as conditions. */
export function filterPart(
  rule: Rule | undefined,
  says: string,
  { choices, change }: Pick<FieldsOptions, 'choices' | 'change'>,
): Html {
  const sentence = sentenceOf(rule ?? { all: [] })
  if (sentence === undefined) {
    return html`<p class="quiet">Its rule was written for the API, and this form cannot say it; it stays as it is.</p>`
  }
  return rulePart({
    sentence,
    choices: choices.fields,
    kindOf: ruleFieldKind,
    // Leads to the condition itself.
    action: change,
    prefix: 'rule:',
    says,
  })
}

type ConfigOf<T extends StepDefinition['type']> = Extract<StepDefinition, { type: T }>['config']

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

function delayFields({ duration = usualWait, until }: ConfigOf<'delay'>, change: string): Html {
  return html`${one({
    name: 'how',
    label: 'How it waits',
    type: 'select',
    value: until === undefined ? 'for' : 'until',
    options: [
      { value: 'for', label: 'For some time' },
      { value: 'until', label: 'Until a time of day' },
    ],
  })}${showsFor('how', change)}${until === undefined ? amount('How long', duration, 'A whole number, and at most 90 days; a day is 24 hours.') : untilFields(until)}`
}

const untilFields = ({ time, days = [], zone = '' }: NonNullable<ConfigOf<'delay'>['until']>) =>
  html`${one({ name: 'time', label: 'Until', hint: 'The next time that it is this late.', type: 'time', value: time })}${fieldSet({ name: 's.days', label: 'On these days', hint: 'None ticked: on any.', options: weekdays.map((label, at) => ({ value: String(at + 1), label })), value: days.map(String) })}${one({ name: 'zone', label: 'In which time zone', hint: 'Such as Africa/Lagos. Empty: where they are, if their field timeZone says it; else that of the automation.', value: zone, required: false, maxlength: 60, autocomplete: 'off' })}`

function updateFields({ firstName, lastName, metadata = {} }: ConfigOf<'contact_update'>): Html {
  const typed = (value: unknown) => (value === undefined ? '' : typedValue(value))
  return html`${one({ name: 'firstName', label: 'First name', hint: `Empty: it stays. {{ trigger.name }} is what the event had. One line of at most ${limits.nameLength} characters.`, value: typed(firstName), required: false })}${one({ name: 'lastName', label: 'Last name', hint: `The same. One line of at most ${limits.nameLength} characters.`, value: typed(lastName), required: false })}${one({ name: 'fields', label: 'Fields', hint: 'A line each, such as: plan = pro. A line such as: remove plan, takes that field away. 16 KiB at most, with what the contact has already.', type: 'textarea', rows: 4, value: linesOf(metadata), required: false })}`
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
