import t from 'tap'
import { type ExplainedRun, explainRun } from '../../src/automations/runs/explain.js'
import type { RunWait } from '../../src/automations/runs/runs.js'
import type { RunStatus } from '../../src/automations/runs/status.js'
import { day, hour } from '../support/automations.js'
import { start, version } from '../support/paid-order.js'

t.test('a sentence says why a run is where it is, and until when', async (t) => {
  const waits = (currentStep: string, waitingFor: RunWait | null): ExplainedRun => ({
    status: 'waiting',
    reason: null,
    currentStep,
    updatedAt: start,
    waitingFor,
  })
  const ended = (status: RunStatus, currentStep: string, reason: string | null): ExplainedRun => ({
    status,
    reason,
    currentStep,
    updatedAt: start,
    waitingFor: null,
  })
  const midnight = start + 15 * hour
  const rows: [ExplainedRun, string][] = [
    [
      waits('pause', { kind: 'delay', until: start + 2 * day }),
      'waits until 2 Dec 09:00 UTC, then goes on at `paid`',
    ],
    [
      waits('paid', { kind: 'event', event: 'order.paid', until: start + 32 * day }),
      'waits for `order.paid` until 1 Jan 2027 09:00 UTC, then branch timeout, to `lost`',
    ],
    [
      waits('paid', { kind: 'event', event: 'order.paid', until: start }),
      'is about to go on at `paid`',
    ],
    [waits('hello', null), 'is about to go on at `hello`'],
    [
      waits('hello', { kind: 'quota', until: midnight }),
      "waits at `hello`: the plan's quota of mails is used up; it is looked at again 1 Dec 00:00 UTC",
    ],
    [
      waits('hello', { kind: 'plan', until: midnight }),
      'waits at `hello`: the subscription has expired, or the account has no marketing plan; it is looked at again 1 Dec 00:00 UTC',
    ],
    [
      waits('hello', { kind: 'window', until: midnight }),
      'waits at `hello`: the send window opens 1 Dec 00:00 UTC',
    ],
    [
      waits('hello', { kind: 'retry', until: midnight }),
      'waits at `hello`: its last attempt broke; it is tried again 1 Dec 00:00 UTC',
    ],
    [
      waits('hello', { kind: 'held', reason: 'restored', until: null }),
      'is held at `hello` (restored) until an operator releases it',
    ],
    [
      ended('exited', 'lost', 'exit_step'),
      'exited at `lost` on 30 Nov 09:00 UTC: it came to an exit',
    ],
    [ended('exited', 'gone', 'deleted'), 'exited at `gone` on 30 Nov 09:00 UTC: deleted'],
    [
      ended('exited', 'lost', 'deleted'),
      'exited at `lost` on 30 Nov 09:00 UTC: the contact was deleted',
    ],
    [ended('completed', 'large', null), 'completed at `large` on 30 Nov 09:00 UTC'],
    [
      ended('failed', 'hello', 'topic_archived'),
      'failed at `hello` on 30 Nov 09:00 UTC: its topic is archived or does not exist',
    ],
    [
      ended('failed', 'hello', 'render: n is missing'),
      'failed at `hello` on 30 Nov 09:00 UTC: render: n is missing',
    ],
  ]
  for (const [run, expected] of rows) t.equal(explainRun(version, run, start), expected)
  const paused = (run: ExplainedRun) => explainRun(version, run, start + hour, start)
  t.equal(
    paused(waits('pause', { kind: 'delay', until: start + 2 * day })),
    'waits until 2 Dec 09:00 UTC, then goes on at `paid`; but the automation is paused since 30 Nov 09:00 UTC: no step is taken until an operator resumes it',
  )
  t.notMatch(paused(ended('completed', 'large', null)), /paused/)
})
