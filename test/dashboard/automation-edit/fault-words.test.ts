// What is wrong with an automation has a code and a place, by which pages say it; the API's sentence is its own.
import t from 'tap'
import { definitionIn, InvalidAutomation } from '../../../src/automations/definition/index.js'
import { toldFaults, validate } from '../../../src/automations/index.js'
import { faultWords } from '../../../src/dashboard/automation-edit/fault-words.js'

const trigger = { key: 'start', type: 'trigger', config: { eventName: 'signup' } }
const next = { from: 'start', to: 'one', type: 'default' }
const called = (key: string) => `the step ${key}`
const wordsOf = (type: string, config: object, settings?: object) => {
  const steps = [trigger, { key: 'one', type, config }]
  const { faults } = validate({ steps, connections: [next], ...(settings && { settings }) })
  return faults.map((one) => faultWords(one, called))
}
const mail = { template: 'welcome', from: 'shop@sender.test' }

t.test('each fault of a step is said as its card calls the field', async (t) => {
  for (const [type, config, says] of [
    ['send_email', { ...mail, template: '' }, 'Choose a template.'],
    ['send_email', { ...mail, variables: { '': 'SPRING\nmore' } }, /“SPRING” is no name = value/],
    [
      'send_email',
      { ...mail, variables: { code: 'a {{ b }}' } },
      /in the line “code” a \{\{ … \}\}/,
    ],
    ['send_email', { ...mail, variables: { trigger: 'x' } }, /has “trigger” already/],
    ['send_email', { ...mail, headers: { 'X Shop': 'x' } }, /Headers: “X Shop” is no name/],
    ['send_email', { ...mail, headers: { Received: 'x' } }, /^Headers: The header "Received"/],
    ['delay', { duration: 'P1Y' }, /^How long: a whole number/],
    ['delay', { until: { time: '25:00' } }, /^Until: a time of day/],
    ['contact_update', {}, 'Say what is changed.'],
    ['contact_update', { firstName: 'a {{ b }}' }, /^First name: a \{\{ … \}\}/],
    [
      'split',
      {
        branches: [
          { key: 'a', percent: 1 },
          { key: 'b', percent: 2 },
        ],
      },
      /not 100 %/,
    ],
    ['condition', { all: [] }, 'Conditions: add one: without a condition nothing is asked.'],
    [
      'condition',
      { all: [{ field: 'contact.email', operator: 'contains', value: '' }] },
      'Condition 1: say what it is compared with.',
    ],
    [
      'condition',
      { all: [{ any: [{ field: 'contact.createdAt', operator: 'eq', value: 'x' }] }] },
      /^Condition 1\.1: this is a time;/,
    ],
    [
      'wait_for_event',
      { eventName: 'x', filter: { all: [{ field: 'nothing', operator: 'eq', value: 1 }] } },
      'Condition 1: choose what it is about.',
    ],
    [
      // The card asks for the form elsewhere.
      'wait_for_event',
      {
        eventName: '$form.confirmed',
        filter: {
          all: [
            { field: 'event.formId', operator: 'eq', value: 'x' },
            { field: 'contact.email', operator: 'contains', value: '' },
          ],
        },
      },
      'Condition 1: say what it is compared with.',
    ],
  ] as const) {
    t.match(wordsOf(type, config), [says], JSON.stringify(config))
  }
})

t.test('so is what holds for all steps, and how they hang together', async (t) => {
  const waits = { duration: 'P1D' }
  const late = { exitOn: [{ eventName: 'x' }, { eventName: '', filter: { all: [] } }] }
  t.match(wordsOf('delay', waits, late), [
    /^Events that end it for somebody/,
    'Conditions: add one: without a condition nothing is asked.',
  ])
  t.match(wordsOf('delay', waits, { sendWindow: { from: '09:00', to: '09:00' } }), [
    /choose two different times/,
  ])
  t.match(wordsOf('delay', waits, { goal: { eventName: 'x', to: 'gone' } }), [
    'Where the goal leads: this step is gone; choose another.',
  ])
  const asked = { field: 'email.later.opened', operator: 'eq', value: true }
  t.match(wordsOf('condition', { all: [asked] }), [/^It asks about a mail that is gone/])
  const { faults } = validate({ steps: [trigger], connections: [] })
  t.same(
    faults.map((one) => faultWords(one, called)),
    ['Nothing follows yet: add a step.'],
  )
})

t.test('an answer of the API has no code and no place', async (t) => {
  const given = { steps: [trigger], connections: [] }
  const error = { key: 'start', error: 'The trigger is not connected to any step' }
  t.same(toldFaults(validate(given).faults), [error])
  try {
    definitionIn(given)
    t.fail('it is refused')
  } catch (thrown) {
    if (!(thrown instanceof InvalidAutomation)) throw thrown
    t.same(thrown.fields, { errors: [error] })
    t.equal(thrown.faults[0]?.is?.code, 'nothingFollows')
  }
})
