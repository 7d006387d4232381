import type { PlacePages } from '../every-page.js'

/** Automations in each state, with the longest names that they may have. */
export const place: PlacePages = {
  async fill({ call, ids }) {
    const steps = [
      { key: 'start', type: 'trigger', config: { eventName: 'order.paid' } },
      { key: 'wait', type: 'delay', config: { duration: 'P3D' } },
    ]
    const connections = [{ from: 'start', to: 'wait', type: 'default' }]
    const body = { name: 'wolfeschlegelsteinhausenbergerdorff '.repeat(4), steps, connections }
    const made = await call('POST', '/v1/automations', { body })
    if (made.status !== 201) throw new Error(made.text)
    ids.automation = made.json.id
    const enabled = await call('POST', `/v1/automations/${ids.automation}/enable`, {})
    if (enabled.status !== 200) throw new Error(enabled.text)
    const sent = { event: 'order.paid', email: `${'wolfeschlegel'.repeat(4)}@example.org` }
    const { json } = await call('POST', '/v1/events/send', { body: sent })
    ids.automationRun = json.automations[0].runId
    const branched = {
      name: 'Greeting',
      steps: [
        { key: 'start', type: 'trigger', config: { eventName: 'signup' } },
        { key: 'paid', type: 'wait_for_event', config: { eventName: 'paid', timeout: 'P2D' } },
        {
          key: 'known',
          type: 'condition',
          config: { field: 'contact.firstName', operator: 'exists' },
        },
        { key: 'later', type: 'delay', config: { until: { time: '09:00', days: [1, 4] } } },
        {
          key: 'parts',
          type: 'split',
          config: {
            branches: [
              { key: 'a', percent: 50 },
              { key: 'b', percent: 50 },
            ],
          },
        },
        { key: 'gone', type: 'exit', config: {} },
      ],
      connections: [
        { from: 'start', to: 'paid', type: 'default' },
        { from: 'paid', to: 'known', type: 'event_received' },
        { from: 'paid', to: 'parts', type: 'timeout' },
        { from: 'parts', to: 'known', type: 'branch', branch: 'a' },
        { from: 'parts', to: 'gone', type: 'branch', branch: 'b' },
        { from: 'known', to: 'later', type: 'condition_met' },
        { from: 'later', to: 'paid', type: 'default' },
      ],
    }
    const other = await call('POST', '/v1/automations', { body: branched })
    if (other.status !== 201) throw new Error(other.text)
    ids.branchedAutomation = other.json.id
    await call('POST', `/v1/automations/${ids.branchedAutomation}/pause`, {})
    const dated = {
      name: 'Birthday',
      steps: [
        {
          key: 'start',
          type: 'trigger',
          config: { eventName: '$contact.date', date: { field: 'birthday', days: -3 } },
        },
        { key: 'wait', type: 'delay', config: { duration: 'P3D' } },
      ],
      connections,
    }
    const birthday = await call('POST', '/v1/automations', { body: dated })
    if (birthday.status !== 201) throw new Error(birthday.text)
    ids.datedAutomation = birthday.json.id
    const hello = { slug: 'of-a-step', subject: 'Hello', html: '<p>Hello</p>' }
    const template = await call('POST', '/v1/templates', { body: hello })
    if (template.status >= 300) throw new Error(template.text)
    const mailing = {
      name: 'Mailing',
      steps: [
        { key: 'start', type: 'trigger', config: { eventName: 'signup' } },
        {
          key: 'mail',
          type: 'send_email',
          config: { template: 'of-a-step', from: 'a@sender.test' },
        },
      ],
      connections: [{ from: 'start', to: 'mail', type: 'default' }],
    }
    const mails = await call('POST', '/v1/automations', { body: mailing })
    if (mails.status !== 201) throw new Error(mails.text)
    ids.mailingAutomation = mails.json.id
    const taken = await call('POST', `/v1/automations/${ids.branchedAutomation}/cancel`, {
      body: { everybody: true },
    })
    if (taken.status !== 202) throw new Error(taken.text)
    ids.takeOut = taken.json.id
  },
  pages: ({ full, empty, ids }) => [
    { path: `${full}/automations`, as: 'owner', name: 'automations' },
    { path: `${empty}/automations`, as: 'empty', name: 'automations-empty' },
    { path: `${full}/automations/${ids.automation}`, as: 'owner', name: 'automations-one' },
    {
      path: `${full}/automations/${ids.automation}?period=7`,
      as: 'owner',
      name: 'automations-one-period',
    },
    { path: `${full}/automations/${ids.datedAutomation}`, as: 'owner', name: 'automations-dated' },
    {
      path: `${full}/automations/${ids.datedAutomation}/simulate`,
      as: 'owner',
      name: 'automations-dated-simulate',
    },
    { path: `${full}/tasks/${ids.takeOut}`, as: 'owner', name: 'automations-take-out' },
    { path: `${full}/automations/new`, as: 'owner', name: 'automations-new' },
    { path: `${empty}/automations/new`, as: 'empty', name: 'automations-new-empty' },
    { path: `${full}/automations/${ids.automation}/edit`, as: 'owner', name: 'automations-edit' },
    {
      path: `${full}/automations/${ids.mailingAutomation}/edit?open=0.1`,
      as: 'owner',
      name: 'automations-edit-mail',
    },
    {
      path: `${full}/automations/${ids.automation}/enable`,
      as: 'owner',
      name: 'automations-enable',
    },
    {
      path: `${full}/automations/${ids.automation}/simulate`,
      as: 'owner',
      name: 'automations-simulate',
    },
    { path: `${full}/automations/${ids.automation}`, as: 'viewer', name: 'automations-one-viewer' },
    {
      path: `${full}/automations/${ids.branchedAutomation}`,
      as: 'owner',
      name: 'automations-branched',
    },
    { path: `${full}/events`, as: 'owner', name: 'automations-events' },
    { path: `${empty}/events`, as: 'empty', name: 'automations-events-empty' },
    { path: `${full}/automations/${ids.automation}/runs`, as: 'owner', name: 'automations-runs' },
    {
      path: `${full}/automations/${ids.branchedAutomation}/runs`,
      as: 'viewer',
      name: 'automations-runs-none',
    },
    { path: `${full}/automations/runs/${ids.automationRun}`, as: 'owner', name: 'automations-run' },
    {
      path: `${full}/automations/${ids.automation}/report`,
      as: 'owner',
      name: 'automations-report',
    },
    { path: `${full}/automations/${ids.automation}/move`, as: 'owner', name: 'automations-move' },
    { path: `${full}/automations/${ids.automation}/start`, as: 'owner', name: 'automations-start' },
    {
      path: `${full}/automations/${ids.branchedAutomation}/resume`,
      as: 'owner',
      name: 'automations-resume',
    },
  ],
}
