import { compile } from '../../src/automations/definition/compile.js'
import type { AutomationDefinition } from '../../src/automations/definition/definition.js'
import { startName } from './automations.js'

/** When its event comes in the tests. */
export const start = Date.parse('2026-11-30T09:00:00Z')
/** A mail, two days, then up to thirty for an order to be paid. */
const definition: AutomationDefinition = {
  steps: [
    { key: 'start', type: 'trigger', config: { eventName: startName } },
    {
      key: 'hello',
      type: 'send_email',
      config: {
        template: 'hello',
        from: 'a@sender.example',
        variables: { n: { var: 'trigger.n' } },
      },
    },
    { key: 'pause', type: 'delay', config: { duration: 'P2D' } },
    { key: 'paid', type: 'wait_for_event', config: { eventName: 'order.paid', timeout: 'P30D' } },
    {
      key: 'large',
      type: 'condition',
      config: { field: 'waits.paid.total', operator: 'gt', value: 100 },
    },
    { key: 'lost', type: 'exit', config: {} },
    { key: 'gone', type: 'exit', config: { reason: 'deleted' } },
  ],
  connections: [
    { from: 'start', to: 'hello', type: 'default' },
    { from: 'hello', to: 'pause', type: 'default' },
    { from: 'pause', to: 'paid', type: 'default' },
    { from: 'paid', to: 'large', type: 'event_received' },
    { from: 'paid', to: 'lost', type: 'timeout' },
  ],
}
export const version = compile(definition, { seed: 'a1' })
