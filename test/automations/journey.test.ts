// Issue 'Automations and events': each type of step, over HTTP, to the mail in the sandbox.
import t from 'tap'
import { openAutomations } from '../support/automation-appliance.js'

t.test('an event starts a run, its mail comes merged, and the run is completed', async (t) => {
  const rig = await openAutomations(t)
  await rig.template('welcome', {
    subject: 'Hello {{ contact.firstName | default: "you" }}',
    html: '<p>Plan {{ event.plan }}, {{ greeting }} &amp; {{ trigger.plan }}</p>',
  })
  const id = await rig.enabled('Welcome', [
    { key: 'start', type: 'trigger', config: { eventName: 'user.signup' } },
    {
      key: 'welcome',
      type: 'send_email',
      config: {
        template: 'welcome',
        from: 'Us <us@sender.test>',
        type: 'transactional',
        variables: { greeting: 'hi' },
      },
    },
  ])
  const sent = await rig.event({
    event: 'user.signup',
    email: 'ann@example.com',
    payload: { plan: 'p<o' },
  })
  t.match(sent, { event: 'user.signup', contactCreated: true, started: 1, resumed: 0 })
  const [{ runId }] = sent.automations
  t.same(sent.automations, [{ automationId: id, name: 'Welcome', started: true, runId }])
  const run = await rig.ended(runId)
  t.match(run, { status: 'completed', reason: null, email: 'ann@example.com', waitingFor: null })
  t.match(run.why, /^completed at `welcome` on /)
  t.same(
    run.history.map(({ step, result }: { step: string; result: string }) => [step, result]),
    [
      ['start', 'started'],
      ['welcome', 'sent'],
    ],
  )
  const mail = await rig.mail(run.history[1].emailId)
  t.equal(mail.subject, 'Hello you')
  t.match(mail.html, /Plan p&lt;o, hi &amp; p&lt;o/)
  t.match((await rig.posthorn.call('GET', `/v1/automations/${id}`)).json, {
    runs: { running: 0, waiting: 0, completed: 1 },
    enrolledContacts: 1,
  })
})
