import t from 'tap'
import { compile } from '../../src/automations/compile.js'
import type { AutomationDefinition } from '../../src/automations/definition.js'
import { explainRun } from '../../src/automations/explain.js'
import { startRun } from '../../src/automations/run.js'
import { day, hour, startName } from '../support/automations.js'

const start = Date.parse('2026-11-30T09:00:00Z')
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
  ],
  connections: [
    { from: 'start', to: 'hello', type: 'default' },
    { from: 'hello', to: 'pause', type: 'default' },
    { from: 'pause', to: 'paid', type: 'default' },
    { from: 'paid', to: 'large', type: 'event_received' },
    { from: 'paid', to: 'lost', type: 'timeout' },
  ],
}
const version = compile(definition, { seed: 'a1' })
t.test('a sentence says why a run is where it is, and until when', async (t) => {
  const run = startRun('c1', version.trigger.id, start)
  const at = (stepId: number, dueAt: number, enteredAt: number | null = start) => ({
    state: { ...run, stepId, dueAt, enteredAt },
    blocked: null,
    held: null,
  })
  const sends = at(2, start + 15 * hour, null)
  const rows: [Parameters<typeof explainRun>[1], string][] = [
    [at(3, start + 2 * day), 'waits until 2 Dec 09:00 UTC, then goes on at `paid`'],
    [
      at(4, start + 32 * day),
      'waits for `order.paid` until 1 Jan 2027 09:00 UTC, then branch timeout, to `lost`',
    ],
    [at(4, start), 'is about to go on at `paid`'],
    [at(2, start, null), 'is about to go on at `hello`'],
    [
      { ...sends, blocked: 'quota' },
      "waits at `hello`: the plan's quota of mails is used up; it is looked at again 1 Dec 00:00 UTC",
    ],
    [{ ...sends, blocked: 'window' }, 'waits at `hello`: the send window opens 1 Dec 00:00 UTC'],
    [{ ...sends, held: 'restored' }, 'is held at `hello` (restored) until an operator releases it'],
    [
      { stepId: 6, ended: { at: start, status: 'exited', reason: 'exit_step' } },
      'exited at `lost` on 30 Nov 09:00 UTC: it came to an exit',
    ],
    [
      { stepId: 5, ended: { at: start, status: 'completed', reason: null } },
      'completed at `large` on 30 Nov 09:00 UTC',
    ],
    [
      { stepId: 2, ended: { at: start, status: 'failed', reason: 'render: n is missing' } },
      'failed at `hello` on 30 Nov 09:00 UTC: render: n is missing',
    ],
  ]
  for (const [run, expected] of rows) t.equal(explainRun(version, run, start), expected)
})
