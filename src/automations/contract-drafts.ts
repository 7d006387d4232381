import { accountRefusals, answer, operation, refusal, shape } from '../contract/index.js'
import { flag, maybe, schemasOf, table, text, words } from '../fields/index.js'
import {
  automation,
  automationName,
  byStep,
  exampleId,
  graphChanges,
  invalidDefinition,
  stateFields,
} from './contract-parts.js'

const revision = 'Good for one change: what somebody else changes meanwhile has another one'
const fields = {
  revision: text(revision),
  isDraft: flag('False: there is no draft, and this is the version as it is').schema,
  name: text('The name, which need not be a good one yet'),
  ...schemasOf(graphChanges),
  errors: byStep('What keeps it from being put in force', 'What is wrong there'),
}
const steps = [
  { key: 'start', type: 'trigger', config: { eventName: 'user.signup' } },
  {
    key: 'welcome',
    type: 'send_email',
    config: { template: '', from: 'Posthorn <hello@example.com>' },
  },
]
const example = {
  revision: '1.1795000000000.2',
  isDraft: true,
  name: 'Welcome',
  steps,
  connections: [{ from: 'start', to: 'welcome', type: 'default' }],
  settings: {},
  errors: [{ key: 'welcome', error: 'template: Expected the slug of a template' }],
}
const draft = (when: string) => answer(when, 'AutomationDraft', fields, example)
const archived = () => refusal('conflict', 'It is archived', 'The automation is archived')
const changed = () =>
  refusal(
    'conflict',
    'Somebody else has changed it since `revision`',
    'The automation was changed since this revision: read the draft anew, and make your change to that',
  )

const noDraft = () =>
  refusal(
    'not_found',
    'There is no draft',
    'Nothing is written that is not in the version: there is no draft',
  )

export const getDraft = operation('GET /v1/automations/:id/draft', {
  id: 'getDraft',
  may: 'read',
  of: automation,
  says: () => ({
    summary: 'An automation as it is being written',
    answers: [draft('The draft, or the version where there is none')],
  }),
})

export const updateDraft = operation('PATCH /v1/automations/:id/draft', {
  id: 'updateDraft',
  may: 'full',
  audit: 'automation.draft',
  of: automation,
  body: shape(
    'NewAutomationDraft',
    table(
      {
        revision: maybe(words(`${revision}; without it the draft is written over`)),
        name: maybe(automationName),
        ...graphChanges,
      },
      {
        about:
          'Fields that are not given stay as they are; steps and connections are replaced as a whole.',
      },
    ),
  ),
  says: () => ({
    summary: 'Write the draft of an automation',
    description:
      'It is kept whatever it lacks, and the version goes on as it is. What is wrong with it is in `errors`.',
    examples: { 'A step without its template yet': { steps, connections: example.connections } },
    answers: [draft('The draft as it is kept')],
    refusals: [
      archived(),
      changed(),
      invalidDefinition('A step or connection is none, whatever is in it'),
      ...accountRefusals,
    ],
  }),
})

export const enableDraft = operation('POST /v1/automations/:id/draft/enable', {
  id: 'enableDraft',
  may: 'full',
  audit: 'automation.enable',
  of: automation,
  body: shape(
    'DraftEnabling',
    table({
      revision: maybe(
        words('That of the draft which is meant; without it the one that is there now'),
      ),
    }),
  ),
  says: () => ({
    summary: 'Put a draft in force',
    description:
      'It is the version from then on, enabled; runs go on in the version in which they began. A version is enabled by `enable`.',
    examples: { 'The one that was looked at': { revision: example.revision } },
    answers: [
      answer('It is in force', 'DraftEnabled', stateFields('The status after the request'), {
        id: exampleId,
        status: 'enabled',
        message: 'Automation enabled: its event starts it from now on',
      }),
    ],
    refusals: [
      archived(),
      noDraft(),
      changed(),
      invalidDefinition('The draft is not valid, or a step names what is not there'),
      ...accountRefusals,
    ],
  }),
})

export const discardDraft = operation('DELETE /v1/automations/:id/draft', {
  id: 'discardDraft',
  may: 'full',
  audit: 'automation.discard-draft',
  of: automation,
  says: () => ({
    summary: 'Throw the draft of an automation away',
    description: 'The version stays as it is.',
    answers: [draft('What is left: the version')],
    refusals: [noDraft()],
  }),
})
