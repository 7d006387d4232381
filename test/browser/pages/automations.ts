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
  },
  pages: ({ full, empty, ids }) => [
    { path: `${full}/automations`, as: 'owner', name: 'automations' },
    { path: `${empty}/automations`, as: 'empty', name: 'automations-empty' },
    { path: `${full}/automations/${ids.automation}`, as: 'owner', name: 'automations-one' },
    { path: `${full}/automations/new`, as: 'owner', name: 'automations-new' },
    { path: `${empty}/automations/new`, as: 'empty', name: 'automations-new-empty' },
    { path: `${full}/automations/${ids.automation}/edit`, as: 'owner', name: 'automations-edit' },
  ],
}
